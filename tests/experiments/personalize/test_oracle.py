"""The oracle experiment: what it plays, what it says was left, and its figures from a real run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from housewise.core.record import Header, Record, Result
from housewise.experiments.personalize.oracle import GENERATED, SCENES, Played, episodes, figures, left_over
from housewise.systems.personalize.record import ActionEvent, HouseRecord, InitialState, PlanEvent
from housewise.systems.personalize.tasks import list_tasks
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData


def record(placements: dict[str, str], actions: list[ActionEvent], ended: str = "complete") -> HouseRecord:
    """A record of things that all belong in the cupboard and of which the mug is known from the start."""
    setting = InitialState(
        scene="s",
        episode=1,
        simulator="raycast",
        rooms=[],
        placements={},
        correct={name: ["cupboard"] for name in placements},
    )
    header = Header(system="personalize", task="s-0001", agent="scripted", initial_state=setting.model_dump())
    plan = PlanEvent(plan=0, step=0, reply="", scene_graph={"kitchen 0": {"table": ["mug"]}})
    return HouseRecord.from_record(Record(header, (plan, *actions), ended_as(placements, ended)), Path("by hand"))


def ended_as(placements: dict[str, str], ended: str = "complete", success: float = 0.5) -> Result:
    """A last line."""
    scores = {"success_rate": success, "steps": 7, "actions": 0, "objects": len(placements)}
    return Result(end_reason=ended, scores=scores, final={"placements": placements})


def action(target: str, status: str, reason: str = "", discovered: tuple[str, ...] = ()) -> ActionEvent:
    return ActionEvent(
        plan=0, raw="", target=target, status=status, reason=reason, start=0, end=1, discovered=list(discovered)
    )


def test_what_is_where_it_belongs_is_not_left_over() -> None:
    assert left_over(record({"mug": "cupboard"}, [])) == {}


def test_an_object_that_was_never_seen_is_undiscovered() -> None:
    assert left_over(record({"pen": "table"}, [], "out of steps")) == {"pen": "undiscovered"}


@pytest.mark.parametrize(
    ("reason", "ended", "why"),
    [
        ("no free space", "out of steps", "no space"),
        ("out of sight", "out of steps", "no steps left"),
        ("out of sight", "complete", "out of sight"),
    ],
)
def test_an_object_that_was_tried_is_left_for_the_reason_it_failed(reason: str, ended: str, why: str) -> None:
    tried = [action("pen", "failed", "too far away", ("pen",)), action("pen", "failed", reason)]
    assert left_over(record({"pen": "table"}, tried, ended)) == {"pen": why}


def test_an_object_that_was_known_and_never_tried_was_left() -> None:
    assert left_over(record({"mug": "table"}, [])) == {"mug": "left where it was"}


def test_figures_are_means_by_group() -> None:
    played = [
        Played("a", "a-1", ended_as({"mug": "cupboard"}, success=1.0), {}),
        Played("a", "a-2", ended_as({"mug": "table"}, success=0.5), {"mug": "undiscovered"}),
        Played("b", "b-1", ended_as({"mug": "cupboard"}, success=1.0), {}),
    ]
    found = figures(played)
    assert found["success_rate"] == {"a": 75.0, "b": 100.0}
    assert found["success_rate_stderr"] == pytest.approx({"a": 25.0, "b": 0.0})
    assert [one["episode"] for one in found["imperfect"]] == ["a-2"]
    assert found["left"] == {"a": {"undiscovered": 1}, "b": {}}


def test_without_data_generated_houses_are_played() -> None:
    planned = list(episodes(None, 3, quick=False))
    assert [group for group, _ in planned] == [GENERATED] * 3
    names = [list_tasks(config.tasks)[0].scene for _, config in planned]
    assert names == ["generated-0", "generated-1", "generated-2"]


@pytest.mark.housekeep
def test_with_data_the_tasks_of_the_tables_are_played(housekeep: HousekeepData) -> None:
    for quick, count in ((False, 25), (True, 5)):
        planned = list(episodes(housekeep.root, 0, quick))
        assert [group for group, _ in planned] == [scene for scene in SCENES for _ in range(count)]
        assert all(len(list_tasks(config.tasks)) == 1 for _, config in planned)


@pytest.mark.housekeep
def test_of_any_scene_a_sample_is_played_that_spreads_over_its_episodes(housekeep: HousekeepData) -> None:
    planned = list(episodes(housekeep.root, 0, False, scenes=["Pomaria_0_int", "Ihlen_1_int"], sample=4))
    assert [group for group, _ in planned] == ["Pomaria_0_int"] * 4 + ["Ihlen_1_int"] * 4
    assert [list_tasks(config.tasks)[0].episode for _, config in planned[:4]] == [0, 250, 500, 750]
    every = list(episodes(housekeep.root, 0, False, scenes=["Ihlen_1_int"], sample=10_000))
    assert len({list_tasks(config.tasks)[0].episode for _, config in every}) == len(every) == 200


def oracle(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the module in a Python of its own, since it sends a class of its main module to other processes."""
    command = [sys.executable, "-m", "housewise.experiments.personalize.oracle", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_a_real_run_writes_its_figures(tmp_path: Path) -> None:
    path = tmp_path / "oracle.json"
    result = oracle("--houses", "2", "--workers", "2", "--json", path)
    assert result.returncode == 0, result.stderr
    content = json.loads(path.read_text())
    assert content["success_rate"][GENERATED] > 50
    assert content["by_group"][GENERATED]["episodes"] == content["houses"] == 2
    assert content["config"]["agent"]["planner"] == "scripted" and content["machine"]["cores"] >= 1
    assert f"success_rate {GENERATED} {content['success_rate'][GENERATED]:.2f}" in result.stdout


def test_a_wrong_folder_is_named_in_one_line(tmp_path: Path) -> None:
    result = oracle("--data", tmp_path / "nowhere")
    assert result.returncode == 2
    assert len(result.stderr.strip().splitlines()) == 1 and "nowhere" in result.stderr


def test_nothing_to_play_is_said_in_one_line() -> None:
    result = oracle("--houses", "0")
    assert result.returncode == 2
    assert len(result.stderr.strip().splitlines()) == 1 and "--houses" in result.stderr
