from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from housewise.worlds.house.generator.house_layout import WALL, HouseLayout
from housewise.worlds.house.generator.room_program import choose_house_rooms
from tests.worlds.house.generator.layouts import layout_of

SEEDS = st.integers(0, 10_000)
COUNTS = st.integers(3, 8)


@settings(max_examples=25, deadline=None)
@given(SEEDS, COUNTS)
def test_every_layout_is_valid(seed: int, count: int) -> None:
    plan = layout_of(np.random.default_rng(seed), count)
    check_outline(plan, count)
    check_doors(plan, count)
    check_names(plan, count)


def check_outline(plan: HouseLayout, count: int) -> None:
    """Check that rooms fill the outline and do not overlap."""
    assert len(plan.rooms) == count
    assert sum(room.rect.polygon().area for room in plan.rooms) == pytest.approx(plan.outline.polygon().area)
    assert not any(one.rect.overlaps(other.rect) for one, other in combinations(plan.rooms, 2))


def check_doors(plan: HouseLayout, count: int) -> None:
    """Check that doors connect all rooms, and that bathrooms and bedrooms have one door."""
    reached = {0}
    for _ in plan.rooms:
        reached |= {room for door in plan.doors if reached & set(door.rooms) for room in door.rooms}
    assert reached == set(range(count))
    for door in plan.doors:
        low, high = door.gap.span(door.axis)
        assert high - low >= 0.9 - 2e-3
        near, far = door.gap.span(1 - door.axis)
        assert far - near == pytest.approx(WALL)
        beyond = door.expand(0.01, 0.0)
        touched = [place for place, room in enumerate(plan.rooms) if room.interior.overlaps(beyond)]
        assert sorted(touched) == sorted(door.rooms)
    for place, planned in enumerate(plan.rooms):
        if planned.room.kind in ("bathroom", "bedroom", "childs room", "pantry room"):
            assert sum(place in door.rooms for door in plan.doors) == 1


def check_names(plan: HouseLayout, count: int) -> None:
    """Check that rooms are numbered by kind and that the essential kinds are present."""
    rooms = [planned.room for planned in plan.rooms]
    assert {"living room 0", "kitchen 0", "bathroom 0"} <= {room.name for room in rooms}
    assert len({room.name for room in rooms}) == count
    assert all(room.name.startswith(room.kind + " ") for room in rooms)


@pytest.mark.parametrize("count", [2, 9])
def test_other_numbers_of_rooms_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match="3 to 8 rooms"):
        choose_house_rooms(count, np.random.default_rng(0))
