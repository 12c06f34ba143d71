"""Infers the walls of a house from its navigation mesh, for scenes without a shell.

A navigation mesh excludes furniture and walls. Grown by the robot's radius and joined with the footprints of the
furniture, it is the free floor, and its boundary is the walls.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely
from shapely.geometry import MultiPolygon, Polygon

from housewise.worlds.house.geometry import Box
from housewise.worlds.house.scene import Mesh
from housewise.worlds.house.solids import wall_mesh

# Recast erodes the floor by the robot's radius of 0.18 m, rounded up to whole cells of 0.05 m.
_ERODED = 0.2
# Gap between furniture and the floor around it; at real walls the gap is wider.
_GAP = 0.034
_SLIVER = 0.02
_NICHE = 0.3
_HEAD_HEIGHT = 1.7
_WALL_COLOR = (222, 216, 205)
_FLOOR_COLORS = ((176, 146, 112), (168, 137, 103))
_BOARD = 0.5


def infer_free_floor(area: Polygon, furniture: Sequence[Box], hanging: Sequence[Box] = ()) -> Polygon | MultiPolygon:
    """Infer the floor between the walls.

    Args:
        area: Area that the robot's centre can occupy, (x, z) in metres.
        furniture: Boxes of the furniture on the floor.
        hanging: Boxes of mirrors, pictures and other furniture on walls; the walls recede behind them.
    """
    footprints = [box.footprint.buffer(_GAP, join_style="mitre") for box in furniture if box.low[1] < _HEAD_HEIGHT]
    floor = shapely.union_all([area.buffer(_ERODED, join_style="mitre"), *footprints])
    floor = shapely.union_all([floor, *(_niche(box.footprint, floor) for box in hanging)])
    bounds = shapely.box(*floor.bounds).buffer(1.0, join_style="mitre")
    solid = bounds.difference(floor).buffer(-_SLIVER, join_style="mitre").buffer(_SLIVER, join_style="mitre")
    return bounds.difference(solid)


def _niche(thing: Polygon, floor: Polygon | MultiPolygon) -> Polygon:
    """Return the area that has to be free so that furniture on a wall is visible from the floor in front of it."""
    gap = shapely.get_coordinates(shapely.shortest_line(thing, floor))
    across = gap[1] - gap[0]
    if np.linalg.norm(across) > _NICHE:
        return Polygon()
    return shapely.union(thing, shapely.transform(thing, lambda points: points + across)).convex_hull


def build_walls(floor: Polygon | MultiPolygon, low: float = 0.0, high: float = 2.6) -> Mesh:
    """Return a mesh of the walls around a free floor, and of the floor in boards of two shades.

    Args:
        floor: The floor between the walls, (x, z) in metres.
        low: Height y of the floor, metres.
        high: Height y of the upper edge of the walls, metres.
    """
    parts = list(getattr(floor, "geoms", [floor]))
    rings = [np.asarray(ring.coords) for part in parts for ring in (part.exterior, *part.interiors)]
    return Mesh.join([wall_mesh(rings, low, high, _WALL_COLOR), _boards(floor.bounds, low)])


def _boards(bounds: tuple[float, float, float, float], height: float) -> Mesh:
    xs = np.arange(bounds[0] - _BOARD, bounds[2] + _BOARD, _BOARD)
    zs = np.arange(bounds[1] - _BOARD, bounds[3] + _BOARD, _BOARD)
    across, along = np.meshgrid(xs, zs)
    corner = np.column_stack([across.ravel(), np.full(across.size, height), along.ravel()])
    quads = np.stack([corner, corner + [_BOARD, 0, 0], corner + [_BOARD, 0, _BOARD], corner + [0, 0, _BOARD]], axis=1)
    first = 4 * np.arange(len(quads))[:, None]
    faces = np.concatenate([first + [0, 2, 1], first + [0, 3, 2]])
    shade = (np.indices(across.shape).sum(axis=0) % 2).ravel()
    colors = np.asarray(_FLOOR_COLORS, dtype=np.uint8)[np.concatenate([shade, shade])]
    return Mesh(quads.reshape(-1, 3), faces, colors)
