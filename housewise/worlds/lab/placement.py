"""Where each thing of a lab is: fixtures by the layout, other things by the free places of what they lie on or in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, sqrt

import numpy as np

from housewise.worlds.house.generator.furniture_groups import FurnitureItem
from housewise.worlds.house.generator.rectangles import Rect, rotate_quarters
from housewise.worlds.house.geometry import Array, Vec3
from housewise.worlds.lab.appearance import LARGE
from housewise.worlds.lab.furniture import SHELF_BOARDS, shelf_board
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.state import LabState, Thing

FLOATING_HEIGHT = 0.45
"""Height of floating things above their place, metres."""


# Rotations about y by quarter turns, for vertices as rows.
_TURNS = tuple(
    np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]], dtype=np.float64) for c, s in ((1, 0), (0, 1), (-1, 0), (0, -1))
)


@dataclass(frozen=True)
class ThingPlace:
    """Place of a thing in the world frame.

    Attributes:
        x: Middle of its footprint, metres.
        y: Height of its lower side, metres.
        z: Middle of its footprint, metres.
        quarter: Number of quarter turns about y; 0 faces +z.
        size: Width, height and depth before the turns, metres.
    """

    x: float
    y: float
    z: float
    quarter: int
    size: Vec3

    @property
    def footprint(self) -> Rect:
        """The rectangle on the floor."""
        width, depth = (self.size[0], self.size[2]) if self.quarter % 2 == 0 else (self.size[2], self.size[0])
        return Rect.from_centre(self.x, self.z, width, depth)

    def distance(self, x: float, z: float) -> float:
        """Return the horizontal distance from a point to the footprint, metres."""
        rect = self.footprint
        return float(np.hypot(max(rect.x0 - x, 0.0, x - rect.x1), max(rect.z0 - z, 0.0, z - rect.z1)))

    def apply(self, vertices: Array) -> Array:
        """Transform vertices (N, 3) from the frame of the thing to the world frame."""
        return vertices @ _TURNS[self.quarter % 4] + (self.x, self.y, self.z)


def places(state: LabState, fixtures: Mapping[str, FurnitureItem]) -> dict[str, ThingPlace]:
    """Return the place of every thing that is not in the hand, by id.

    Args:
        state: State of the lab.
        fixtures: Places of devices and furniture by id.
    """
    found: dict[str, ThingPlace] = {}
    for thing in state.things:
        _find(state, thing, fixtures, found)
    return found


def _find(
    state: LabState, thing: Thing, fixtures: Mapping[str, FurnitureItem], found: dict[str, ThingPlace]
) -> ThingPlace | None:
    if thing.id in found or thing.id == state.held:
        return found.get(thing.id)
    width, height, depth = KINDS[thing.kind].size
    factor = LARGE if "large" in thing.flags else 1.0
    size = (width * factor, height * factor, depth * factor)
    if thing.id in fixtures:
        item = fixtures[thing.id]
        found[thing.id] = ThingPlace(item.x, item.base, item.z, item.quarter, size)
    elif thing.container is not None:
        holder = state[thing.container]
        below = _find(state, holder, fixtures, found)
        if below is not None:
            x, y, z = _spot(holder.kind, thing.kind, thing.spot)
            across, away = rotate_quarters(x, z, below.quarter)
            lift = FLOATING_HEIGHT if "floating" in thing.flags else 0.0
            found[thing.id] = ThingPlace(below.x + across, below.y + y + lift, below.z + away, below.quarter, size)
    return found.get(thing.id)


@lru_cache(maxsize=2048)
def _spot(holder: str, kind: str, spot: int) -> Vec3:
    """Return the place of a spot in the frame of the holder, at the lower side of what lies there."""
    size, count = KINDS[holder].size, max(1, KINDS[holder].spots)
    w, h, d = size
    own = KINDS[kind].size
    if "button" in kind:
        return ((("red", "green", "blue").index(kind.split("_")[0]) - 1) * 0.2, h - 0.1, 0.1 * d + own[2] / 2)
    if holder == "printer" and "cartridge" in kind:
        return (-0.2 * w, 0.12 * h, 0.5 * d - 0.01)
    if kind == "laser_tip" and holder == "laser_cannon":
        return (0.0, 0.66 * h, 0.52 * d)
    if holder == "dart_board":
        return ((0.08, -0.1, 0.02)[spot % 3], (0.56, 0.4, 0.7)[spot % 3] * h - own[1] / 2, 0.4 * d + own[2] / 2)
    if holder in _SPOTS:
        share = _SPOTS[holder]
        return (share[0] * w, share[1] * h, share[2] * d)
    if "infectable" in KINDS[holder].properties:
        return (0.36 * w, 0.08, 0.06 * d + own[2])
    if holder == "shelf":
        board, across = spot % SHELF_BOARDS, spot // SHELF_BOARDS
        columns = ceil(count / SHELF_BOARDS)
        return ((across + 0.5) * w / columns - w / 2, shelf_board(h, SHELF_BOARDS - 1 - board), 0.05 * d)
    columns = max(1, min(count, round(sqrt(count * w / d))))
    rows = ceil(count / columns)
    column, row = spot % columns, spot // columns % rows
    # The first row is the front one.
    return ((column + 0.5) * w / columns - w / 2, h, d / 2 - (row + 0.5) * d / rows)


_SPOTS: dict[str, Vec3] = {
    "printer": (-0.1, 0.34, 0.05),
    "laser_cannon": (0.33, 0.16, 0.2),
    "time_machine": (0.0, 0.08, 0.0),
    "carrot_maker": (0.0, 0.355, 0.1),
    "embiggenator": (0.0, 0.188, 0.0),
    "portal_generator": (0.0, 0.176, 0.15),
    "color_changer": (0.0, 0.64, 0.05),
    "fuse_box": (0.0, 0.22, 0.1),
}
"""The only place of some devices, as shares of their width, height and depth."""
