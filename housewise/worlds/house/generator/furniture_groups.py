"""Makes groups of furniture that are placed together, such as a table with its chairs.

The frame of a group has x along the wall, z away from it, and the middle of the group's back edge at the origin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from housewise.worlds.house.generator.furniture_sizes import SIZES, TOP_CABINET_BASE, random_size
from housewise.worlds.house.generator.rectangles import Rect, rotate_quarters
from housewise.worlds.house.geometry import Pose, Vec3, yaw_rotation

ROBOT_HEIGHT = 1.5

FLAT = 0.1
"""The robot can drive over furniture that is lower than this, metres."""

_FRONT_SPACE = {
    "basket": 0.1, "carpet": 0.0, "heater": 0.1, "plant": 0.0, "shredder": 0.1, "stool": 0.1, "bathtub": 0.4,
    "chair": 0.3, "sofa chair": 0.4, "shelf": 0.5, "top cabinet": 0.5, "piano": 0.7,
}  # fmt: skip
_USUAL_FRONT_SPACE = 0.55
_SEAM = 0.002

Range = tuple[float, float]


@dataclass(frozen=True)
class FurnitureItem:
    """A piece of furniture, in the frame of its group or, once the group is placed, in the world frame.

    Attributes:
        kind: Kind of receptacle or of decoration.
        size: Width, height and depth before the rotation, metres.
        x: Centre along the wall, metres.
        z: Centre away from the wall, metres.
        quarter: Number of quarter turns about y; 0 faces away from the wall.
        base: Height of its lower side above the floor, metres.
    """

    kind: str
    size: Vec3
    x: float = 0.0
    z: float = 0.0
    quarter: int = 0
    base: float = 0.0

    @property
    def rect(self) -> Rect:
        """The footprint."""
        width, depth = (self.size[0], self.size[2]) if self.quarter % 2 == 0 else (self.size[2], self.size[0])
        return Rect.from_centre(self.x, self.z, width, depth)

    @property
    def top(self) -> float:
        """Height of its upper side above the floor, metres."""
        return self.base + self.size[1]

    @property
    def blocks(self) -> bool:
        """Whether the robot cannot drive over or under it."""
        return self.top > FLAT and self.base < ROBOT_HEIGHT

    @property
    def pose(self) -> Pose:
        """Pose of its centre, once its group is placed."""
        return Pose((self.x, self.base + self.size[1] / 2, self.z), yaw_rotation(self.quarter * np.pi / 2))

    @property
    def is_receptacle(self) -> bool:
        """Whether objects can be placed on it; all other pieces are decoration."""
        return self.kind in SIZES

    def transform(self, x: float, z: float, quarter: int) -> FurnitureItem:
        """Return the piece after its group is rotated by quarter turns and moved to (x, z)."""
        own = rotate_quarters(self.x, self.z, quarter)
        return replace(self, x=own[0] + x, z=own[1] + z, quarter=(self.quarter + quarter) % 4)


@dataclass(frozen=True)
class FurnitureGroup:
    """Furniture that is placed together.

    Attributes:
        items: Pieces in the frame of the group.
        front: Depth in metres to keep free in front of the group.
    """

    items: tuple[FurnitureItem, ...]
    front: float

    @property
    def rect(self) -> Rect:
        """The bounding rectangle of all footprints."""
        return Rect.bounding([item.rect for item in self.items])

    @property
    def is_flat(self) -> bool:
        """Whether the robot can drive over or under every piece."""
        return not any(item.blocks for item in self.items)


GroupMaker = Callable[[np.random.Generator], FurnitureGroup]


def single(kind: str, *, width: Range | None = None, depth: Range | None = None) -> GroupMaker:
    """Return a maker of one piece. ``width`` and ``depth`` replace the usual ranges of its kind, metres."""

    def make(rng: np.random.Generator) -> FurnitureGroup:
        usual = random_size(kind, rng)
        size = (_within(width, rng) if width else usual[0], usual[1], _within(depth, rng) if depth else usual[2])
        return FurnitureGroup((_at_wall(kind, size),), _FRONT_SPACE.get(kind, _USUAL_FRONT_SPACE))

    return make


def bed(width: Range, tables: int) -> GroupMaker:
    """Return a maker of a bed with up to two bedside tables and a picture above."""

    def make(rng: np.random.Generator) -> FurnitureGroup:
        _, height, depth = random_size("bed", rng)
        items = [_at_wall("bed", (_within(width, rng), height, depth))]
        side = (_within((0.4, 0.48), rng), _within((0.46, 0.54), rng), 0.38)
        for sign in (-1, 1)[:tables]:
            items.append(_at_wall("table", side, sign * (items[0].size[0] / 2 + 0.03 + side[0] / 2)))
        return FurnitureGroup((*items, _on_wall("picture", 1.5, rng)), 0.5)

    return make


def desk(rng: np.random.Generator) -> FurnitureGroup:
    """Make a table at the wall with an office chair in front of it."""
    table = _at_wall("table", (_within((1.1, 1.5), rng), 0.74, _within((0.6, 0.7), rng)))
    chair = random_size("office chair", rng)
    return FurnitureGroup(
        (table, FurnitureItem("office chair", chair, z=table.size[2] + 0.04 + chair[2] / 2, quarter=2)), 0.3
    )


def dining(seats: int, length: Range, *, ends: bool = False) -> GroupMaker:
    """Return a maker of a table with ``seats`` chairs on each long side and, with ``ends``, one at each end."""

    def make(rng: np.random.Generator) -> FurnitureGroup:
        _, height, depth = random_size("table", rng)
        width, chair = _within(length, rng), random_size("chair", rng)
        away = 0.03 + chair[2] / 2
        items = [FurnitureItem("table", (width, height, depth))]
        for place in range(seats):
            x = (place + 0.5) * width / seats - width / 2
            items.append(FurnitureItem("chair", chair, x, -depth / 2 - away))
            items.append(FurnitureItem("chair", chair, x, depth / 2 + away, quarter=2))
        if ends:
            items.append(FurnitureItem("chair", chair, -width / 2 - away, quarter=1))
            items.append(FurnitureItem("chair", chair, width / 2 + away, quarter=3))
        return FurnitureGroup(tuple(items), 0.0)

    return make


def dining_at_wall(rng: np.random.Generator) -> FurnitureGroup:
    """Make a small table with one end at the wall and a chair on either side."""
    table = _at_wall("table", (_within((0.75, 0.85), rng), 0.74, _within((0.8, 1.0), rng)))
    chair = random_size("chair", rng)
    away = table.size[0] / 2 + 0.03 + chair[2] / 2
    return FurnitureGroup(
        (table, *(FurnitureItem("chair", chair, sign * away, table.z, quarter=2 + sign) for sign in (-1, 1))), 0.3
    )


def lounge(chairs: int, width: Range, *, carpet: bool = True) -> GroupMaker:
    """Return a maker of a sofa with a coffee table in front of it and up to two chairs at the table's ends."""

    def make(rng: np.random.Generator) -> FurnitureGroup:
        _, height, depth = random_size("sofa", rng)
        table, seat = random_size("coffee table", rng), random_size("sofa chair", rng)
        middle = depth + 0.42 + table[2] / 2
        items = [_at_wall("sofa", (_within(width, rng), height, depth)), FurnitureItem("coffee table", table, z=middle)]
        for sign in (-1, 1)[:chairs]:
            away = table[0] / 2 + 0.42 + seat[2] / 2
            items.append(FurnitureItem("sofa chair", seat, sign * away, middle, quarter=2 + sign))
        if carpet:
            items.append(FurnitureItem("carpet", (round(table[0] + 0.76, 2), 0.02, round(table[2] + 0.8, 2)), z=middle))
        return FurnitureGroup((*items, _on_wall("picture", 1.5, rng)), 0.4)

    return make


def media(rng: np.random.Generator) -> FurnitureGroup:
    """Make a low console with a television on the wall above it."""
    console = (_within((1.2, 1.6), rng), 0.5, _within((0.34, 0.4), rng))
    return FurnitureGroup((_at_wall("console table", console), _on_wall("television", 0.95, rng)), 0.6)


def washstand(rng: np.random.Generator) -> FurnitureGroup:
    """Make a sink with a mirror above it."""
    return FurnitureGroup((_at_wall("sink", random_size("sink", rng)), _on_wall("mirror", 1.3, rng)), 0.5)


def toilet(*, cabinet: bool) -> GroupMaker:
    """Return a maker of a toilet with or without a small cabinet above it."""

    def make(rng: np.random.Generator) -> FurnitureGroup:
        items = [_at_wall("toilet", random_size("toilet", rng))]
        if cabinet:
            _, height, depth = random_size("top cabinet", rng)
            items.append(_at_wall("top cabinet", (0.5, height, depth), base=TOP_CABINET_BASE))
        return FurnitureGroup(tuple(items), 0.5)

    return make


def laundry(*kinds: str) -> GroupMaker:
    """Return a maker of machines side by side with a top cabinet above each."""

    def make(rng: np.random.Generator) -> FurnitureGroup:
        row = _in_a_row(_at_wall(kind, random_size(kind, rng)) for kind in kinds)
        return FurnitureGroup((*row, *_top_cabinets(row, rng)), 0.6)

    return make


def kitchen_units(rng: np.random.Generator) -> list[FurnitureItem]:
    """Make the units of a kitchen, the most important ones first. All worktops have one height and depth."""

    def low(kind: str, least: float, most: float, height: float = 0.88) -> FurnitureItem:
        return _at_wall(kind, (_within((least, most), rng), height, 0.6))

    def high(kind: str) -> FurnitureItem:
        return _at_wall(kind, random_size(kind, rng))

    built_in = rng.uniform() < 0.5
    stove = low("cooktop" if built_in else "stove", 0.6, 0.64)
    first = [high("fridge"), low("sink", 0.65, 0.85, 0.98), stove, low("counter", 0.7, 1.0)]
    then = [low("dishwasher", 0.6, 0.6), *([high("oven")] if built_in else []), low("counter", 0.6, 1.0)]
    last = [high("microwave"), high("coffee machine"), low("counter", 0.6, 0.9), low("bottom cabinet", 0.6, 0.9)]
    return [*first, *then, *(last[pick] for pick in rng.permutation(len(last)))]


def kitchen_row(units: Sequence[FurnitureItem], rng: np.random.Generator, *, corner_left: bool) -> FurnitureGroup:
    """Make a row of kitchen units with cabinets above.

    Args:
        units: Units in any order. Worktops are put between the sink and the stove, and high units at one end.
        rng: Random number generator for the sizes of the cabinets.
        corner_left: Whether the room's corner is at the least x. High units are put at the other end.
    """
    high = [unit for unit in units if unit.top > 1.0]
    water = [unit for unit in units if unit.kind in ("sink", "dishwasher")]
    fire = [unit for unit in units if unit.kind in ("stove", "cooktop")]
    tops = [unit for unit in units if unit not in [*high, *water, *fire]]
    order = [*tops[2:], *water, *tops[:1], *fire, *tops[1:2], *high]
    row = _in_a_row(order if corner_left else order[::-1])
    hoods = [
        FurnitureItem("hood", (item.size[0], 0.5, 0.4), item.x, 0.2, base=1.55) for item in row if item.kind in _HOT
    ]
    return FurnitureGroup((*row, *_top_cabinets(row, rng), *hoods), 0.8)


_HOT = ("stove", "cooktop")
_BELOW_CABINETS = ("counter", "dishwasher", "washer", "dryer", "bottom cabinet")


def _top_cabinets(row: Sequence[FurnitureItem], rng: np.random.Generator) -> list[FurnitureItem]:
    _, height, depth = random_size("top cabinet", rng)
    return [
        _at_wall("top cabinet", (item.size[0], height, depth), item.x, TOP_CABINET_BASE)
        for item in row
        if item.kind in _BELOW_CABINETS
    ]


def _in_a_row(items: Iterable[FurnitureItem]) -> list[FurnitureItem]:
    """Move items side by side, with their backs in one line and the middle of the row at x = 0."""
    row, end = [], 0.0
    for item in items:
        row.append(replace(item, x=end + item.size[0] / 2))
        end += item.size[0] + _SEAM
    return [replace(item, x=item.x - (end - _SEAM) / 2) for item in row]


def _at_wall(kind: str, size: Vec3, x: float = 0.0, base: float = 0.0) -> FurnitureItem:
    return FurnitureItem(kind, size, x, size[2] / 2, base=base)


def _on_wall(kind: str, base: float, rng: np.random.Generator) -> FurnitureItem:
    return _at_wall(kind, random_size(kind, rng), base=base)


def _within(limits: Range, rng: np.random.Generator) -> float:
    return round(float(rng.uniform(*limits)), 2)
