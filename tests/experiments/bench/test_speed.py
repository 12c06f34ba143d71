"""Measures of speed: that they are of what they say; how fast anything is, no test asks."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from housewise.experiments.bench.lab_speed import open_trimesh_space, time_lab
from housewise.experiments.bench.packing_speed import play_sessions, time_training
from housewise.experiments.bench.recall_speed import make_memory, scan_notes, time_recall
from housewise.experiments.bench.robot_speed import add_objects, time_agent, time_follower, time_rate
from housewise.experiments.catalogue import load_experiment
from housewise.people.memory import About
from housewise.selftrain.basis.settings import SessionsConfig
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.lab.geometry import open_lab_space
from housewise.worlds.lab.scenarios import draw_scenario, find_variant


def test_a_rate_counts_what_was_done() -> None:
    fast, slow = time_rate(lambda: sum(range(200_000)) and 1000), time_rate(lambda: sum(range(200_000)) and 1)
    assert fast > slow > 0


@pytest.mark.parametrize("count", [1, 40])
def test_objects_are_added_in_their_places(generated: RearrangementTask, count: int) -> None:
    full = add_objects(generated, count)
    things, own = full.episode.objects, generated.episode.objects
    assert len({thing.key for thing in things}) == len({thing.name for thing in things}) == count
    assert things[: len(own)] == own[:count] and things == add_objects(generated, count).episode.objects
    assert not any(thing.is_misplaced for thing in things[len(own) :])
    for thing in things[len(own) :]:
        box = full.scene.by_key[thing.receptacle].box
        assert all(box.low[axis] <= thing.pose.position[axis] <= box.high[axis] for axis in (0, 2))
        assert thing.pose.position[1] - thing.size[1] / 2 == pytest.approx(box.top)


@pytest.mark.slow
def test_the_agent_is_timed_beside_trimesh_and_followers_beside_each_other() -> None:
    house = {"houses": 1, "seed": 3}
    agent = list(time_agent(20, 2, max_steps=30, **house))
    assert [(value.repeat, value.measure) for value in agent] == [
        (number, measure)
        for number in range(2)
        for measure in ("steps_per_second", "images_per_second", "times_trimesh")
    ]
    follower = {value.measure: value.value for value in time_follower(2, 1, **house)}
    assert follower["ratio"] == pytest.approx(follower["steps_per_second"] / follower["standard_steps_per_second"])


def test_a_scan_finds_what_recall_finds() -> None:
    memory = make_memory(300, 20, 15)
    for about in [note.about for note in memory.notes[:20]] + [About(things=("thing 3",)), About(receptacle="place 2")]:
        recalled = {each.note.about for each in memory.recall(about, 10)}
        assert recalled and {note.about for note in scan_notes(memory.notes, about)} <= recalled
    measures = [value.measure for value in time_recall(20, 15, 300, 5)]
    assert measures.count("ms") == measures.count("scan_ms") == 5 and "times_faster" in measures


LAB = "make_carrot__banana__simple"
PACKING = Path(__file__).parents[3] / "experiments" / "bench" / "packing_speed.yaml"


@pytest.mark.parametrize("part", [pytest.param("rule step", marks=pytest.mark.slow), "turn", "picture"])
def test_parts_of_the_lab_are_timed_beside_peers(part: Literal["rule step", "turn", "picture"]) -> None:
    if part == "rule step":
        pytest.importorskip("unified_planning")
    found = {value.measure: value.value for value in time_lab(part, [LAB], 0, 1)}
    assert found["slowest_ms"] >= found["ms"] > 0 and found["per_second"] >= 1000 / found["slowest_ms"]
    assert found["times_peer"] == pytest.approx(found["peer_ms"] / found["ms"])


def test_trimesh_shows_the_same_lab() -> None:
    scenario = draw_scenario(find_variant(LAB), 0, "training")
    ours, theirs = open_lab_space(scenario), open_trimesh_space(scenario)
    state = ours.go_to_room(scenario.state, "quantum lab")
    for seen in (state, replace(state, held="banana_1")):
        one, other = (space.view.picture(seen) for space in (ours, theirs))
        assert (one.instances == other.instances).mean() > 0.99 and (one.rgb == other.rgb).mean() > 0.99
    assert [each.id for each in ours.glimpses(state)] == [each.id for each in theirs.glimpses(state)]


@pytest.mark.slow
def test_a_session_is_learned_packed_and_turn_by_turn() -> None:
    found = {value.measure: value.value for value in time_training([LAB], 0, 4)}
    assert found["turns"] > 4, "several rows"
    assert found["times_alone"] == pytest.approx(found["alone_seconds_per_turn"] / found["seconds_per_turn"])


def test_packing_is_measured_with_as_few_routine_turns_as_are_trained_on(tmp_path: Path) -> None:
    (every,), (few,) = (play_sessions([LAB], 0, tmp_path / str(share), share) for share in (1.0, 0.25))
    assert 1 < len(few) < len(every)
    shares = {level.settings["routine_share"] for level in load_experiment(PACKING).axes["learned"].values()}
    assert shares == {1.0, SessionsConfig().routine_share}
