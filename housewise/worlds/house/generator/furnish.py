"""Furnishing: what each kind of room gets, and where it is put.

A room's wishes are granted one after the other. What is put keeps the doors free, leaves space in front of
what has to be opened, and leaves a way to all that stands in the room.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from housewise.worlds.house.generator.furniture_groups import (
    Group,
    Item,
    Maker,
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
from housewise.worlds.house.generator.house_layout import GenerationError, Plan
from housewise.worlds.house.generator.room_space import RoomSpace, Spot

_LONGEST_ROW = 4.2
_AGAIN = 0.55


class Wish(Protocol):
    """Something that a room should have.

    Attributes:
        unless: the wish is dropped in a house that has this kind of room.
    """

    @property
    def unless(self) -> str: ...

    def grant(self, space: RoomSpace, rng: np.random.Generator, room: str) -> None:
        """Put it into the room.

        Raises:
            GenerationError: when the room cannot do without it and has no space.
        """
        ...


@dataclass(frozen=True)
class Some:
    """A wish for furniture.

    Attributes:
        makers: ways to make it, the best first; the first that finds room is taken.
        where: "corner", "middle" (of a wall), "facing" (what was placed first), "wall", or "open" (away from walls).
        count: how many at most.
        chance: of wanting any.
        needed: whether the room is nothing without it.
        unless: see Wish.
    """

    makers: tuple[Maker, ...]
    where: str = "wall"
    count: int = 1
    chance: float = 1.0
    needed: bool = False
    unless: str = ""

    def grant(self, space: RoomSpace, rng: np.random.Generator, room: str) -> None:
        """See Wish.grant."""
        chance, granted = self.chance, 0
        for _ in range(self.count):
            if rng.uniform() >= chance or not any(self._put(maker(rng), space, rng) for maker in self.makers):
                break
            granted, chance = granted + 1, _AGAIN
        if self.needed and not granted:
            raise GenerationError(f"no space for what {room} cannot do without")

    def _put(self, group: Group, space: RoomSpace, rng: np.random.Generator) -> bool:
        if self.where == "open":
            return space.put_in_the_open(group, 0.05 if group.is_flat else 0.55, rng)
        rect = group.rect
        spots = [
            (rng.uniform() + self._appeal(spot, rect.width, space), number, spot)
            for number, spot in enumerate(space.spots(rect.depth, group.front, rect.width))
        ]
        return any(
            space.put_at_wall(group, spot, self._place(spot, rect.width, space, rng))
            for _, _, spot in sorted(spots, reverse=True)[:4]
        )

    def _appeal(self, spot: Spot, width: float, space: RoomSpace) -> float:
        """Long walls for what stands in the middle, tight spots for what fills a corner."""
        spare = min(spot.length - width, 3.0)
        if self.where == "facing" and spot.side == (space.items[0].quarter + 2) % 4:
            return 3.0
        return 0.5 * spare if self.where == "middle" else 0.4 * sum(spot.corners) - 0.15 * spare

    def _place(self, spot: Spot, width: float, space: RoomSpace, rng: np.random.Generator) -> float:
        if self.where == "facing":
            wanted = (space.items[0].x, space.items[0].z)[spot.side % 2] - width / 2 - spot.start
            return float(np.clip(wanted / max(spot.length - width, 1e-6), 0.0, 1.0))
        if self.where == "middle" or (self.where == "wall" and rng.uniform() < 0.25):
            return 0.5
        return _end(spot, rng)


@dataclass(frozen=True)
class Kitchen:
    """The wish for kitchen units in a row or two along the walls."""

    unless: str = ""

    def grant(self, space: RoomSpace, rng: np.random.Generator, room: str) -> None:
        """See Wish.grant; no kitchen can do without a fridge, a sink and a stove."""
        wanted = kitchen_units(rng)
        for row in range(3):
            if row < 2 or _needed(wanted):
                placed = self._put_row(wanted, space, rng)
                wanted = [unit for unit in wanted if unit not in placed]
        if _needed(wanted):
            raise GenerationError(f"no space for the units of {room}")

    def _put_row(self, wanted: list[Item], space: RoomSpace, rng: np.random.Generator) -> list[Item]:
        spots = sorted(space.spots(0.7, 0.8, 0.6), key=lambda spot: -min(spot.length, _LONGEST_ROW))
        for spot in spots[:3]:
            units, place = _that_fit(wanted, min(spot.length, _LONGEST_ROW)), _end(spot, rng)
            if not units:
                continue
            row = kitchen_row(units, rng, corner_left=(place == 0.0) == (spot.along == 1))
            if space.put_at_wall(row, spot, place):
                return units
        return []


def furnish(plan: Plan, rng: np.random.Generator) -> list[list[Item]]:
    """Furnish every room of a plan.

    Args:
        plan: the floor plan.
        rng: every choice is taken from it.

    Returns:
        The items of each room in the order of the plan's rooms, world coordinates.

    Raises:
        GenerationError: when a room would lack something that it cannot do without.
    """
    house = {planned.room.kind for planned in plan.rooms}
    furnished = []
    for place, planned in enumerate(plan.rooms):
        doors = [door for door in plan.doors if place in door.rooms]
        closed = [plan.entrance] if place in plan.entrance.rooms else []
        space = RoomSpace(planned.interior, doors, closed)
        for wish in _WISHES[planned.room.kind]:
            if wish.unless not in house:
                wish.grant(space, rng, planned.room.name)
        furnished.append(space.items)
    return furnished


def _end(spot: Spot, rng: np.random.Generator) -> float:
    """The end of a stretch of wall that lies in a corner of the room, or either."""
    if spot.corners[0] != spot.corners[1]:
        return 0.0 if spot.corners[0] else 1.0
    return float(rng.integers(2))


def _needed(units: list[Item]) -> bool:
    return any(unit.kind in ("fridge", "sink", "stove", "cooktop") for unit in units)


def _that_fit(wanted: list[Item], length: float) -> list[Item]:
    chosen = []
    for unit in wanted:
        if unit.size[0] + 0.01 <= length:
            chosen.append(unit)
            length -= unit.size[0] + 0.01
    return chosen


_BASKET = Some((single("basket"),), "corner", chance=0.6)
_HEATER = Some((single("heater"),), "middle", chance=0.75)
_PLANT = Some((single("plant"),), "corner", chance=0.5)
_STOOL = Some((single("stool"),), "corner", chance=0.4)
_SOFA_CHAIR = Some((single("sofa chair"),), "corner", chance=0.5)
_FULL, _SMALL = (1.8, 2.2), (1.7, 1.8)

_WISHES: dict[str, tuple[Wish, ...]] = {
    "living room": (
        Some(
            (
                lounge(2, _FULL), lounge(1, _FULL), lounge(1, _SMALL), lounge(0, _SMALL),
                lounge(0, _SMALL, carpet=False), single("sofa", width=_SMALL),
            ),
            "middle",
            needed=True,
        ),
        Some((media,), "facing"),
        Some((dining(2, (1.2, 1.5)), dining(1, (0.8, 0.9)), dining_at_wall), "open", unless="dining room"),
        Some((single("shelf"),), "corner", count=3),
        Some((single("piano"),), chance=0.25),
        _SOFA_CHAIR,
        Some((single("bottom cabinet"),), count=2, chance=0.7),
        Some((single("console table"),), chance=0.4),
        _HEATER, _PLANT, _BASKET, _STOOL,
    ),
    "kitchen": (
        Kitchen(),
        Some((dining(1, (0.8, 0.9)),), "open", chance=0.5, unless="dining room"),
        Some((dining_at_wall,), chance=0.4),
        Some((single("bottom cabinet"),), chance=0.5),
        Some((single("shelf"),), "corner", chance=0.5),
        _HEATER, _STOOL, _BASKET,
    ),
    "dining room": (
        Some(
            (dining(3, (1.6, 1.8), ends=True), dining(3, (1.6, 1.8)), dining(2, (1.2, 1.5)), dining(1, (0.8, 0.9))),
            "open",
            needed=True,
        ),
        Some((single("bottom cabinet"),), count=2),
        Some((single("console table"),), "middle", chance=0.5),
        Some((single("shelf"),), "corner", count=2, chance=0.7),
        _HEATER, _PLANT,
    ),
    "bedroom": (
        Some((bed((1.4, 1.7), 2), bed((1.4, 1.6), 1), bed((1.2, 1.4), 1), bed((0.9, 1.0), 0)), "middle", needed=True),
        Some((single("chest"),), chance=0.7),
        Some((single("bottom cabinet"),), count=2),
        Some((single("shelf"),), "corner", count=2, chance=0.7),
        Some((desk,), chance=0.35),
        _HEATER,
        Some((single("chair"), single("stool")), "corner", chance=0.5),
        _BASKET,
        Some((single("carpet"), single("carpet", width=(0.9, 1.1), depth=(0.5, 0.6))), "open", chance=0.7),
        _PLANT,
    ),
    "childs room": (
        Some((bed((0.9, 1.0), 1), bed((0.9, 1.0), 0)), "corner", needed=True),
        Some((desk,), chance=0.8),
        Some((single("shelf"),), "corner", count=2),
        Some((single("chest"),)),
        Some((single("bottom cabinet"),), chance=0.6),
        _BASKET,
        Some((single("carpet"), single("carpet", width=(0.9, 1.1), depth=(0.6, 0.8))), "open"),
        _HEATER, _STOOL,
    ),
    "bathroom": (
        Some((single("bathtub"),), "corner"),
        Some((toilet(cabinet=True), toilet(cabinet=False)), needed=True),
        Some((washstand, single("sink", width=(0.45, 0.5), depth=(0.38, 0.42))), needed=True),
        Some((laundry("washer"),), "corner", unless="utility room"),
        Some((single("bottom cabinet", width=(0.4, 0.6)),), "corner", chance=0.7),
        _BASKET,
        Some((single("heater", width=(0.5, 0.7)),), "middle", chance=0.75),
        Some((single("shelf", width=(0.4, 0.6)),), "corner", chance=0.4),
        _STOOL,
        Some((single("carpet", width=(0.7, 0.9), depth=(0.5, 0.6)),), "open", chance=0.8),
    ),
    "corridor": (
        Some(
            (single("console table", depth=(0.26, 0.32)), single("heater", width=(0.5, 0.7)), single("stool")),
            needed=True,
        ),
        Some((single("chest", depth=(0.34, 0.38)),), "corner", chance=0.6),
        Some((single("shelf", depth=(0.26, 0.3)),), "corner", chance=0.4),
        _HEATER,
        Some((single("carpet", width=(1.4, 2.0), depth=(0.7, 0.8)),), "open", chance=0.6),
        _STOOL, _BASKET,
    ),
    "home office": (
        Some((desk,), "middle", needed=True),
        Some((single("shelf"),), "corner", count=3),
        Some((single("bottom cabinet"),), chance=0.8),
        Some((single("shredder"),), "corner"),
        _SOFA_CHAIR, _HEATER, _BASKET,
        Some((single("carpet"),), "open", chance=0.4),
        _PLANT,
    ),
    "utility room": (
        Some((laundry("washer", "dryer"), laundry("washer")), "corner", needed=True),
        Some((single("shelf"),), "corner", count=2),
        Some((single("sink"),), chance=0.5),
        Some((single("bottom cabinet"),), "corner", chance=0.7),
        Some((single("basket"),), "corner", count=2),
        _STOOL,
    ),
    "pantry room": (
        Some((single("shelf"),), "corner", count=4, needed=True),
        Some((single("bottom cabinet"),), chance=0.7),
        Some((single("chest"),), "corner", chance=0.3),
        _BASKET, _STOOL,
    ),
    "lobby": (
        Some((single("console table"),), "middle", needed=True),
        Some((single("chest"),), chance=0.7),
        Some((single("shelf"),), "corner", chance=0.4),
        Some((single("chair"), single("stool")), chance=0.7),
        Some((single("carpet", width=(1.1, 1.5), depth=(0.7, 0.9)),), "open", chance=0.8),
        _HEATER, _BASKET, _PLANT,
    ),
    "television room": (
        Some((lounge(1, _FULL), lounge(0, _SMALL), lounge(0, _SMALL, carpet=False)), "middle", needed=True),
        Some((media,), "facing", needed=True),
        Some((single("shelf"),), "corner", count=2),
        Some((single("chest"),), chance=0.4),
        _SOFA_CHAIR, _HEATER, _PLANT, _BASKET,
    ),
}  # fmt: skip
