from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from housewise.core.errors import UserError
from housewise.core.record import Header
from housewise.playback.floor_plan import draw_floor_plan
from housewise.playback.replay import Replay, find_task, replay_record, replay_settings, select_states
from housewise.playback.simulators import PlaybackSimulator
from housewise.systems.personalize.record import HouseRecord, read_house_records
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.simulator.base import Camera
from tests.experiments.records import with_changes
from tests.housewise.report.conftest import Edit, play

SMALL = Camera(64, 48)


def record_of(folder: Path) -> HouseRecord:
    return next(read_house_records(folder / "episodes"))


def again(record: HouseRecord, frames: int = 0) -> Replay:
    return replay_record(record, find_task(record), PlaybackSimulator(SMALL), frames)


def test_the_same_happens_again(run_folder: Path) -> None:
    record = record_of(run_folder)
    played = again(record, frames=12)
    assert played.differences == []
    assert played.states[-1].placements == record.final.placements
    assert len(played.states) == record.result.scores["steps"] + 1
    assert any(moment.is_grab for moment in played.states)
    assert list(played.plan_states.values()) == [plan.step for plan in record.plans]
    assert 5 <= len(played.frames) <= 16
    assert {0, record.result.scores["steps"]} <= set(played.frames)
    assert all(picture.shape == (48, 64, 3) and np.ptp(picture) for picture in played.plan_pictures.values())


def test_without_a_camera_the_record_is_followed_to_the_same_places(run_folder: Path) -> None:
    record = record_of(run_folder)
    seen, followed = again(record), replay_record(record, find_task(record), None, 12)
    assert (followed.plan_states, followed.differences) == (seen.plan_states, [])
    assert not followed.plan_pictures and not followed.frames
    for one, other in zip(followed.states, seen.states, strict=True):
        assert (one.placements, one.positions, one.holding, one.is_grab) == (
            other.placements,
            other.positions,
            other.holding,
            other.is_grab,
        )
        assert (one.body.x, one.body.z, np.cos(one.body.yaw - other.body.yaw)) == pytest.approx(
            (other.body.x, other.body.z, 1.0), abs=0.01
        )


def test_objects_are_found_in_the_pictures(run_folder: Path) -> None:
    record = record_of(run_folder)
    played = replay_record(record, find_task(record), PlaybackSimulator(Camera(256, 192)), 40)
    found = [(number, name, extent) for number, shot in played.frames.items() for name, extent in shot.objects.items()]
    assert found and {name for _, name, _ in found} <= set(record.initial_state.placements)
    for number, name, extent in found:
        assert 0 <= extent.left < extent.right < 256 and 0 <= extent.top < extent.bottom < 192
        # What is in the hand is not in the house.
        assert played.states[number].holding != name


def test_the_published_controllers_silent_nods_are_followed(tmp_path: Path) -> None:
    folder = play(tmp_path / "published", max_steps=160, controller={"kind": "published"})
    assert again(record_of(folder)).differences == []


def test_an_empty_variable_names_no_folder(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = record_of(run_folder).header.settings
    moved = {**settings, "tasks": {**settings["tasks"], "data": "/nowhere/housekeep"}}
    monkeypatch.setenv("HOUSEKEEP_DATA", "")
    with pytest.raises(UserError, match=r"/nowhere/housekeep: .* set HOUSEKEEP_DATA"):
        find_task(with_changes(record_of(run_folder), settings=moved))


@pytest.mark.housekeep
def test_a_housekeep_episode_whose_data_has_moved(
    housekeep: HousekeepData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = play(
        tmp_path / "merom",
        max_steps=160,
        person="majority",
        data=str(housekeep.root),
        scenes=["Merom_1_int"],
        episodes=[201],
    )
    record = record_of(folder)
    tasks = {**record.header.settings["tasks"], "data": str(tmp_path / "gone")}
    moved = {**record.header.settings, "tasks": tasks}
    monkeypatch.setenv("HOUSEKEEP_DATA", str(housekeep.root))
    played = again(with_changes(record, settings=moved), frames=4)
    assert played.differences == []
    plan = draw_floor_plan(played.task.scene, played.task.episode.receptacles, (300, 300))
    assert set(plan.rooms) == {room.name for room in played.task.scene.rooms}
    assert all(area.area > 0 for area in getattr(plan.walls, "geoms", [plan.walls]))


def test_what_comes_out_otherwise_is_told(run_folder: Path) -> None:
    record = record_of(run_folder)
    thing, place = next((name, pair[1]) for line in record.actions for name, pair in line.moves.items())
    honest = with_changes(record, ends={**record.final.placements, thing: "moon"})
    assert again(honest).differences == ["the objects end in other places"]
    tampered = [
        line.model_copy(update={"aim_targets": ["nowhere"] * len(line.aim_targets)}) if thing in line.moves else line
        for line in record.actions
    ]
    played = again(with_changes(record, actions=tampered))
    assert played.differences and "another outcome" in played.differences[0]
    assert place == "robot" or played.states[-1].placements == record.final.placements


def test_steps_are_followed_where_the_house_differs(run_folder: Path) -> None:
    record = record_of(run_folder)
    walked = next(number for number, line in enumerate(record.actions) if line.low_level_actions.endswith("f"))
    line = record.actions[walked]
    x, z, yaw = line.path[-1]
    moved = line.model_copy(update={"path": [*line.path[:-1], (x + 0.1, z, yaw)]})
    actions = [*record.actions[:walked], moved, *record.actions[walked + 1 :]]
    played = again(with_changes(record, actions=actions))
    assert "stood elsewhere" in " ".join(played.differences)
    assert played.states[line.end].body.x == pytest.approx(x + 0.1)


def test_replay_settings_other_versions_are_read_as_far_as_they_are_known() -> None:
    header = Header(system="personalize", task="a", settings={"tasks": {"person": "ada"}, "magic": 3})
    assert replay_settings(header).tasks.person == "ada"


def test_a_house_with_some_kinds_of_objects_only_is_found_again(tmp_path: Path) -> None:
    record = record_of(play(tmp_path, max_steps=1, kinds="held_out"))
    assert {thing.name for thing in find_task(record).episode.objects} == set(record.initial_state.placements)


def test_another_episode_is_not_taken_for_the_records(run_folder: Path) -> None:
    record = record_of(run_folder)
    with pytest.raises(UserError, match="starts with other objects"):
        find_task(with_changes(record, placements={"kettle 1": "moon"}))


@pytest.mark.parametrize(("steps", "most"), [(0, 10), (5, 10), (1000, 150), (1000, 2)])
def test_moments_are_spread(steps: int, most: int) -> None:
    moments = select_states(steps, {steps // 2}, most)
    assert moments == sorted(set(moments))
    assert {0, steps} <= set(moments)
    assert len(moments) <= max(most + 2, 4)


@pytest.mark.parametrize(
    ("name", "place"),
    [("unicorn 1", "the moon"), ("", ""), ("unicorn 1", "robot"), ("KNOWN", "the moon"), ("KNOWN", "KNOWN"),
     ("PLACE", "PLACE"), ("robot", "robot"), ("KNOWN", "\x1b[2J" * 999)],
)  # fmt: skip
def test_a_record_that_moves_what_there_is_not_is_replayed_all_the_same(
    edited: Callable[[Edit], Path], name: str, place: str
) -> None:
    def change(line: dict[str, Any]) -> None:
        if line["type"] == "header":
            thing, receptacle = next(iter(line["initial_state"]["placements"].items()))
            names.update(KNOWN=thing, PLACE=receptacle)
        if line["type"] == "action" and line["low_level_actions"]:
            line["moves"][names.get(name, name)] = ["nowhere", names.get(place, place)]

    names: dict[str, str] = {}
    record = record_of(edited(change))
    played = again(record)
    assert len(played.states) == record.result.scores["steps"] + 1
    told = [text for text in played.differences if "not both in this house" in text]
    assert told and all(text.isprintable() and len(text) < 500 for text in told)
