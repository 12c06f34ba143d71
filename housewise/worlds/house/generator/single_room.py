"""Builds a house of one room with given furniture, in two rows along opposite walls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from housewise.worlds.house.generator.furniture_groups import FurnitureItem
from housewise.worlds.house.generator.furniture_shapes import build_furniture_mesh
from housewise.worlds.house.generator.house import reachable_area
from housewise.worlds.house.generator.house_layout import WALL, Door, HouseLayout, PlannedRoom
from housewise.worlds.house.generator.palette import Palette, house_palettes
from housewise.worlds.house.generator.rectangles import Rect
from housewise.worlds.house.generator.structure import build_structure
from housewise.worlds.house.geometry import Vec3
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.scene import Receptacle, Room, Scene

_BETWEEN = 0.25
_AISLE = 2.0
_DOOR = 0.95
_COLOR_SEED = 0


@dataclass(frozen=True)
class FurniturePiece:
    """A piece of furniture.

    Attributes:
        name: Spoken name, unique in the room; also its key.
        kind: Kind, which decides its shape; see housewise.worlds.house.generator.furniture_sizes.SIZES.
        size: Width, height and depth, metres.
    """

    name: str
    kind: str
    size: Vec3


def build_single_room(name: str, kind: str, pieces: Sequence[FurniturePiece]) -> Scene:
    """Build a scene of one furnished room, with the floor at y = 0. The same pieces give the same room.

    Args:
        name: Name of the scene.
        kind: Kind of the room.
        pieces: Furniture, with an aisle of 2 m between the rows.

    Raises:
        KeyError: If the kind of a piece is unknown.
        GenerationError: If the robot cannot reach a piece.
    """
    items, inside = _rows(pieces)
    planned = PlannedRoom(Room(f"{kind} 0", kind), inside.expand(WALL / 2))
    plan = HouseLayout((planned,), (), _entrance(planned.rect), planned.rect)
    rng = np.random.default_rng(_COLOR_SEED)
    [palette] = house_palettes(1, rng)
    structure = build_structure(plan, [items], [palette], rng)
    receptacles = tuple(
        _receptacle(piece, item, planned.room, palette) for piece, item in zip(pieces, items, strict=True)
    )
    return Scene(name, (planned.room,), receptacles, structure, NavMesh(reachable_area(plan, items, items), 0.0))


def _rows(pieces: Sequence[FurniturePiece]) -> tuple[list[FurnitureItem], Rect]:
    """Place the pieces alternately at two walls; return them and the floor between the walls."""
    depth = 2 * max(piece.size[2] for piece in pieces) + _AISLE
    items, ends = list[FurnitureItem](), [_BETWEEN, _BETWEEN]
    for number, piece in enumerate(pieces):
        row, (width, _, back) = number % 2, piece.size
        z = depth - back / 2 if row else back / 2
        items.append(FurnitureItem(piece.kind, piece.size, ends[row] + width / 2, z, quarter=2 * row))
        ends[row] += width + _BETWEEN
    return items, Rect(0.0, 0.0, round(max(ends), 2), round(depth, 2))


def _entrance(rect: Rect) -> Door:
    middle = rect.centre[1]
    return Door((0, 0), Rect(rect.x1 - WALL / 2, middle - _DOOR / 2, rect.x1 + WALL / 2, middle + _DOOR / 2), 1)


def _receptacle(piece: FurniturePiece, item: FurnitureItem, room: Room, palette: Palette) -> Receptacle:
    mesh = build_furniture_mesh(piece.kind, piece.size, palette)
    return Receptacle(piece.name, piece.name, piece.kind, room.name, item.pose, mesh)
