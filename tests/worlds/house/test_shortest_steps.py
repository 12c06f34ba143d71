"""The least work that a task can take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.shortest_steps import estimate_shortest_steps
from tests.worlds.house.toy import BED, COUNTER, TABLE, thing


def steps(toy: RearrangementTask, *objects: tuple[str, set[str]]) -> float | None:
    """Of the small house with some objects: where each stands, and where it is wanted."""
    things = [thing(f"mug_{number}", place, wanted, (0, 0)) for number, (place, wanted) in enumerate(objects)]
    return estimate_shortest_steps(toy.scene, replace(toy.episode, objects=tuple(things)))


def test_it_is_what_a_tape_measure_says(toy: RearrangementTask) -> None:
    # From (2, 2) to the bed's edge at (7.1, 1.8), and from there through the door to the counter's at (0.8, 2).
    walked = (5.1**2 + 0.2**2) ** 0.5 - 1.5 + (6.3**2 + 0.2**2) ** 0.5 - 2 * 1.5
    assert steps(toy, (BED, {COUNTER})) == pytest.approx(2 + walked / 0.25, abs=1e-6)


def test_what_lies_within_reach_takes_two_steps(toy: RearrangementTask) -> None:
    assert steps(toy, (TABLE, {COUNTER})) == 2.0


@pytest.mark.parametrize("objects", [[], [(BED, {BED})], [(BED, set[str]())], [(BED, {"elsewhere"})]])
def test_where_nothing_can_be_tidied_there_is_no_work(
    toy: RearrangementTask, objects: list[tuple[str, set[str]]]
) -> None:
    assert steps(toy, *objects) is None


def test_the_nearest_of_several_right_places_counts_and_the_nearest_object_is_first(toy: RearrangementTask) -> None:
    one, choice = steps(toy, (BED, {COUNTER})), steps(toy, (BED, {COUNTER, TABLE}))
    assert one is not None and choice is not None and choice < one
    # The mug on the table is within reach of both its ends, so that the way to the bed begins at the counter.
    begins = (6.3**2 + 0.2**2) ** 0.5 - 2 * 1.5
    assert steps(toy, (BED, {COUNTER}), (TABLE, {COUNTER})) == pytest.approx(2 * 2 + 2 * begins / 0.25, abs=1e-6)
