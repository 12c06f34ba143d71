"""Finds free space in a room while it is furnished, and keeps all furniture reachable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

from housewise.worlds.house.generator.furniture_groups import FurnitureGroup, FurnitureItem
from housewise.worlds.house.generator.house_layout import Door
from housewise.worlds.house.generator.rectangles import Rect, rotate_quarters

ROBOT_RADIUS = 0.18

# Aisles are wider, and distances to furniture shorter, than the robot needs.
_MARGIN = 0.07
_COMFORT_REACH = 0.9

_DOOR_DEPTH = 0.8
_WALL_GAP = 0.01
_GRID = 0.15
_TRIES = 5


@dataclass(frozen=True)
class WallStretch:
    """A free stretch along a wall.

    Attributes:
        side: Wall, as the quarter turns of furniture at it: 0 at the least z, 1 at the least x, 2 at the greatest z,
            3 at the greatest x.
        start: Start along x (walls 0 and 2) or z, metres.
        end: End along the same axis, metres.
        corners: Whether its start and its end are in a corner of the room.
    """

    side: int
    start: float
    end: float
    corners: tuple[bool, bool]

    @property
    def length(self) -> float:
        """Extent along the wall, metres."""
        return self.end - self.start

    @property
    def direction(self) -> int:
        """1 if the x of furniture at this wall increases with the world's coordinate, else -1."""
        return 1 if self.side in (0, 3) else -1


class RoomSpace:
    """The free space of a room while it is furnished.

    Args:
        interior: The floor between the walls.
        doors: Doors of the room.
        closed: Doors that the robot cannot pass, but whose space has to stay free as well.

    Attributes:
        interior: The floor between the walls.
        items: Placed furniture, world coordinates.
        thresholds: Middles of the doors, an array of shapely points.
    """

    def __init__(self, interior: Rect, doors: Sequence[Door], closed: Sequence[Door] = ()) -> None:
        self.interior = interior
        self.items: list[FurnitureItem] = []
        self._kept = [door.expand(_DOOR_DEPTH, 0.05) for door in (*doors, *closed)]
        self._solids: list[Rect] = []
        self._fronts: list[Rect] = []
        self._blocked: Any = shapely.Polygon()
        self._floor = shapely.unary_union([part.polygon() for part in walkable_floor(interior, doors, _MARGIN)])
        self.thresholds = shapely.points([door.gap.centre for door in doors])

    def wall_stretches(self, depth: float, front: float, least: float) -> list[WallStretch]:
        """Return the stretches of walls with at least a length, for furniture of a depth and free space in front."""
        return [spot for side in range(4) for spot in self._free_stretches(side, depth, front) if spot.length >= least]

    def put_at_wall(self, group: FurnitureGroup, spot: WallStretch, place: float) -> bool:
        """Place a group with its back to a wall.

        Args:
            group: The group.
            spot: A stretch of ``wall_stretches``.
            place: Position within the stretch from 0 (its start) to 1 (its end).

        Returns:
            Whether the group was placed; it is not if it would block a path or overlap a carpet.
        """
        rect, room = group.rect, self.interior
        middle = spot.start + place * (spot.length - rect.width) + rect.width / 2
        along = middle - spot.direction * rect.centre[0]
        x, z = (
            (along, room.z0 + _WALL_GAP), (room.x0 + _WALL_GAP, along),
            (along, room.z1 - _WALL_GAP), (room.x1 - _WALL_GAP, along),
        )[spot.side]  # fmt: skip
        return self._put(group, x, z, spot.side)

    def put_in_the_open(self, group: FurnitureGroup, space: float, rng: np.random.Generator) -> bool:
        """Place a group away from the walls, near the middle of the room, with free space around it.

        Returns:
            Whether the group was placed.
        """
        room, rect = self.interior.centre, group.rect
        spots = [
            (abs(x - room[0]) + abs(z - room[1]) + 0.4 * rng.uniform(), x, z, quarter)
            for quarter in (0, 1)
            for x, z in self._open_centres(rect, quarter, space)
        ]
        for _, x, z, quarter in sorted(spots)[:_TRIES]:
            off = rotate_quarters(*rect.centre, quarter)
            if self._put(group, x - off[0], z - off[1], quarter):
                return True
        return False

    def _open_centres(self, rect: Rect, quarter: int, space: float) -> list[tuple[float, float]]:
        """Return the points of a grid that are possible centres of a rectangle."""
        width, depth = (rect.width, rect.depth) if quarter == 0 else (rect.depth, rect.width)
        inner, half = self.interior.expand(-space), np.array([width, depth]) / 2
        xs = np.arange(inner.x0 + half[0], inner.x1 - half[0] + 1e-9, _GRID)
        zs = np.arange(inner.z0 + half[1], inner.z1 - half[1] + 1e-9, _GRID)
        centres = np.stack(np.meshgrid(xs, zs, indexing="ij"), axis=-1).reshape(-1, 2)
        free = np.ones(len(centres), dtype=bool)
        for other, gap in [*((solid, space) for solid in self._solids), *((kept, 0.0) for kept in self._kept)]:
            away = np.abs(centres - other.centre) - half - np.array([other.width, other.depth]) / 2
            free &= (away > gap - 1e-9).any(axis=1)
        return [(float(x), float(z)) for x, z in centres[free]]

    def _free_stretches(self, side: int, depth: float, front: float) -> Iterator[WallStretch]:
        axis = side % 2
        start, end = self.interior.span(axis)
        start, end = start + _WALL_GAP, end - _WALL_GAP
        strip, reach = self._strip(side, depth + _WALL_GAP), self._strip(side, depth + _WALL_GAP + front)
        taken = [rect for rect in self._solids if rect.overlaps(reach)]
        taken += [rect for rect in (*self._kept, *self._fronts) if rect.overlaps(strip)]
        at = start
        for low, high in sorted(rect.span(axis) for rect in taken):
            if low > at:
                yield WallStretch(side, at, low, (at == start, False))
            at = max(at, high)
        if end > at:
            yield WallStretch(side, at, end, (at == start, True))

    def _strip(self, side: int, depth: float) -> Rect:
        room = self.interior
        return (
            Rect(room.x0, room.z0, room.x1, room.z0 + depth),
            Rect(room.x0, room.z0, room.x0 + depth, room.z1),
            Rect(room.x0, room.z1 - depth, room.x1, room.z1),
            Rect(room.x1 - depth, room.z0, room.x1, room.z1),
        )[side]

    def _put(self, group: FurnitureGroup, x: float, z: float, quarter: int) -> bool:
        items = [item.transform(x, z, quarter) for item in group.items]
        if any(new.blocks != old.blocks and new.rect.overlaps(old.rect) for new in items for old in self.items):
            return False
        solids = [item.rect for item in items if item.blocks]
        grown = [rect.expand(ROBOT_RADIUS + _MARGIN).polygon() for rect in solids]
        blocked = shapely.union_all([self._blocked, *grown])
        if not self._is_all_reachable([*self.items, *items], blocked):
            return False
        self.items += items
        self._solids += solids
        self._blocked = blocked
        if group.front > 0:
            own = group.rect
            ahead = FurnitureItem("", (own.width, 0.0, group.front), own.centre[0], own.z1 + group.front / 2)
            self._fronts.append(ahead.transform(x, z, quarter).rect)
        return True

    def _is_all_reachable(self, items: Sequence[FurnitureItem], blocked: Any) -> bool:
        """Whether the robot can walk between all doors and to all items."""
        parts = shapely.get_parts(self._floor.difference(blocked))
        reached = [part for part in parts if shapely.contains(part, self.thresholds).all()]
        return bool(reached) and bool((shapely.distance(footprints(items), reached[0]) <= _COMFORT_REACH).all())


def walkable_floor(interior: Rect, doors: Sequence[Door], margin: float = 0.0) -> list[Rect]:
    """Return the area of the robot's centre in an empty room and its doorways, with a margin to the walls."""
    radius = ROBOT_RADIUS + margin
    # The overlap of 1 cm keeps a room connected to its doorways in spite of rounding.
    return [interior.expand(-radius), *(door.expand(radius + 0.01, -radius) for door in doors)]


def footprints(items: Sequence[FurnitureItem]) -> Any:
    """Return the footprints of items as an array of shapely polygons."""
    rects = [item.rect for item in items]
    return shapely.box(*np.array([(r.x0, r.z0, r.x1, r.z1) for r in rects]).T)
