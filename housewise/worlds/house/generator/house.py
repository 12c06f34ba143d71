"""Generates furnished houses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely

from housewise.worlds.house.generator.furnish import furnish
from housewise.worlds.house.generator.furniture_groups import FurnitureItem
from housewise.worlds.house.generator.furniture_shapes import build_furniture_mesh
from housewise.worlds.house.generator.house_layout import GenerationError, HouseLayout, draw_layout
from housewise.worlds.house.generator.palette import Palette, house_palettes
from housewise.worlds.house.generator.room_program import choose_house_rooms
from housewise.worlds.house.generator.room_space import ROBOT_RADIUS, footprints, walkable_floor
from housewise.worlds.house.generator.structure import build_structure
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.scene import Mesh, Receptacle, Room, Scene
from housewise.worlds.house.spoken_names import spoken_receptacle_name

REACH = 1.2
"""Greatest horizontal distance from a receptacle to the nearest point of the robot's area, metres."""

FEWEST_RECEPTACLES = 20
MAX_RECEPTACLES = 80

_ATTEMPTS = 60


def generate_house(seed: int, rooms: int | None = None) -> Scene:
    """Generate a furnished house. The same seed gives the same house.

    Args:
        seed: Seed of the random number generator, 0 or more.
        rooms: Number of rooms, 3 to 8; by default it is drawn.

    Returns:
        A scene with 20 to 80 receptacles, all within the robot's reach, and the floor at y = 0.

    Raises:
        GenerationError: If all attempts failed.
        ValueError: If the seed is negative or ``rooms`` is not 3 to 8.
    """
    if seed < 0:
        raise ValueError(f"the seed must be 0 or more, not {seed}")
    count = rooms if rooms is not None else int(np.random.default_rng([seed]).integers(3, 9))
    reason = ""
    for attempt in range(_ATTEMPTS):
        try:
            return _house(f"generated-{seed}", count, np.random.default_rng([seed, attempt]))
        except GenerationError as error:
            reason = str(error)
    raise GenerationError(f"no house for seed {seed} in {_ATTEMPTS} attempts, at last: {reason}; try another seed")


def _house(name: str, count: int, rng: np.random.Generator) -> Scene:
    plan = draw_layout(choose_house_rooms(count, rng), rng)
    furniture = furnish(plan, rng)
    number = sum(item.is_receptacle for items in furniture for item in items)
    if not FEWEST_RECEPTACLES <= number <= MAX_RECEPTACLES:
        raise GenerationError(f"{number} receptacles instead of {FEWEST_RECEPTACLES} to {MAX_RECEPTACLES}")
    items = [item for items in furniture for item in items]
    area = reachable_area(plan, items, [item for item in items if item.is_receptacle])
    palettes = house_palettes(count, rng)
    decor = [
        build_furniture_mesh(item.kind, item.size, palette).transform(item.pose)
        for items, palette in zip(furniture, palettes, strict=True)
        for item in items
        if not item.is_receptacle
    ]
    structure = Mesh.join([build_structure(plan, furniture, palettes, rng), *decor])
    rooms = tuple(planned.room for planned in plan.rooms)
    return Scene(name, rooms, _receptacles(rooms, furniture, palettes), structure, NavMesh(area, 0.0))


def _receptacles(
    rooms: Sequence[Room], furniture: Sequence[Sequence[FurnitureItem]], palettes: Sequence[Palette]
) -> tuple[Receptacle, ...]:
    placed = [
        (room, item, palette)
        for room, items, palette in zip(rooms, furniture, palettes, strict=True)
        for item in items
        if item.is_receptacle
    ]
    return tuple(_receptacle(number, *each) for number, each in enumerate(placed))


def _receptacle(number: int, room: Room, item: FurnitureItem, palette: Palette) -> Receptacle:
    key = f"{room.name}-{item.kind}_{number}_0.urdf".replace(" ", "_")
    mesh = build_furniture_mesh(item.kind, item.size, palette)
    return Receptacle(key, spoken_receptacle_name(key), item.kind, room.name, item.pose, mesh)


def reachable_area(plan: HouseLayout, items: Sequence[FurnitureItem], targets: Sequence[FurnitureItem]) -> Any:
    """Return the connected part of the free floor from which the robot reaches all rooms and targets.

    Args:
        plan: The layout of the house.
        items: All furniture.
        targets: Furniture that has to be within reach.

    Raises:
        GenerationError: If there is no such part.
    """
    floors = [
        rect
        for place, planned in enumerate(plan.rooms)
        for rect in walkable_floor(planned.interior, [door for door in plan.doors if place in door.rooms])
    ]
    solids = [item.rect.expand(ROBOT_RADIUS) for item in items if item.blocks]
    free = shapely.union_all([rect.polygon() for rect in floors]).difference(
        shapely.union_all([rect.polygon() for rect in solids])
    )
    thresholds = shapely.points(np.array([door.gap.centre for door in plan.doors]).reshape(-1, 2))
    parts = [part for part in shapely.get_parts(free) if shapely.contains(part, thresholds).all()]
    if not parts:
        raise GenerationError("a room is cut off")
    far = shapely.distance(footprints(targets), parts[0]) > REACH
    if far.any():
        raise GenerationError("a receptacle is out of reach")
    return parts[0]
