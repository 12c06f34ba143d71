"""The fidelity experiment against recordings that our own robot made, and that were altered."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from housewise.agent.personalize.plan_normalizer import parse_any_step
from housewise.core.errors import UserError
from housewise.experiments.bench.fidelity import compare_recording, play_recordings
from housewise.experiments.bench.recorded_player import Player
from housewise.experiments.bench.recordings import Recording
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from tests.worlds.house.housekeep_folder import BED, COUNTER, SCENE, make_folder

STEPS: list[tuple[str, dict[str, str | None]]] = [
    ("go to kitchen 0", {"action": "navigating", "target_receptacle": COUNTER, "target_type": "receptacle"}),
    ("go to bedroom 0", {"action": "navigating", "target_receptacle": BED, "target_type": "receptacle"}),
    ("look at mug 1", {"action": "look-at", "target_object": "mug_1", "target_type": "object"}),
    ("pick up mug 1", {"action": "pick-place", "target_object": "mug_1", "target_type": "object"}),
    ("sing a song", {}),
    ("go to kitchen 0 counter 1", {"action": "navigating", "target_receptacle": COUNTER, "target_type": "receptacle"}),
    ("look at kitchen 0 counter 1", {"action": "look-at", "target_receptacle": COUNTER, "target_type": "receptacle"}),
    (
        "place mug 1 on kitchen 0 counter 1",
        {
            "action": "pick-place",
            "target_object": "mug_1",
            "target_receptacle": COUNTER,
            "target_type": "receptacle",
        },
    ),
]


RECORDED = Path("recordings", SCENE, "IL", "0003.json")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, and with what the record would say if the recorded robot had been ours."""
    folder = tmp_path_factory.mktemp("fidelity")
    path = folder / RECORDED
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([{"logs": []}]), encoding="utf-8")
    recording = Recording(path, HousekeepData(make_folder(folder / "data")))
    player = Player(recording, RaycastSimulator(sensors=("instance",)), max_steps=1000)
    names = {key: name for name, key in recording.keys.items()}
    logs = [_log(player, recording, names, *step) for step in STEPS]
    path.write_text(json.dumps([{"logs": logs}]), encoding="utf-8")
    return folder


@pytest.fixture
def recorded(original: Path, tmp_path: Path) -> Path:
    """A copy of the record, beside a copy of the data."""
    shutil.copytree(original, tmp_path, dirs_exist_ok=True)
    return tmp_path / RECORDED


def _log(
    player: Player, recording: Recording, names: dict[str, str], raw: str, parsed: dict[str, str | None]
) -> dict[str, Any]:
    def places() -> dict[str, str]:
        return {names[key]: names[place] if place else "agent" for key, place in player.world.placements.items()}

    start, seen, before = player.env.steps, set(player.seen), places()
    action = parse_any_step(raw, recording.vocabulary).action
    if action is not None:
        player.play(action)
    found = sorted(names[key] for key in player.seen - seen)
    return {
        "step_raw": raw,
        "step_parsed": parsed,
        "flag": "succeeded" if parsed else "skipped",
        "start": start,
        "end": player.env.steps,
        "current_mapping": {"start": before, "end": places()},
        "outcome": {"objects_discovered": [], "recs_discovered": found},
    }


def altered(path: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    plans = json.loads(path.read_text(encoding="utf-8"))
    change(plans[0]["logs"])
    path.write_text(json.dumps(plans), encoding="utf-8")


def compared(path: Path) -> dict[str, tuple[float, float]]:
    """Mean and weight of each measure of a recording."""
    found = compare_recording(path, str(path.parents[3] / "data"))
    assert found is not None and found[0] == f"{SCENE}-0003"
    return {measure: (mean, weight) for measure, mean, weight in found[1]}


def test_a_recording_of_our_own_robot_is_matched(recorded: Path) -> None:
    logs = json.loads(recorded.read_text(encoding="utf-8"))[0]["logs"]
    assert logs[-1]["current_mapping"]["end"]["mug 1"] == "kitchen 0 counter 1"
    found = compared(recorded)
    assert found["steps_parsed_as_recorded"] == (1.0, len(STEPS) - 1)
    assert found["skipped_steps_left_open"] == (1.0, 1)
    assert found["effects_as_recorded"] == (1.0, 2) and found["final_places_as_recorded"][0] == 1.0
    assert found["steps_per_action"] == found["recorded_steps_per_action"] and found["steps_per_action"][0] > 1
    assert found["success_rate"] == found["recorded_success_rate"] == (1.0, 1)
    assert found["discovery_f1"][0] == found["discovery_recall"][0] == 1.0
    assert found["discovery_f1"][1] == found["discovery_precision"][1] + found["discovery_recall"][1]


def test_another_effect_is_told(recorded: Path) -> None:
    def stays(logs: list[dict[str, Any]]) -> None:
        logs[-1]["current_mapping"]["end"] = logs[-1]["current_mapping"]["start"]

    altered(recorded, stays)
    found = compared(recorded)
    assert found["effects_as_recorded"] == (0.5, 2)
    assert (found["success_rate"][0], found["recorded_success_rate"][0]) == (1.0, 0.0)


def test_another_target_is_told(recorded: Path) -> None:
    altered(recorded, lambda logs: logs[1]["step_parsed"].update(target_receptacle=COUNTER))
    assert compared(recorded)["steps_parsed_as_recorded"] == (pytest.approx(6 / 7), 7)


def test_discoveries_are_in_step_until_a_walk_differs(recorded: Path) -> None:
    def longer(logs: list[dict[str, Any]]) -> None:
        logs[5]["end"] += 3
        logs[5]["outcome"]["recs_discovered"].append("kitchen 0 stove 2")

    same = compared(recorded)
    altered(recorded, longer)
    found = compared(recorded)
    assert found["discovery_f1_in_step"][0] == pytest.approx(same["discovery_f1_in_step"][0])
    assert found["recorded_steps_per_action"][0] > found["steps_per_action"][0]
    assert found["actions_of_recorded_length"] == (pytest.approx(6 / 7), 7)


def test_what_is_known_is_brought_up_to_date_with_the_record(recorded: Path) -> None:
    """Something that the record saw first is not a false find later."""
    logs = json.loads(recorded.read_text(encoding="utf-8"))[0]["logs"]
    late = [(number, name) for number, log in enumerate(logs) for name in log["outcome"]["recs_discovered"] if number]
    assert late, "a later action has to discover something"
    number, name = late[0]
    altered(recorded, lambda logs: logs[0]["outcome"]["recs_discovered"].append(name))
    altered(recorded, lambda logs: logs[number]["outcome"]["recs_discovered"].remove(name))
    assert compared(recorded)["discovery_precision"][0] == 1.0


def test_where_discoveries_differ_is_told(recorded: Path) -> None:
    def counts() -> dict[str, float]:
        hows = ("missed", "early", "only")
        return {measure: mean for measure, (mean, _) in compared(recorded).items() if measure.startswith(hows) and mean}

    logs = json.loads(recorded.read_text(encoding="utf-8"))[0]["logs"]
    number, name = next((number, name) for number, log in enumerate(logs) for name in log["outcome"]["recs_discovered"])
    assert counts() == {}
    altered(recorded, lambda logs: logs[number]["outcome"]["recs_discovered"].remove(name))
    assert counts() == {"only_in_step": 1}
    altered(recorded, lambda logs: logs[-1]["outcome"]["recs_discovered"].append(name))
    assert counts() == {"early_in_step": 1}


def test_published_logs_are_matched_to_their_episode_by_how_they_begin(recorded: Path, tmp_path: Path) -> None:
    data = HousekeepData(tmp_path / "data")
    plans = json.loads(recorded.read_text(encoding="utf-8"))
    [start] = (dict(each) for each, number in data.episodes_by_start(SCENE).items() if number == 3)
    logs = tmp_path / "logs" / "first_run" / "demo" / SCENE.lower()
    logs.mkdir(parents=True)
    for name, begins in (("data_2024-01-01.json", start), ("data_2024-01-02.json", {"anvil 1": "kitchen 0 counter 1"})):
        content = [{**plans[0], "current_mapping": {"start": begins}}]
        (logs / name).write_text(json.dumps(content), encoding="utf-8")
    (logs / "._data_2024-01-01.json").write_bytes(b"\x00\xff")

    def played(recordings: Path, *conditions: str) -> list[tuple[str, int, str, float, float]]:
        folders = {"data": str(tmp_path / "data"), "recordings": str(recordings)}
        return [tuple(value) for value in play_recordings(SCENE, conditions, workers=1, **folders)]

    assert played(tmp_path / "logs", "IL", "first_run") == played(tmp_path / "recordings", "IL")
    with pytest.raises(UserError, match=f"no recordings of {SCENE} \\(ST1\\) whose episodes the data has"):
        played(tmp_path / "logs", "ST1")
    (logs / "data_2024-01-02.json").write_text('[{"logs": 3}]')
    with pytest.raises(UserError, match="not a recording"):
        played(tmp_path / "logs", "first_run")
