"""What notes are worth: figures from records made by hand, and the whole way in a generated house."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from housewise.core.errors import UserError
from housewise.experiments.personalize.households import Household, Setup
from housewise.experiments.personalize.paper import carry_out
from housewise.experiments.personalize.remembering import Remembering
from housewise.experiments.personalize.robots import EMPTY, FULL, NOTHING, ROUNDS, SHOWN, StudyRobot
from housewise.people.memory import MemoryFolder
from housewise.systems.personalize.record import read_house_records
from tests.commands import run_module
from tests.experiments.records import SHELF, TABLE, make_record, save
from tests.language.tiny import save_tiny_model

MEROM = Household("Merom_1_int")
SEEDS = (1, 2)


def fill(out: Path, row: str, seed: int, stage: str, *ends: str) -> None:
    """Test episodes, each of a task of its own, that leave the mug somewhere."""
    for number, end in enumerate(ends):
        statuses = ("succeeded", "succeeded", "failed", "succeeded" if number else "skipped")
        record = make_record({"mug 1": end}, episode=number, statuses=statuses, unique_placements=2 - number)
        save(record, StudyRobot(row, MEROM, seed, out).tests(stage, "test").folder / "episodes")


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Two seeds of three rows."""
    out = tmp_path_factory.mktemp("remembering")
    for seed, ends in ((1, (SHELF, TABLE)), (2, (SHELF, SHELF))):
        fill(out, FULL, seed, SHOWN, *ends)
        fill(out, "store", seed, SHOWN, SHELF, TABLE)
        fill(out, EMPTY, seed, NOTHING, TABLE, TABLE)
    experiment = Remembering([MEROM], [EMPTY, "store", FULL], SEEDS, Setup(given={"adapter": "tidy"}), out)
    console = Console(record=True, width=200, file=io.StringIO())
    carry_out(experiment, out, True, console, {"quick": False}, json_file=out / "copy.json")
    found: dict[str, Any] = json.loads((out / "copy.json").read_text())
    assert found == json.loads((out / "remembering.json").read_text())
    return {**found, "shown": console.export_text()}


def test_figures_have_errors_over_tasks_and_over_seeds(content: dict[str, Any]) -> None:
    figure = content["figures"]["Merom_1_int"][FULL][SHOWN]["test"]
    assert (figure["mean"], figure["episodes"], figure["tasks"]) == (75.0, 4, 2)
    assert figure["by_seed"] == {"1": 50.0, "2": 100.0} and figure["error_over_seeds"] == pytest.approx(25.0)
    assert figure["error"] == pytest.approx(25.0)
    missing = content["figures"]["Merom_1_int"][FULL][ROUNDS[0]]["test"]
    assert missing["mean"] is None and missing["episodes"] == 0
    assert "75.0 ± 25.0" in content["shown"] and "n=4 of 10" in content["shown"]


def test_what_could_be_done_and_what_was_tried_stand_in_tables_of_their_own(content: dict[str, Any]) -> None:
    assert [table["title"] for table in content["tables"]][1:] == ["steps that could be done, %", "unique placements"]
    for measure, mean, error in (("executability", 62.5, 12.5), ("unique_placements", 1.5, 0.5)):
        figure = content["figure_6"][measure]["Merom_1_int"][FULL][SHOWN]["test"]
        assert (figure["mean"], figure["error"]) == (mean, pytest.approx(error))
        assert figure["by_seed"] == {"1": mean, "2": mean} and figure["error_over_seeds"] == 0.0
    assert "62.5 ± 12.5" in content["shown"]


def test_the_model_is_compared_with_its_halves_task_by_task(content: dict[str, Any]) -> None:
    gains = content["gains"]["Merom_1_int"][SHOWN]["test"]
    assert gains[f"{FULL} - store"]["mean"] == 25.0 and gains[f"{FULL} - {EMPTY}"]["mean"] == 75.0
    assert gains[f"{FULL} - store"]["error"] == pytest.approx(25.0)
    assert f"{FULL} - store: 25.0 ± 25.0 points" in content["shown"]
    assert content["gains"]["Merom_1_int"][ROUNDS[1]]["test"][f"{FULL} - store"] is None


def test_several_scenes_are_compared_together_as_well(tmp_path: Path) -> None:
    rs = Household("Rs_int")
    for household, ends in ((MEROM, (SHELF, SHELF)), (rs, (SHELF, TABLE))):
        for row, places in (("store", (TABLE, TABLE)), (FULL, ends)):
            for number, end in enumerate(places):
                record = make_record({"mug 1": end}, episode=number, scene=household.scene)
                save(record, StudyRobot(row, household, 1, tmp_path).tests(SHOWN, "test").folder / "episodes")
    experiment = Remembering([MEROM, rs], ["store", FULL], [1], Setup(), tmp_path)
    gains = experiment.extra_results()["gains"]
    means = {scene: gains[scene][SHOWN]["test"][f"{FULL} - store"]["mean"] for scene in gains}
    assert means == {"Merom_1_int": 100.0, "Rs_int": 50.0, "all scenes": 75.0}
    everywhere = gains["all scenes"][SHOWN]["test"][f"{FULL} - store"]
    assert everywhere["episodes"] == 4 and everywhere["error"] == pytest.approx(25.0), "over four tasks"


def test_it_says_what_each_row_was_given_and_what_became_of_every_thing(content: dict[str, Any]) -> None:
    assert content["told"]["store"] == [
        "demonstrations", "their verdicts on every seen thing", "rewards of single actions"
    ]  # fmt: skip
    assert content["told"][EMPTY] == ["generated houses (the adapter)"]
    episodes = content["by_episode"]["Merom_1_int"][FULL][SHOWN]["test"]
    assert episodes["Merom_1_int-0000"]["1"] == {"success": 100.0, "moved": {"mug 1": SHELF}}
    assert episodes["Merom_1_int-0001"]["1"] == {"success": 0.0, "moved": {}}
    assert content["starts"]["Merom_1_int"]["Merom_1_int-0001"] == {"mug 1": TABLE}
    assert content["adapter"]["name"] == "tidy" and len(content["adapter"]["adapter_model.safetensors"]) == 64
    assert "commit" in content and content["software"] and content["seeds"] == [1, 2]
    assert "data" not in json.dumps(content["settings"])


def test_the_whole_way_and_what_is_there_is_not_played_again(tmp_path: Path) -> None:
    model = save_tiny_model(tmp_path / "tiny")
    rows = [word for row in ("store", "store without verdicts", EMPTY, FULL) for word in ("--row", row)]
    words = ["--quick", *rows, "--model", f"local:{model}", "--out", tmp_path / "out"]
    few = ["max_plans=3", "sampling.max_tokens=8", "max_steps=60"]

    def command(*more: str) -> str:
        done = run_module("housewise.experiments.personalize.remembering", [*words, *few, *more], cwd=tmp_path, code=0)
        return done.stdout

    command()
    seed = tmp_path / "out" / "generated" / "seed-1"
    shown = MemoryFolder(seed / "demonstrations" / "memory").load("majority")
    for row in ("store", FULL):
        first = read_house_records(seed / row / "round 1" / "episodes")
        assert {record.header.memory for record in first} == {shown.digest}
        after = MemoryFolder(seed / row / "round 1" / "memory").load("majority")
        for stage, memory in ((SHOWN, shown), (ROUNDS[0], after)):
            tested = list(read_house_records(seed / row / stage / "test" / "episodes"))
            assert [record.header.memory for record in tested] == [memory.digest]
    explored, tested = (
        json.loads((seed / "store" / stage / "config.json").read_text())["agent"]["place_at_random"]
        for stage in ("round 1", f"{SHOWN}/test")
    )
    assert explored and not tested
    content = json.loads((tmp_path / "out" / "remembering.json").read_text())
    assert content["notes"]["generated"]["store"][SHOWN] == {"1": len(shown)} and len(shown) > 0
    less = content["notes"]["generated"]["store without verdicts"][SHOWN]["1"]
    assert less < len(shown) and content["notes"]["generated"][EMPTY][NOTHING] == {"1": 0}
    before = {path: path.stat().st_mtime_ns for path in seed.rglob("*.jsonl")}
    command()
    assert before == {path: path.stat().st_mtime_ns for path in seed.rglob("*.jsonl")}
    command("--show", "max_plans=9")
    settings = json.loads((tmp_path / "out" / "remembering.json").read_text())["settings"]
    assert {settings[row]["agent"]["max_plans"] for row in ("store", FULL)} == {3}, "as it was played"


def test_a_planner_of_its_own_and_data_that_are_missing_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="planner=saycan: each row has its own"):
        Setup(overrides=["planner=saycan"]).settings("store")
    with pytest.raises(UserError, match="Merom_1_int: name the Housekeep folder"):
        MEROM.tasks("test")
