import json
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from housewise.core.errors import UserError
from housewise.export import export_run
from housewise.export.episode_playback import Playback, event_log
from housewise.export.house_player import HousePlayer
from housewise.export.manifest import ExportedEpisode
from housewise.playback.replay import find_task, replay_record
from housewise.playback.simulators import PlaybackSimulator
from housewise.rollout.record_reader import read_record
from housewise.systems.personalize.record import HouseRecord
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.simulator.base import Camera
from tests.housewise.export.conftest import HOSTILE, STEPS
from tests.housewise.report.conftest import play


def test_there_is_a_frame_before_every_step_and_one_at_the_end(
    played: list[Playback], records: list[HouseRecord]
) -> None:
    for playback, record in zip(played, records, strict=True):
        assert playback.differences == []
        assert len(playback.frames) == record.result.scores["steps"] + 1 == STEPS + 1
        assert playback.frames[-1].action is None and len(playback.steps) == STEPS
        assert all(frame.picture.shape == (128, 128, 3) and np.ptp(frame.picture) for frame in playback.frames)
        path = [place for line in record.actions for place in line.path]
        for frame, (x, z, yaw) in zip(playback.frames[1:], path, strict=True):
            assert frame.state[:3] == pytest.approx((x, z, yaw), abs=2e-3)
        letters = "".join(line.low_level_actions for line in record.actions)
        names = {"f": "move_forward", "l": "turn_left", "r": "turn_right", "u": "look_up", "d": "look_down"}
        for frame, letter in zip(playback.steps, letters, strict=True):
            assert playback.actions[frame.action or 0] == names.get(letter, "grab_release")


def test_rewards_are_the_records_and_are_earned_where_something_is_put_down(
    played: list[Playback], records: list[HouseRecord]
) -> None:
    earned = [sum(frame.reward for frame in playback.frames) for playback in played]
    assert earned == [sum(line.reward for line in record.actions) for record in records]
    assert any(earned)
    grab = played[0].actions.index("grab_release")
    assert {frame.action for playback in played for frame in playback.frames if frame.reward} == {grab}


def test_a_frame_has_the_plan_of_its_step(played: list[Playback], records: list[HouseRecord]) -> None:
    for playback, record in zip(played, records, strict=True):
        plans = [line.plan for line in record.actions for _ in line.low_level_actions]
        assert [frame.plan for frame in playback.steps] == plans
        assert playback.frames[-1].plan == plans[-1]
    assert any(playback.frames[0].plan != playback.frames[-1].plan for playback in played)


def test_the_robot_stands_on_the_floor_of_its_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, floor = play(tmp_path, max_steps=3), -1.25

    def lowered(record: HouseRecord) -> RearrangementTask:
        task = find_task(record)
        area = task.scene.navmesh
        return replace(task, scene=replace(task.scene, navmesh=NavMesh(area.area, floor, area.viewpoints)))

    monkeypatch.setattr("housewise.export.house_player.find_task", lowered)
    (path,) = (folder / "episodes").glob("*.jsonl")
    for frame in HousePlayer().play(read_record(path), path).frames:
        assert frame.feet.position[1] == floor
        assert frame.eye.position[1] == floor + Camera().above_floor


def test_things_move_when_they_are_carried(played: list[Playback], records: list[HouseRecord]) -> None:
    for playback, record in zip(played, records, strict=True):
        assert set(playback.furniture) >= set(record.initial_state.placements.values())
        for frame in playback.frames:
            missing = set(record.initial_state.placements) - set(frame.things)
            assert len(missing) == frame.state[-1]
    assert any(frame.state[-1] for playback in played for frame in playback.frames)


def test_the_eye_is_where_the_picture_was_taken(played: list[Playback], records: list[HouseRecord]) -> None:
    """What fills much of a picture and lies within it is seen where the eye's pose and the box say."""
    playback, record = played[0], records[0]
    with closing(PlaybackSimulator(Camera())) as simulator:
        shots = replay_record(record, find_task(record), simulator, frames=STEPS + 1).frames
    lens, compared = 64 / np.tan(playback.field_of_view / 2), 0
    for number, frame in enumerate(playback.frames):
        for name, extent in shots[number].objects.items():
            whole = min(extent.left, extent.top) > 0 and max(extent.right, extent.bottom) < 127
            if whole and extent.right - extent.left > 8:
                away = np.subtract(frame.things[name].centre, frame.eye.position)
                right, up, back = Rotation.from_quat(frame.eye.rotation).inv().apply(away)
                seen = (64 - lens * right / back, 64 + lens * up / back)
                middle = ((extent.left + extent.right) / 2, (extent.top + extent.bottom) / 2)
                assert np.abs(np.subtract(seen, middle)).max() < 8
                compared += 1
    assert compared > 5


def test_what_was_said_is_told_with_its_step(played: list[Playback], records: list[HouseRecord]) -> None:
    for playback, record in zip(played, records, strict=True):
        assert [said.step for said in playback.log if said.kind == "plan"] == [plan.step for plan in record.plans]
        assert [said.step for said in playback.log if said.kind == "action"] == [line.end for line in record.actions]
        assert playback.log[0].text == record.plans[0].reply


def test_events_of_any_system_are_told_as_text(foreign: Path) -> None:
    stirred, tasted = event_log(read_record(foreign / "episodes" / "soup-run0.jsonl"))
    assert tasted.text == "said: good"
    assert stirred.text.replace("\n", "").isprintable() and "times: 3" in stirred.text
    assert HOSTILE.partition(" \x1b")[0] in stirred.text and "\x1b" not in stirred.text


def test_an_exported_episode_has_the_name_of_its_file(foreign: Path) -> None:
    path = foreign / "episodes" / "soup-run0.jsonl"
    copy = path.rename(path.with_name("soup-again.jsonl"))
    episode = ExportedEpisode("pantry", copy, read_record(copy), None, "id")
    assert episode.name == episode.facts["record"] == "soup-again" != episode.record.name


@pytest.mark.parametrize("to", ["lerobot", "rerun"])
def test_a_missing_library_is_told_before_anything_is_played(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    monkeypatch.setitem(sys.modules, to, None)
    with pytest.raises(UserError, match=rf"pip install 'housewise\[{to}\]'"):
        export_run(run, to, tmp_path / "out", progress=lambda done, total: pytest.fail("it was played"))
    assert not list(tmp_path.iterdir())


def test_lerobot_without_its_libraries_for_data_sets_is_told(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lerobot").mkdir()
    (tmp_path / "lerobot" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(UserError, match=r"av is not installed; run pip install 'housewise\[lerobot\]'"):
        export_run(run, "lerobot", tmp_path / "out")


def test_what_cannot_be_exported_is_told(run: Path, foreign: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(UserError, match="did you mean rerun"):
        export_run(run, "rerum", out)
    with pytest.raises(UserError, match="pantry have no pictures"):
        export_run(foreign, "lerobot", out)
    with pytest.raises(UserError, match="no finished episodes in it; name the folder"):
        export_run(tmp_path / "nowhere", "rerun", out)
    with pytest.raises(UserError, match=f"name one of them, such as {run}"):
        export_run(run.parent, "rerun", out)
    (record,) = (foreign / "episodes").iterdir()
    record.write_text(record.read_text().replace('"taste"', "taste", 1))
    with pytest.raises(UserError, match="line 3 is not a record's"):
        export_run(foreign, "rerun", out)
    assert not out.exists()


def test_a_record_that_does_not_fit_its_house_is_told(run: Path, tmp_path: Path) -> None:
    (tmp_path / "episodes").mkdir()
    path = next((run / "episodes").glob("*.jsonl"))
    header, *rest = path.read_text().splitlines()
    content = json.loads(header)
    thing = next(iter(content["data"]["initial_state"]["placements"]))
    content["data"]["initial_state"]["placements"][thing] = "moon"
    (tmp_path / "episodes" / path.name).write_text("\n".join([json.dumps(content), *rest]) + "\n")
    with pytest.raises(UserError, match="starts with other objects"):
        HousePlayer().play(read_record(tmp_path / "episodes" / path.name), path)
