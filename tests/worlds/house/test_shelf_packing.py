import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from housewise.worlds.house.episode import ShelfState
from housewise.worlds.house.shelf_packing import ShelfPacker, ShelfPlacement

LENGTHS = st.floats(0.01, 0.6)
SURFACES = st.tuples(st.floats(0.05, 2.0), st.floats(0.05, 1.0))
CORNERS = st.tuples(st.floats(-10, 10), st.floats(-10, 10))
ROUNDING = 1e-6


def empty(size: tuple[float, float], low: tuple[float, float] = (0.0, 0.0)) -> ShelfPacker:
    return ShelfPacker(ShelfState(low, size))


def sides(spot: ShelfPlacement) -> tuple[float, float, float, float]:
    """Return the least and greatest x and the least and greatest z."""
    half = spot.width / 2, spot.depth / 2
    return spot.x - half[0], spot.x + half[0], spot.z - half[1], spot.z + half[1]


def overlap(one: ShelfPlacement, other: ShelfPlacement) -> bool:
    a, b = sides(one), sides(other)
    return min(a[1], b[1]) - max(a[0], b[0]) > ROUNDING and min(a[3], b[3]) - max(a[2], b[2]) > ROUNDING


class PackingMachine(RuleBasedStateMachine):
    """Inserts and removes objects on one surface, and tracks the positions that ``insert`` returned."""

    there = Bundle("there")

    @initialize(size=SURFACES, low=CORNERS)
    def start(self, size: tuple[float, float], low: tuple[float, float]) -> None:
        self.low, self.size = low, size
        self.shelves = empty(size, low)
        self.spots: dict[str, ShelfPlacement] = {}
        self.numbers = itertools.count()

    @rule(target=there, width=LENGTHS, depth=LENGTHS)
    def lay(self, width: float, depth: float) -> str:
        key, before = f"thing_{next(self.numbers)}", self.shelves.state
        spot = self.shelves.insert(key, width, depth)
        if spot is None:
            assert self.shelves.state == before
            return key
        assert {spot.width, spot.depth} == {width, depth}
        assert spot.turned == ((spot.width, spot.depth) != (width, depth)) or width == depth
        self.spots[key] = spot
        return key

    @rule(key=consumes(there))
    def take(self, key: str) -> None:
        before = self.shelves.state
        self.shelves.remove(key)
        if self.spots.pop(key, None) is None:
            assert self.shelves.state == before

    @rule(width=LENGTHS, depth=LENGTHS)
    def insert_and_remove_twice(self, width: float, depth: float) -> None:
        """A removed object has room again, possibly rotated in a row that grew for it."""
        rows = [row.depth for row in self.shelves.state.rows]
        first = self.shelves.insert("guest", width, depth)
        self.shelves.remove("guest")
        deepened = rows != [row.depth for row in self.shelves.state.rows]
        again = self.shelves.insert("guest", width, depth)
        assert (again is None) == (first is None)
        assert again == first or deepened
        self.shelves.remove("guest")

    @rule()
    def save_and_load(self) -> None:
        state = self.shelves.state
        self.shelves = ShelfPacker(state)
        assert self.shelves.state == state

    @invariant()
    def nothing_overlaps(self) -> None:
        assert not any(overlap(one, other) for one, other in itertools.combinations(self.spots.values(), 2))

    @invariant()
    def nothing_exceeds_the_surface(self) -> None:
        (x, z), (length, depth) = self.low, self.size
        for spot in self.spots.values():
            low_x, high_x, low_z, high_z = sides(spot)
            assert x - ROUNDING <= low_x and high_x <= x + length + ROUNDING
            assert z - ROUNDING <= low_z and high_z <= z + depth + ROUNDING

    @invariant()
    def state_is_consistent(self) -> None:
        state = self.shelves.state
        assert {item.object for item in state.items} == set(self.spots)
        taken = {(item.row, item.span) for item in state.items}
        spans = {(r, s) for r, row in enumerate(state.rows) for s, span in enumerate(row.spans) if span.occupied}
        assert taken == spans and len(taken) == len(state.items)
        for item in state.items:
            span, spot = state.rows[item.row].spans[item.span], self.spots[item.object]
            assert span.start <= sides(spot)[0] and sides(spot)[1] <= span.end + ROUNDING
        for row in state.rows:
            assert row.spans[0].start == row.x
            assert row.spans[-1].end == pytest.approx(row.x + row.length)
            assert all(one.end == other.start for one, other in itertools.pairwise(row.spans))
        for one, other in itertools.pairwise(state.rows):
            assert one.z + one.depth <= other.z + ROUNDING
            assert one.max_depth == one.depth
        if not self.spots:
            assert state == ShelfState(self.low, self.size)


PackingMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
test_comings_and_goings = PackingMachine.TestCase


@given(LENGTHS, LENGTHS)
def test_objects_slightly_smaller_than_the_surface_fit(width: float, depth: float) -> None:
    # Nearly square objects can fail to fit by a millimetre, as in the data.
    assume(abs(width - depth) > 0.002)
    assert empty((width + 0.0031, depth + 0.0021)).insert("thing", width, depth) is not None
    assert empty((depth + 0.0031, width + 0.0021)).insert("thing", width, depth) is not None


@given(LENGTHS, LENGTHS)
def test_objects_larger_than_the_surface_do_not_fit(width: float, depth: float) -> None:
    assert empty((max(width, depth) - 0.005, 2.0)).insert("thing", width + 0.005, 3.0) is None
    assert empty((width, depth)).insert("thing", width, depth) is None


def test_a_row_is_filled_before_a_second_one_starts() -> None:
    shelves = empty((1.0, 0.5), (2.0, 3.0))
    spots = [shelves.insert(f"cup_{number}", 0.3, 0.3) for number in range(4)]
    assert [spot and round(spot.z, 2) for spot in spots] == [3.15, 3.15, 3.15, None]
    assert [spot and round(spot.x, 2) for spot in spots[:3]] == [2.15, 2.46, 2.76]
    assert [shelves.insert(f"pen_{number}", 0.2, 0.02) is not None for number in range(3)] == [True] * 3


def test_long_objects_are_rotated_to_fit() -> None:
    spot = empty((0.2, 1.0)).insert("broom", 0.9, 0.1)
    assert spot is not None and spot.turned
    assert (spot.width, spot.depth) == (0.1, 0.9)


def test_gaps_are_reused() -> None:
    shelves = empty((1.0, 0.32))
    first = [shelves.insert(f"cup_{number}", 0.3, 0.3) for number in range(3)]
    shelves.remove("cup_1")
    assert shelves.insert("plate", 0.5, 0.1) is None
    assert shelves.insert("cup_9", 0.3, 0.3) == first[1]


def test_empty_rows_at_the_end_are_removed() -> None:
    shelves = empty((0.5, 1.0))
    for number in range(3):
        assert shelves.insert(f"tray_{number}", 0.45, 0.3) is not None
    assert len(shelves.state.rows) == 3
    for number, rows in ((1, 3), (0, 3), (2, 0)):
        shelves.remove(f"tray_{number}")
        assert len(shelves.state.rows) == rows
    assert shelves.insert("rug", 0.45, 0.95) is not None


def test_removing_an_unknown_object_changes_nothing() -> None:
    shelves = empty((1.0, 1.0))
    shelves.insert("cup", 0.3, 0.3)
    before = shelves.state
    shelves.remove("unheard-of")
    assert shelves.state == before
