"""Estimates of the least number of steps of a task."""

from dataclasses import replace

import pytest

from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.shortest_steps import estimate_shortest_steps
from tests.worlds.house.toy import BED, COUNTER, TABLE, thing


def steps(toy: RearrangementTask, *objects: tuple[str, set[str]]) -> float | None:
    """Return the estimate for objects in the toy house, each with its receptacle and its correct receptacles."""
    things = [thing(f"mug_{number}", place, wanted, (0, 0)) for number, (place, wanted) in enumerate(objects)]
    return estimate_shortest_steps(toy.scene, replace(toy.episode, objects=tuple(things)))


def test_steps_agree_with_measured_distances(toy: RearrangementTask) -> None:
    # From (2, 2) to the bed's edge at (7.1, 1.8), and through the door to the counter's edge at (0.8, 2).
    walked = (5.1**2 + 0.2**2) ** 0.5 - 1.5 + (6.3**2 + 0.2**2) ** 0.5 - 2 * 1.5
    assert steps(toy, (BED, {COUNTER})) == pytest.approx(2 + walked / 0.25, abs=1e-6)


def test_an_object_within_reach_takes_two_steps(toy: RearrangementTask) -> None:
    assert steps(toy, (TABLE, {COUNTER})) == 2.0


@pytest.mark.parametrize("objects", [[], [(BED, {BED})], [(BED, set[str]())], [(BED, {"elsewhere"})]])
def test_tasks_without_a_solvable_object_have_no_estimate(
    toy: RearrangementTask, objects: list[tuple[str, set[str]]]
) -> None:
    assert steps(toy, *objects) is None


def test_the_nearest_object_and_its_nearest_correct_receptacle_come_first(toy: RearrangementTask) -> None:
    one, choice = steps(toy, (BED, {COUNTER})), steps(toy, (BED, {COUNTER, TABLE}))
    assert one is not None and choice is not None and choice < one
    # The mug on the table is within reach of both its ends, so the path to the bed starts at the counter.
    begins = (6.3**2 + 0.2**2) ** 0.5 - 2 * 1.5
    assert steps(toy, (BED, {COUNTER}), (TABLE, {COUNTER})) == pytest.approx(2 * 2 + 2 * begins / 0.25, abs=1e-6)
