"""Builds the mesh of a house without its furniture: walls, floors, doorways, windows and the front door."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from housewise.worlds.house.generator.furniture_groups import FurnitureItem
from housewise.worlds.house.generator.house_layout import WALL, Door, HouseLayout
from housewise.worlds.house.generator.mesh_builder import Color, MeshBuilder
from housewise.worlds.house.generator.palette import GLASS, STEEL, WHITE, Palette, tint
from housewise.worlds.house.generator.rectangles import Rect
from housewise.worlds.house.scene import Mesh

WALL_HEIGHT = 2.5
LINTEL = 2.05

_SKIRTING = 0.08
_TILED = ("kitchen", "bathroom", "utility room", "pantry room", "lobby")
_TILE = (0.45, 0.45)
_BOARD = (1.3, 0.2)

_WINDOW = (0.95, 1.95)
_WIDEST_WINDOW = 1.5
_LEAST_WINDOW = 0.7

_FACADE: Color = (208, 202, 190)
_CAP: Color = (92, 90, 88)
_FRONT_DOOR: Color = (122, 74, 44)
_FRAME: Color = (250, 249, 245)

_OUTSIDE, _SOLID, _DOORWAY = -1, -2, -3


def build_structure(
    plan: HouseLayout,
    furniture: Sequence[Sequence[FurnitureItem]],
    palettes: Sequence[Palette],
    rng: np.random.Generator,
) -> Mesh:
    """Build the mesh of a house without its furniture, world frame.

    Args:
        plan: The layout of the house.
        furniture: Furniture of each room. There are no windows behind high furniture.
        palettes: Colours of each room.
        rng: Random number generator for the tones of floor boards.
    """
    shape = MeshBuilder()
    _add_walls(shape, plan, palettes)
    for planned, palette in zip(plan.rooms, palettes, strict=True):
        _add_floor(shape, planned.interior, planned.room.kind in _TILED, palette.floor, rng)
    for door in plan.doors:
        _add_doorway(shape, plan, door, palettes)
    _add_front_door(shape, plan.entrance)
    for place, items in enumerate(furniture):
        for window in _windows(plan, place, items):
            _add_window(shape, window)
    return shape.mesh()


def _add_walls(shape: MeshBuilder, plan: HouseLayout, palettes: Sequence[Palette]) -> None:
    """Add the faces between walls and rooms, in the colours of the rooms, and the tops of the walls."""
    xs, zs, owner = _cells(plan)
    colors = {place: palette.wall for place, palette in enumerate(palettes)} | {_OUTSIDE: _FACADE, _DOORWAY: WHITE}
    for is_column, lines, ends, grid in ((True, xs, zs, owner), (False, zs, xs, owner.T)):
        for line, start, end, beside in _faces(grid):
            # Counter-clockwise seen from the room, which is on the side that the sign gives.
            along = (ends[end], ends[start]) if is_column == (line < 0) else (ends[start], ends[end])
            points = [(lines[abs(line)], at) if is_column else (at, lines[abs(line)]) for at in along]
            _add_upright(shape, points[0], points[1], colors[beside], beside)
    for column, cells in enumerate(owner):
        for mark, start, end in _runs(cells):
            if mark == _SOLID:
                _add_level(shape, Rect(xs[column], zs[start], xs[column + 1], zs[end]), WALL_HEIGHT, _CAP)


def _cells(plan: HouseLayout) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return a grid through all edges of the layout, and the content of each cell: a room's number or a mark."""
    outer = plan.outline.expand(WALL / 2)
    rects = [outer.expand(1.0), outer, *(planned.interior for planned in plan.rooms), *(d.gap for d in plan.doors)]
    marks = [_OUTSIDE, _SOLID, *range(len(plan.rooms)), *([_DOORWAY] * len(plan.doors))]
    xs = np.unique(np.round([value for rect in rects for value in rect.span(0)], 4))
    zs = np.unique(np.round([value for rect in rects for value in rect.span(1)], 4))
    owner = np.full((len(xs) - 1, len(zs) - 1), _OUTSIDE)
    for rect, mark in zip(rects, marks, strict=True):
        columns, rows = (
            slice(*np.searchsorted(line, np.round(rect.span(axis), 4))) for axis, line in enumerate((xs, zs))
        )
        owner[columns, rows] = mark
    return xs, zs, owner


def _faces(owner: NDArray[np.int64]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the faces between a wall and something else along the first axis.

    Yields:
        Line of the grid (negative if the wall comes before the line), start and end along the second axis, and the
        content of the cells in front of the face.
    """
    for line in range(1, len(owner)):
        before, after = owner[line - 1], owner[line]
        for sign, wall, beside in ((-1, before, after), (1, after, before)):
            looks = np.where((wall == _SOLID) & (beside != _SOLID), beside, _SOLID)
            yield from ((sign * line, start, end, mark) for mark, start, end in _runs(looks) if mark != _SOLID)


def _runs(marks: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    """Yield the mark, start and end of each run of equal marks."""
    start = 0
    for mark, run in groupby(marks.tolist()):
        end = start + sum(1 for _ in run)
        yield mark, start, end
        start = end


def _add_upright(
    shape: MeshBuilder, start: tuple[float, float], end: tuple[float, float], color: Color, beside: int
) -> None:
    """Add the face of a wall, in rooms with a skirting board."""
    (x0, z0), (x1, z1) = start, end
    foot = _SKIRTING if beside >= 0 else 0.0
    bands = [(foot, WALL_HEIGHT, color), (0.0, foot, tint(WHITE, 0.95))][: 2 if foot else 1]
    corners = [[(x0, low, z0), (x1, low, z1), (x1, high, z1), (x0, high, z0)] for low, high, _ in bands]
    shape.quads(corners, [band[2] for band in bands])


def _add_level(shape: MeshBuilder, rect: Rect, height: float, color: Color) -> None:
    shape.quads([_level(rect, height)], [color])


def _level(rect: Rect, height: float) -> list[tuple[float, float, float]]:
    """Return the corners of a horizontal rectangle that is visible from above."""
    return [
        (rect.x0, height, rect.z0), (rect.x0, height, rect.z1), (rect.x1, height, rect.z1), (rect.x1, height, rect.z0),
    ]  # fmt: skip


def _add_floor(
    shape: MeshBuilder, room: Rect, tiled: bool, tones: tuple[Color, Color], rng: np.random.Generator
) -> None:
    """Add a floor of chequered tiles, or of staggered boards of slightly different tones."""
    length, width = _TILE if tiled else _BOARD
    quads, shares = [], []
    for row, z in enumerate(np.arange(room.z0, room.z1, width)):
        shift = 0.0 if tiled else length * float(rng.uniform())
        for column, x in enumerate(np.arange(room.x0 - shift, room.x1, length)):
            piece = Rect(max(x, room.x0), z, min(x + length, room.x1), min(z + width, room.z1))
            quads.append(_level(piece, 0.0))
            shares.append((row + column) % 2 if tiled else float(rng.uniform()))
    share = np.array(shares)[:, None]
    shape.quads(quads, (1 - share) * np.array(tones[0]) + share * np.array(tones[1]))


def _add_doorway(shape: MeshBuilder, plan: HouseLayout, door: Door, palettes: Sequence[Palette]) -> None:
    """Add the floor of a doorway, the wall above it, and a protruding frame."""
    _add_level(shape, door.gap, 0.001, palettes[door.rooms[0]].dark)
    first, second = sorted(door.rooms, key=lambda place: plan.rooms[place].rect.centre[1 - door.axis])
    (low, high), (near, far) = door.gap.span(door.axis), door.gap.span(1 - door.axis)
    for across, place, order in ((near, first, -1), (far, second, 1)):
        ends = [(low, across), (high, across)][:: order if door.axis == 0 else -order]
        (x0, z0), (x1, z1) = ends if door.axis == 0 else [(across, along) for along, across in ends]
        face = [(x0, LINTEL, z0), (x1, LINTEL, z1), (x1, WALL_HEIGHT, z1), (x0, WALL_HEIGHT, z0)]
        shape.quads([face], [palettes[place].wall])
    _add_level(shape, door.gap, WALL_HEIGHT, _CAP)
    rim = door.expand(0.012, 0.0)
    # The frame reaches 1 cm into the gap so that no two faces lie in one plane.
    for start, end in ((low - 0.05, low + 0.01), (high - 0.01, high + 0.05)):
        x, z = ((start, end), rim.span(1)) if door.axis == 0 else (rim.span(0), (start, end))
        shape.box(x, (0.0, LINTEL + 0.05), z, _FRAME)
    beam = door.expand(0.011, -0.01)
    shape.box(beam.span(0), (LINTEL - 0.01, LINTEL + 0.05), beam.span(1), _FRAME)


def _add_front_door(shape: MeshBuilder, door: Door) -> None:
    leaf = door.expand(0.02, 0.0)
    shape.box((leaf.x0, leaf.x1), (0.0, 2.05), (leaf.z0, leaf.z1), _FRONT_DOOR)
    panel = door.expand(0.03, -0.15)
    for low, high in ((0.2, 0.9), (1.15, 1.85)):
        shape.box((panel.x0, panel.x1), (low, high), (panel.z0, panel.z1), tint(_FRONT_DOOR, 1.2))
    grip = door.expand(0.07, -0.08)
    width, depth = (0.05, grip.depth) if door.axis == 0 else (grip.width, 0.05)
    shape.box((grip.x0, grip.x0 + width), (1.0, 1.05), (grip.z0, grip.z0 + depth), STEEL)


def _windows(plan: HouseLayout, place: int, items: Sequence[FurnitureItem]) -> Iterator[Door]:
    """Yield the gaps for windows in a room's outer walls where no high furniture is in front of them."""
    room = plan.rooms[place]
    for axis in (0, 1):
        for line in room.rect.span(1 - axis):
            if line not in plan.outline.span(1 - axis):
                continue
            start, end = room.interior.span(axis)
            taken = [item.rect.span(axis) for item in items if item.top > 0.95 and _is_near(item.rect, line, axis)]
            if place in plan.entrance.rooms and plan.entrance.axis == axis and _is_near(plan.entrance.gap, line, axis):
                taken.append(plan.entrance.gap.span(axis))
            stretches = [stretch for stretch in _gaps(start, end, taken) if stretch[1] - stretch[0] >= _LEAST_WINDOW]
            for low, high in sorted(stretches, key=lambda stretch: stretch[0] - stretch[1])[:2]:
                middle, width = (low + high) / 2, min(high - low, _WIDEST_WINDOW)
                across, along = (line - WALL / 2, line + WALL / 2), (middle - width / 2, middle + width / 2)
                yield Door((place, place), Rect.from_spans(axis, along, across), axis)


def _is_near(rect: Rect, line: float, axis: int) -> bool:
    low, high = rect.span(1 - axis)
    return low - 0.4 < line < high + 0.4


def _gaps(start: float, end: float, taken: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield the free parts of an interval, 15 cm away from its ends and from the occupied parts."""
    at = start
    for low, high in [*sorted(taken), (end, end)]:
        if low - at > 0.3:
            yield at + 0.15, low - 0.15
        at = max(at, high)


def _add_window(shape: MeshBuilder, window: Door) -> None:
    low, high = _WINDOW
    frame, pane = window.expand(0.012, 0.0), window.expand(0.016, -0.05)
    shape.box((frame.x0, frame.x1), (low, high), (frame.z0, frame.z1), WHITE)
    shape.box((pane.x0, pane.x1), (low + 0.05, high - 0.05), (pane.z0, pane.z1), GLASS)
    x, z = window.gap.centre
    bar = window.expand(0.02, 0.0)
    if window.axis == 0:
        shape.box((x - 0.02, x + 0.02), (low, high), (bar.z0, bar.z1), WHITE)
    else:
        shape.box((bar.x0, bar.x1), (low, high), (z - 0.02, z + 0.02), WHITE)
