"""Furnishes rooms: the furniture of each kind of room, and where it is placed.

The furniture requests of a room are placed one after another. A placement keeps doors and the space in front of
furniture free, and all furniture of the room reachable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from housewise.worlds.house.generator.furniture_groups import (
    FurnitureGroup,
    FurnitureItem,
    GroupMaker,
    bed,
    desk,
    dining,
    dining_at_wall,
    kitchen_row,
    kitchen_units,
    laundry,
    lounge,
    media,
    single,
    toilet,
    washstand,
)
from housewise.worlds.house.generator.house_layout import GenerationError, HouseLayout
from housewise.worlds.house.generator.room_space import RoomSpace, WallStretch

_LONGEST_ROW = 4.2
_AGAIN = 0.55


@dataclass(frozen=True)
class GroupRequest:
    """A request for a furniture group.

    Attributes:
        makers: Makers of the group, the best first; the first group with enough space is placed.
        where: "corner", "middle" (of a wall), "facing" (the first furniture), "wall", or "open" (away from walls).
        count: Greatest number of groups.
        chance: Probability of the first group.
        required: Whether the room needs at least one group.
        unless: The request is dropped in houses that have this kind of room.
    """

    makers: tuple[GroupMaker, ...]
    where: str = "wall"
    count: int = 1
    chance: float = 1.0
    required: bool = False
    unless: str = ""

    def place(self, space: RoomSpace, rng: np.random.Generator, room: str) -> None:
        """Place the furniture in a room.

        Raises:
            GenerationError: If the room has no space for required furniture.
        """
        chance, granted = self.chance, 0
        for _ in range(self.count):
            if rng.uniform() >= chance or not any(self._put(maker(rng), space, rng) for maker in self.makers):
                break
            granted, chance = granted + 1, _AGAIN
        if self.required and not granted:
            raise GenerationError(f"no space for the required furniture of {room}")

    def _put(self, group: FurnitureGroup, space: RoomSpace, rng: np.random.Generator) -> bool:
        if self.where == "open":
            return space.put_in_the_open(group, 0.05 if group.is_flat else 0.55, rng)
        rect = group.rect
        spots = [
            (rng.uniform() + self._appeal(spot, rect.width, space), number, spot)
            for number, spot in enumerate(space.wall_stretches(rect.depth, group.front, rect.width))
        ]
        return any(
            space.put_at_wall(group, spot, self._relative_position(spot, rect.width, space, rng))
            for _, _, spot in sorted(spots, reverse=True)[:4]
        )

    def _appeal(self, spot: WallStretch, width: float, space: RoomSpace) -> float:
        """Return a score that prefers long walls for the middle of a wall, and short ones for corners."""
        spare = min(spot.length - width, 3.0)
        if self.where == "facing" and spot.side == (space.items[0].quarter + 2) % 4:
            return 3.0
        return 0.5 * spare if self.where == "middle" else 0.4 * sum(spot.corners) - 0.15 * spare

    def _relative_position(self, spot: WallStretch, width: float, space: RoomSpace, rng: np.random.Generator) -> float:
        if self.where == "facing":
            wanted = (space.items[0].x, space.items[0].z)[spot.side % 2] - width / 2 - spot.start
            return float(np.clip(wanted / max(spot.length - width, 1e-6), 0.0, 1.0))
        if self.where == "middle" or (self.where == "wall" and rng.uniform() < 0.25):
            return 0.5
        return _end(spot, rng)


@dataclass(frozen=True)
class KitchenRequest:
    """A request for kitchen units in one or two rows along the walls."""

    unless: str = ""

    def place(self, space: RoomSpace, rng: np.random.Generator, room: str) -> None:
        """See GroupRequest.place. A fridge, a sink and a stove are required."""
        wanted = kitchen_units(rng)
        for row in range(3):
            if row < 2 or _has_essential(wanted):
                placed = self._put_row(wanted, space, rng)
                wanted = [unit for unit in wanted if unit not in placed]
        if _has_essential(wanted):
            raise GenerationError(f"no space for the units of {room}")

    def _put_row(self, wanted: list[FurnitureItem], space: RoomSpace, rng: np.random.Generator) -> list[FurnitureItem]:
        spots = sorted(space.wall_stretches(0.7, 0.8, 0.6), key=lambda spot: -min(spot.length, _LONGEST_ROW))
        for spot in spots[:3]:
            units, place = _select_fitting(wanted, min(spot.length, _LONGEST_ROW)), _end(spot, rng)
            if not units:
                continue
            row = kitchen_row(units, rng, corner_left=(place == 0.0) == (spot.direction == 1))
            if space.put_at_wall(row, spot, place):
                return units
        return []


class RoomRequest(Protocol):
    """A request for furniture of a room."""

    @property
    def unless(self) -> str:
        """The request is dropped in houses that have this kind of room; empty for none."""

    def place(self, space: RoomSpace, rng: np.random.Generator, room: str) -> None:
        """See GroupRequest.place."""
        ...


def furnish(
    plan: HouseLayout, rng: np.random.Generator, requests: Mapping[str, Sequence[RoomRequest]] | None = None
) -> list[list[FurnitureItem]]:
    """Furnish all rooms of a house.

    Args:
        plan: The layout of the house.
        rng: Random number generator.
        requests: Furniture of each kind of room in the order of placement; by default that of a family's house.

    Returns:
        The furniture of each room in the order of the layout's rooms, world coordinates.

    Raises:
        GenerationError: If a room has no space for required furniture.
    """
    house = {planned.room.kind for planned in plan.rooms}
    furnished = []
    for place, planned in enumerate(plan.rooms):
        doors = [door for door in plan.doors if place in door.rooms]
        closed = [plan.entrance] if place in plan.entrance.rooms else []
        space = RoomSpace(planned.interior, doors, closed)
        for wish in (requests or _REQUESTS).get(planned.room.kind, ()):
            if wish.unless not in house:
                wish.place(space, rng, planned.room.name)
        furnished.append(space.items)
    return furnished


def _end(spot: WallStretch, rng: np.random.Generator) -> float:
    """Return the end (0 or 1) of a stretch of wall that is in a corner of the room, or a random one."""
    if spot.corners[0] != spot.corners[1]:
        return 0.0 if spot.corners[0] else 1.0
    return float(rng.integers(2))


def _has_essential(units: list[FurnitureItem]) -> bool:
    return any(unit.kind in ("fridge", "sink", "stove", "cooktop") for unit in units)


def _select_fitting(wanted: list[FurnitureItem], length: float) -> list[FurnitureItem]:
    chosen = []
    for unit in wanted:
        if unit.size[0] + 0.01 <= length:
            chosen.append(unit)
            length -= unit.size[0] + 0.01
    return chosen


_BASKET = GroupRequest((single("basket"),), "corner", chance=0.6)
_HEATER = GroupRequest((single("heater"),), "middle", chance=0.75)
_PLANT = GroupRequest((single("plant"),), "corner", chance=0.5)
_STOOL = GroupRequest((single("stool"),), "corner", chance=0.4)
_SOFA_CHAIR = GroupRequest((single("sofa chair"),), "corner", chance=0.5)
_FULL, _SMALL = (1.8, 2.2), (1.7, 1.8)

_REQUESTS: dict[str, tuple[RoomRequest, ...]] = {
    "living room": (
        GroupRequest(
            (
                lounge(2, _FULL), lounge(1, _FULL), lounge(1, _SMALL), lounge(0, _SMALL),
                lounge(0, _SMALL, carpet=False), single("sofa", width=_SMALL),
            ),
            "middle",
            required=True,
        ),
        GroupRequest((media,), "facing"),
        GroupRequest((dining(2, (1.2, 1.5)), dining(1, (0.8, 0.9)), dining_at_wall), "open", unless="dining room"),
        GroupRequest((single("shelf"),), "corner", count=3),
        GroupRequest((single("piano"),), chance=0.25),
        _SOFA_CHAIR,
        GroupRequest((single("bottom cabinet"),), count=2, chance=0.7),
        GroupRequest((single("console table"),), chance=0.4),
        _HEATER, _PLANT, _BASKET, _STOOL,
    ),
    "kitchen": (
        KitchenRequest(),
        GroupRequest((dining(1, (0.8, 0.9)),), "open", chance=0.5, unless="dining room"),
        GroupRequest((dining_at_wall,), chance=0.4),
        GroupRequest((single("bottom cabinet"),), chance=0.5),
        GroupRequest((single("shelf"),), "corner", chance=0.5),
        _HEATER, _STOOL, _BASKET,
    ),
    "dining room": (
        GroupRequest(
            (dining(3, (1.6, 1.8), ends=True), dining(3, (1.6, 1.8)), dining(2, (1.2, 1.5)), dining(1, (0.8, 0.9))),
            "open",
            required=True,
        ),
        GroupRequest((single("bottom cabinet"),), count=2),
        GroupRequest((single("console table"),), "middle", chance=0.5),
        GroupRequest((single("shelf"),), "corner", count=2, chance=0.7),
        _HEATER, _PLANT,
    ),
    "bedroom": (
        GroupRequest(
            (bed((1.4, 1.7), 2), bed((1.4, 1.6), 1), bed((1.2, 1.4), 1), bed((0.9, 1.0), 0)), "middle", required=True
        ),
        GroupRequest((single("chest"),), chance=0.7),
        GroupRequest((single("bottom cabinet"),), count=2),
        GroupRequest((single("shelf"),), "corner", count=2, chance=0.7),
        GroupRequest((desk,), chance=0.35),
        _HEATER,
        GroupRequest((single("chair"), single("stool")), "corner", chance=0.5),
        _BASKET,
        GroupRequest((single("carpet"), single("carpet", width=(0.9, 1.1), depth=(0.5, 0.6))), "open", chance=0.7),
        _PLANT,
    ),
    "childs room": (
        GroupRequest((bed((0.9, 1.0), 1), bed((0.9, 1.0), 0)), "corner", required=True),
        GroupRequest((desk,), chance=0.8),
        GroupRequest((single("shelf"),), "corner", count=2),
        GroupRequest((single("chest"),)),
        GroupRequest((single("bottom cabinet"),), chance=0.6),
        _BASKET,
        GroupRequest((single("carpet"), single("carpet", width=(0.9, 1.1), depth=(0.6, 0.8))), "open"),
        _HEATER, _STOOL,
    ),
    "bathroom": (
        GroupRequest((single("bathtub"),), "corner"),
        GroupRequest((toilet(cabinet=True), toilet(cabinet=False)), required=True),
        GroupRequest((washstand, single("sink", width=(0.45, 0.5), depth=(0.38, 0.42))), required=True),
        GroupRequest((laundry("washer"),), "corner", unless="utility room"),
        GroupRequest((single("bottom cabinet", width=(0.4, 0.6)),), "corner", chance=0.7),
        _BASKET,
        GroupRequest((single("heater", width=(0.5, 0.7)),), "middle", chance=0.75),
        GroupRequest((single("shelf", width=(0.4, 0.6)),), "corner", chance=0.4),
        _STOOL,
        GroupRequest((single("carpet", width=(0.7, 0.9), depth=(0.5, 0.6)),), "open", chance=0.8),
    ),
    "corridor": (
        GroupRequest(
            (single("console table", depth=(0.26, 0.32)), single("heater", width=(0.5, 0.7)), single("stool")),
            required=True,
        ),
        GroupRequest((single("chest", depth=(0.34, 0.38)),), "corner", chance=0.6),
        GroupRequest((single("shelf", depth=(0.26, 0.3)),), "corner", chance=0.4),
        _HEATER,
        GroupRequest((single("carpet", width=(1.4, 2.0), depth=(0.7, 0.8)),), "open", chance=0.6),
        _STOOL, _BASKET,
    ),
    "home office": (
        GroupRequest((desk,), "middle", required=True),
        GroupRequest((single("shelf"),), "corner", count=3),
        GroupRequest((single("bottom cabinet"),), chance=0.8),
        GroupRequest((single("shredder"),), "corner"),
        _SOFA_CHAIR, _HEATER, _BASKET,
        GroupRequest((single("carpet"),), "open", chance=0.4),
        _PLANT,
    ),
    "utility room": (
        GroupRequest((laundry("washer", "dryer"), laundry("washer")), "corner", required=True),
        GroupRequest((single("shelf"),), "corner", count=2),
        GroupRequest((single("sink"),), chance=0.5),
        GroupRequest((single("bottom cabinet"),), "corner", chance=0.7),
        GroupRequest((single("basket"),), "corner", count=2),
        _STOOL,
    ),
    "pantry room": (
        GroupRequest((single("shelf"),), "corner", count=4, required=True),
        GroupRequest((single("bottom cabinet"),), chance=0.7),
        GroupRequest((single("chest"),), "corner", chance=0.3),
        _BASKET, _STOOL,
    ),
    "lobby": (
        GroupRequest((single("console table"),), "middle", required=True),
        GroupRequest((single("chest"),), chance=0.7),
        GroupRequest((single("shelf"),), "corner", chance=0.4),
        GroupRequest((single("chair"), single("stool")), chance=0.7),
        GroupRequest((single("carpet", width=(1.1, 1.5), depth=(0.7, 0.9)),), "open", chance=0.8),
        _HEATER, _BASKET, _PLANT,
    ),
    "television room": (
        GroupRequest((lounge(1, _FULL), lounge(0, _SMALL), lounge(0, _SMALL, carpet=False)), "middle", required=True),
        GroupRequest((media,), "facing", required=True),
        GroupRequest((single("shelf"),), "corner", count=2),
        GroupRequest((single("chest"),), chance=0.4),
        _SOFA_CHAIR, _HEATER, _PLANT, _BASKET,
    ),
}  # fmt: skip
