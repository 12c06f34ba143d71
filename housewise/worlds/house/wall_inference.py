"""Walls of a house whose shell is not at hand, worked out from where its robot can walk.

A navigation mesh leaves out furniture as well as walls. Grown back by the robot's radius and joined with the
footprints of the furniture it is the free floor; what bounds the free floor is a wall.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely
from shapely.geometry import MultiPolygon, Polygon

from housewise.worlds.house.geometry import Box
from housewise.worlds.house.scene import Mesh
from housewise.worlds.house.solids import wall_mesh

# Recast erodes by the radius of 0.18 m rounded up to whole cells of 0.05 m.
_ERODED = 0.2
# The slit between furniture and the floor that ends because of it; where a real wall stands there is more.
_GAP = 0.034
_SLIVER = 0.02
_NICHE = 0.3
_HEAD_HEIGHT = 1.7
_WALL_COLOR = (222, 216, 205)
_FLOOR_COLORS = ((176, 146, 112), (168, 137, 103))
_BOARD = 0.5


def infer_free_floor(area: Polygon, furniture: Sequence[Box], hanging: Sequence[Box] = ()) -> Polygon | MultiPolygon:
    """The floor between the walls.

    Args:
        area: where the robot's centre can be, (x, z) in metres.
        furniture: boxes of what stands on the floor.
        hanging: boxes of what hangs on walls (mirrors, pictures); walls give way to them on the near side.
    """
    footprints = [_footprint(box).buffer(_GAP, join_style="mitre") for box in furniture if box.low[1] < _HEAD_HEIGHT]
    floor = shapely.union_all([area.buffer(_ERODED, join_style="mitre"), *footprints])
    floor = shapely.union_all([floor, *(_niche(_footprint(box), floor) for box in hanging)])
    bounds = shapely.box(*floor.bounds).buffer(1.0, join_style="mitre")
    solid = bounds.difference(floor).buffer(-_SLIVER, join_style="mitre").buffer(_SLIVER, join_style="mitre")
    return bounds.difference(solid)


def _footprint(box: Box) -> Polygon:
    return shapely.box(box.low[0], box.low[2], box.high[0], box.high[2])


def _niche(thing: Polygon, floor: Polygon | MultiPolygon) -> Polygon:
    """What has to be free for a thing on a wall to be seen from the floor in front of it."""
    gap = shapely.get_coordinates(shapely.shortest_line(thing, floor))
    across = gap[1] - gap[0]
    if np.linalg.norm(across) > _NICHE:
        return Polygon()
    return shapely.union(thing, shapely.transform(thing, lambda points: points + across)).convex_hull


def build_walls(floor: Polygon | MultiPolygon, low: float = 0.0, high: float = 2.6) -> Mesh:
    """Walls around a free floor, and the floor itself in boards of two shades.

    Args:
        floor: between the walls, (x, z) in metres.
        low: y of the floor.
        high: y of the walls' upper edge.
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
