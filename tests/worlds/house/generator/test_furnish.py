from itertools import combinations

import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from housewise.worlds.house.generator.furniture_groups import FurnitureItem
from housewise.worlds.house.generator.house import reachable_area
from housewise.worlds.house.generator.house_layout import HouseLayout
from housewise.worlds.house.generator.room_space import ROBOT_RADIUS
from tests.worlds.house.generator.layouts import furnished_layout

SEEDS = st.integers(0, 10_000)
Furniture = list[list[FurnitureItem]]
"""Furniture by room."""


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_every_furnished_house_is_valid(seed: int) -> None:
    plan, furniture = furnished_layout(seed)
    check_places(plan, furniture)
    check_overlaps(furniture)
    check_reachable_area(plan, furniture)


def check_places(plan: HouseLayout, furniture: Furniture) -> None:
    """Check that furniture stands within its room and clear of the doors."""
    doorways = [door.expand(0.7, 0.0) for door in (*plan.doors, plan.entrance)]
    for planned, items in zip(plan.rooms, furniture, strict=True):
        inside = planned.interior.expand(1e-6).polygon()
        for item in items:
            assert inside.covers(item.rect.polygon())
            assert not item.blocks or not any(item.rect.overlaps(doorway) for doorway in doorways)


def check_overlaps(furniture: Furniture) -> None:
    """Check that furniture does not overlap."""
    for items in furniture:
        for one, other in combinations(items, 2):
            apart = one.top <= other.base + 1e-9 or other.top <= one.base + 1e-9
            on_carpet = "carpet" in (one.kind, other.kind)
            assert apart or on_carpet or not one.rect.overlaps(other.rect), (one, other)


def check_reachable_area(plan: HouseLayout, furniture: Furniture) -> None:
    """Check that the robot keeps its radius from walls and furniture."""
    every = [item for items in furniture for item in items]
    area = reachable_area(plan, every, [item for item in every if item.is_receptacle])
    floor = shapely.union_all([room.interior.polygon() for room in plan.rooms] + [d.gap.polygon() for d in plan.doors])
    # A margin of a micrometre closes gaps between floors and doorways due to rounding.
    walls = plan.outline.expand(1.0).polygon().difference(floor.buffer(1e-6, join_style="mitre"))
    assert area.distance(walls) >= ROBOT_RADIUS - 1e-5
    for item in (item for items in furniture for item in items if item.blocks):
        assert area.distance(item.rect.polygon()) >= ROBOT_RADIUS - 1e-9
