"""Draws the layout of a lab: seven rooms and a corridor, the places of devices and furniture, colours and light.

The floor plan, the free space of rooms and the mesh of the building come from the house generator. Layouts for training
and for tests differ in their floor plans, walls, floors, woods and light. Colours of devices never vary: people know
the devices by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import shapely

from housewise.worlds.house.generator.furnish import GroupRequest, RoomRequest, furnish
from housewise.worlds.house.generator.furniture_groups import FurnitureGroup, FurnitureItem, single
from housewise.worlds.house.generator.furniture_shapes import build_furniture_mesh
from housewise.worlds.house.generator.furniture_sizes import random_size
from housewise.worlds.house.generator.house import reachable_area
from housewise.worlds.house.generator.house_layout import Door, GenerationError, HouseLayout, PlannedRoom, draw_layout
from housewise.worlds.house.generator.mesh_builder import Color, MeshBuilder
from housewise.worlds.house.generator.palette import Palette, room_palette
from housewise.worlds.house.generator.rectangles import Rect
from housewise.worlds.house.generator.room_program import RoomProgram, door_costs
from housewise.worlds.house.generator.room_space import RoomSpace, WallStretch
from housewise.worlds.house.generator.structure import WALL_HEIGHT, build_structure
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.scene import Mesh
from housewise.worlds.lab.device_shapes import STAND_HEIGHT
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.scenarios import Split
from housewise.worlds.lab.situation import FLIPPER
from housewise.worlds.lab.state import ROOMS, Thing

CORRIDOR = "corridor"
DANGER_RADIUS = 1.2
"""Nobody may come closer than this to the active gravity flipper, metres."""

LAB = RoomProgram(
    areas={
        "break room": (18, 22), "main office": (28, 34), "manager's office": (14, 17), "warehouse": (24, 30),
        "reception": (18, 22), "robotics lab": (24, 28), "quantum lab": (38, 44),
    },
    least_sides={
        "break room": 3.2, "main office": 3.6, "manager's office": 2.8, "warehouse": 3.8, "reception": 3.4,
        "robotics lab": 4.0, "quantum lab": 4.6, "corridor": 1.3,
    },
    day=("reception", "main office"),
    through=("corridor", "reception", "main office"),
    open=("reception", "main office"),
    entrances=("reception", "main office", "corridor"),
    door_costs=door_costs(
        {
            0.5: ("corridor - reception", "reception - main office", "corridor - main office"),
            1.0: (
                "corridor - break room", "corridor - manager's office", "corridor - warehouse",
                "corridor - robotics lab", "corridor - quantum lab",
            ),
            3.0: ("main office - manager's office", "reception - break room"),
        }
    ),
)  # fmt: skip
"""The rooms of the lab. Reception and main office stand at one end of the corridor, the others along its sides."""

SAFETY_MARGIN = 0.15
"""People who know the danger keep this much more distance from the active gravity flipper, metres."""

_SAFE_REACH = 1.2
_CEILING: Color = (232, 232, 228)
_LAMP: Color = (255, 255, 248)
_ATTEMPTS = 80
_SPLITS: dict[Split, int] = {"training": 0, "test": 1}
# Sectors of the circle of hues: walls and floors for training have even ones, those for tests odd ones.
_SECTORS = 12
_WOODS: dict[Split, tuple[Color, ...]] = {
    "training": ((176, 130, 84), (205, 170, 125), (139, 94, 60)),
    "test": ((198, 190, 178), (110, 74, 52), (160, 104, 72)),
}
# Brightness, and share of warm (positive) or cold light.
_LIGHT: dict[Split, tuple[tuple[float, float], tuple[float, float]]] = {
    "training": ((0.94, 1.04), (0.0, 0.05)),
    "test": ((0.84, 0.93), (-0.06, -0.01)),
}


def _picture(rng: np.random.Generator) -> FurnitureGroup:
    size = random_size("picture", rng)
    return FurnitureGroup((FurnitureItem("picture", size, z=size[2] / 2, base=1.55),), 0.0)


_DECOR: tuple[RoomRequest, ...] = (
    GroupRequest((single("plant"),), "corner", chance=0.5),
    GroupRequest((_picture,), "middle", count=2, chance=0.6),
)


@dataclass(frozen=True, eq=False)
class LabLayout:
    """The layout of a lab.

    Attributes:
        plan: Rooms, walls and doors.
        fixtures: Place of each device and piece of furniture by id, in the world frame.
        palettes: Colours of each room.
        light: Factor of the light of each room, RGB.
        structure: Mesh of walls, floors, ceilings and decoration, world frame.
        navmesh: Area of the person's centre.
        style: Style of the furniture: 0 in training, 1 in tests.
    """

    plan: HouseLayout
    fixtures: Mapping[str, FurnitureItem]
    palettes: Mapping[str, Palette]
    light: Mapping[str, tuple[float, float, float]]
    structure: Mesh
    navmesh: NavMesh
    style: int

    @property
    def rooms(self) -> tuple[PlannedRoom, ...]:
        """The rooms and the corridor."""
        return self.plan.rooms

    def room_at(self, x: float, z: float) -> str:
        """Return the room at a point, or the nearest one within a doorway."""
        return min(self.rooms, key=lambda planned: planned.interior.polygon().distance(shapely.Point(x, z))).room.kind

    def interior(self, room: str) -> Rect:
        """Return the floor of a room, without its walls."""
        return next(planned.interior for planned in self.rooms if planned.room.kind == room)

    def doors_of(self, room: str) -> list[Door]:
        """Return the doors of a room."""
        return [door for door in self.plan.doors if room in (self.rooms[place].room.kind for place in door.rooms)]


@dataclass(frozen=True)
class Mounting:
    """How a kind of fixture is placed.

    Attributes:
        base: Height of its lower edge above the floor, metres.
        near: Kind that it stands near, or ``"door"``.
        apart: Least distance from that kind, metres.
        front: Free depth in front of it, metres.
        is_open: Whether it may stand away from the walls.
        margin: Free space on both sides, metres.
    """

    base: float = 0.0
    near: str = ""
    apart: float = 0.0
    front: float = 0.6
    is_open: bool = False
    margin: float = 0.0


_MACHINES = {
    "laser_monitor": "laser_cannon", "freeze_ray_monitor": "freeze_ray", "embiggenator_monitor": "embiggenator",
    "portal_generator_monitor": "portal_generator",
}  # fmt: skip
MOUNTINGS: dict[str, Mounting] = {
    **{monitor: Mounting(STAND_HEIGHT, machine, front=0.7, margin=0.1) for monitor, machine in _MACHINES.items()},
    "gravity_flipper_monitor": Mounting(STAND_HEIGHT, FLIPPER, apart=2.1, front=0.7, margin=0.1),
    "reception_computer": Mounting(STAND_HEIGHT, "desk", margin=0.1),
    "printer": Mounting(STAND_HEIGHT),
    "time_machine": Mounting(STAND_HEIGHT, "counter"),
    "coffee_unmaker": Mounting(STAND_HEIGHT, "counter", margin=0.08),
    "fuse_box": Mounting(1.1, front=1.0),
    "red_shelf": Mounting(1.0, "door"),
    "blue_shelf": Mounting(1.0),
    "dart_board": Mounting(1.2, front=1.0),
    "table": Mounting(is_open=True),
    "crate": Mounting(is_open=True),
}
"""How kinds of fixtures are placed; others stand at a wall."""


@dataclass(frozen=True)
class FixtureRequest:
    """A request for one device or piece of furniture; implements furnish.RoomRequest.

    Attributes:
        kind: Key of its kind.
        mounting: How it is placed.
    """

    kind: str
    mounting: Mounting
    unless: str = ""

    def place(self, space: RoomSpace, rng: np.random.Generator, room: str) -> None:
        """See GroupRequest.place."""
        mounting = self.mounting
        width, height, depth = KINDS[self.kind].size
        size = (width + 2 * mounting.margin, height, depth)
        item = FurnitureItem(self.kind, size, z=size[2] / 2, base=mounting.base)
        group = FurnitureGroup((item,), mounting.front)
        if mounting.is_open and space.put_in_the_open(group, 0.7, rng):
            return
        spots = [
            (self._cost(space, spot, share, group, rng), spot.side, spot.start, share, spot)
            for spot in space.wall_stretches(size[2], mounting.front, size[0])
            for share in (0.0, 0.25, 0.5, 0.75, 1.0)
        ]
        for cost, *_, share, spot in sorted(spots, key=lambda each: each[:4])[:12]:
            if np.isfinite(cost) and space.put_at_wall(group, spot, share):
                return
        raise GenerationError(f"no space for the {KINDS[self.kind].name} of the {room}")

    def _cost(
        self, space: RoomSpace, spot: WallStretch, share: float, group: FurnitureGroup, rng: np.random.Generator
    ) -> float:
        """Return the distance from what it should be near, or a random cost that prefers corners."""
        room, width, depth = space.interior, group.rect.width, group.rect.depth
        along = spot.start + share * (spot.length - width) + width / 2
        across = (room.z0 + depth / 2, room.x0 + depth / 2, room.z1 - depth / 2, room.x1 - depth / 2)[spot.side]
        x, z = (along, across) if spot.side % 2 == 0 else (across, along)
        goals = (
            [shapely.Point(point) for point in space.thresholds]
            if self.mounting.near == "door"
            else [item.rect.polygon() for item in space.items if item.kind == self.mounting.near]
        )
        if not goals:
            # Things in corners leave the rest of the wall for others.
            return float(rng.uniform()) + (0.0 if share in (0.0, 1.0) else 0.5)
        distance = min(goal.distance(shapely.Point(x, z)) for goal in goals)
        return distance if distance >= self.mounting.apart else np.inf


def draw_lab_layout(fixtures: Iterable[Thing], seed: int, split: Split) -> LabLayout:
    """Draw the layout of a lab. The same arguments give the same layout.

    Args:
        fixtures: Devices and furniture that stand on the floor or hang at a wall, with their rooms.
        seed: Seed of the random number generator, 0 or more.
        split: Whether the layout is for training or for tests.

    Raises:
        GenerationError: If there is no space for all of them.
    """
    wanted = tuple(sorted((thing.room, thing.kind, thing.id) for thing in fixtures))
    return _draw(wanted, seed, split)


@lru_cache(maxsize=32)
def _draw(fixtures: tuple[tuple[str, str, str], ...], seed: int, split: Split) -> LabLayout:
    reason = ""
    for attempt in range(_ATTEMPTS):
        try:
            return _attempt(fixtures, np.random.default_rng([seed, _SPLITS[split], attempt]), split)
        except GenerationError as error:
            reason = str(error)
    raise GenerationError(f"no lab for seed {seed} in {_ATTEMPTS} attempts, at last: {reason}; try another seed")


def _attempt(fixtures: Sequence[tuple[str, str, str]], rng: np.random.Generator, split: Split) -> LabLayout:
    plan = draw_layout([*ROOMS, CORRIDOR], rng, LAB)
    requests = {room: (*_requests(kind for place, kind, _ in fixtures if place == room), *_DECOR) for room in ROOMS}
    furniture = furnish(plan, rng, requests)
    placed: dict[str, FurnitureItem] = {}
    for planned, items in zip(plan.rooms, furniture, strict=True):
        for room, kind, id in fixtures:
            if room == planned.room.kind:
                placed[id] = next(item for item in items if item.kind == kind and item not in placed.values())
    area = reachable_area(plan, [item for items in furniture for item in items], list(placed.values()))
    _check_danger(area, placed, plan)
    palettes = _palettes(plan, split, rng)
    decor = [
        build_furniture_mesh(item.kind, item.size, palette).transform(item.pose)
        for items, palette in zip(furniture, palettes, strict=True)
        for item in items
        if item.kind not in KINDS
    ]
    structure = Mesh.join([build_structure(plan, furniture, palettes, rng), _ceilings(plan), *decor])
    names = [planned.room.kind for planned in plan.rooms]
    light = {name: _light(split, rng) for name in names}
    colors = dict(zip(names, palettes, strict=True))
    return LabLayout(plan, placed, colors, light, structure, NavMesh(area, 0.0), _SPLITS[split])


def _requests(kinds: Iterable[str]) -> list[RoomRequest]:
    """Return requests for the fixtures of a room, those with the most special places and the largest first."""

    def order(kind: str) -> tuple[bool, bool, float, str]:
        near, (width, _, depth) = MOUNTINGS.get(kind, Mounting()).near, KINDS[kind].size
        return near not in ("", "door"), near != "door", -width * depth, kind

    return [FixtureRequest(kind, MOUNTINGS.get(kind, Mounting())) for kind in sorted(kinds, key=order)]


def _check_danger(area: Any, placed: Mapping[str, FurnitureItem], plan: HouseLayout) -> None:
    """Check that everything but the gravity flipper can be reached while nobody may go near it.

    Raises:
        GenerationError: If something cannot be reached.
    """
    flippers = [item.rect.polygon() for item in placed.values() if item.kind == FLIPPER]
    for flipper in flippers:
        safe = area.difference(flipper.buffer(DANGER_RADIUS + SAFETY_MARGIN))
        whole = max(getattr(safe, "geoms", [safe]), key=lambda part: part.area)
        doors = shapely.points([door.gap.centre for door in plan.doors])
        others = [item.rect.polygon() for item in placed.values() if item.kind != FLIPPER]
        if not shapely.contains(whole, doors).all() or (shapely.distance(others, whole) > _SAFE_REACH).any():
            raise GenerationError("the active gravity flipper cuts off a part of its room")


def _palettes(plan: HouseLayout, split: Split, rng: np.random.Generator) -> list[Palette]:
    """Draw the colours of each room; hues and woods depend on the split.

    There are six sectors of hues and seven rooms, so that two rooms may have similar hues.
    """
    count = len(plan.rooms)
    sectors = 2 * rng.permutation(max(count, _SECTORS // 2))[:count] % _SECTORS + _SPLITS[split]
    woods = [_WOODS[split][pick] for pick in rng.choice(len(_WOODS[split]), size=2, replace=False)]
    return [room_palette((sector + rng.uniform(0.1, 0.9)) / _SECTORS, woods, rng, 0.16) for sector in sectors]


def _light(split: Split, rng: np.random.Generator) -> tuple[float, float, float]:
    brightness, warmth = (float(rng.uniform(*limits)) for limits in _LIGHT[split])
    return brightness * (1 + warmth), brightness, brightness * (1 - warmth)


def _ceilings(plan: HouseLayout) -> Mesh:
    """Build the ceilings of all rooms, with lamps. They are visible from below only."""
    shape = MeshBuilder()
    for planned in plan.rooms:
        room = planned.rect
        shape.quads([_face_down(room, WALL_HEIGHT)], [_CEILING])
        x, z = room.centre
        lamp = Rect.from_centre(x, z, min(1.2, 0.4 * room.width), min(1.2, 0.4 * room.depth))
        shape.quads([_face_down(lamp, WALL_HEIGHT - 0.02)], [_LAMP])
    return shape.mesh()


def _face_down(rect: Rect, height: float) -> list[tuple[float, float, float]]:
    corners = ((rect.x0, rect.z0), (rect.x1, rect.z0), (rect.x1, rect.z1), (rect.x0, rect.z1))
    return [(x, height, z) for x, z in corners]
