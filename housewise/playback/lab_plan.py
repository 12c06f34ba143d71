"""The floor plan of a lab: rooms, walls, and devices and furniture in their colours."""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray

from housewise.playback.floor_plan import MAX_SIZE, FloorPlan, fit_projection, to_pixels
from housewise.worlds.house.generator.house_layout import WALL
from housewise.worlds.lab.layout import LabLayout
from housewise.worlds.lab.parts import COLORS
from housewise.worlds.lab.state import Thing


def draw_lab_plan(layout: LabLayout, fixtures: tuple[Thing, ...]) -> FloorPlan:
    """Draw the floor plan of a lab. Its furniture is named by the ids of the fixtures.

    Args:
        layout: The layout.
        fixtures: Devices and furniture, with their colours.
    """
    gaps = [door.gap.expand(0.01).polygon() for door in layout.plan.doors]
    floor = shapely.union_all([*(planned.interior.polygon() for planned in layout.rooms), *gaps])
    whole = shapely.union_all([planned.interior.expand(WALL).polygon() for planned in layout.rooms])
    projection = fit_projection(floor, *MAX_SIZE)
    there = (thing for thing in fixtures if thing.id in layout.fixtures)
    placed = sorted(there, key=lambda thing: layout.fixtures[thing.id].top)
    furniture = {
        thing.id: projection.pixels(np.asarray(layout.fixtures[thing.id].rect.polygon().exterior.coords)[:-1])
        for thing in placed
    }
    rooms = {planned.room.kind: _point(projection.pixels(planned.interior.centre)) for planned in layout.rooms}
    walls = whole.difference(floor)
    colors = {thing.id: COLORS.get(thing.color, COLORS["brown"]) for thing in placed}
    return FloorPlan(
        projection, None, to_pixels(floor, projection), to_pixels(walls, projection), furniture, colors, rooms
    )


def _point(array: NDArray[np.float64]) -> tuple[float, float]:
    return float(array[0, 0]), float(array[0, 1])
