"""Navigation meshes: the area that the robot can occupy, and shortest paths in it.

Points are pairs (x, z) in metres on the plane of one floor.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import dijkstra
from shapely.geometry import MultiPolygon, Point, Polygon
from shapely.geometry.polygon import orient

Array = NDArray[np.float64]

_TOLERANCE = 2e-3
_GRID = 0.25
_REMEMBERED_GOALS = 64
_AT_ONCE = 16


@dataclass(frozen=True)
class _Field:
    """Shortest paths from all corners of the area to a goal.

    Attributes:
        goal: The goal, (2,).
        distance: (C,) length of the shortest path from each corner, metres.
        following: (C,) next corner on that path, -1 for the goal.
    """

    goal: Array
    distance: Array
    following: NDArray[np.int64]


class NavMesh:
    """The area of one floor that the robot's centre can occupy.

    Paths are exact shortest paths in the plane. These bend only at reflex corners of the area, so they are found in the
    visibility graph of these corners.

    Args:
        area: Area in the horizontal plane, (x, z) in metres, already reduced by the robot's radius. Of several parts,
            only the largest is used.
        height: Height y of the floor, metres.
        viewpoints: (N, 2) points at which the robot may stop to look at something; by default the corners of the area
            and a grid over it.
    """

    def __init__(self, area: Polygon | MultiPolygon, height: float, viewpoints: ArrayLike | None = None) -> None:
        self.area = orient(max(getattr(area, "geoms", [area]), key=lambda part: part.area))
        self.height = height
        self._tolerant = self.area.buffer(_TOLERANCE, join_style="mitre")
        shapely.prepare(self._tolerant)
        # Several threads share a house, and queries of a prepared GEOS geometry are not thread-safe.
        self._asking = threading.RLock()
        self._fields: dict[tuple[float, float], _Field] = {}
        if viewpoints is not None:
            self.viewpoints = np.asarray(viewpoints, dtype=np.float64).reshape(-1, 2)
        else:
            self.viewpoints = np.concatenate([_rings(self.area), self._grid()])

    def __reduce__(self) -> tuple[type[NavMesh], tuple[Polygon, float, Array]]:
        # Locks cannot be pickled.
        return NavMesh, (self.area, self.height, self.viewpoints)

    def contains(self, point: ArrayLike) -> bool:
        """Whether the robot's centre can be at a point."""
        x, z = np.asarray(point, dtype=np.float64)
        with self._asking:
            return bool(shapely.contains_xy(self._tolerant, x, z))

    def snap(self, point: ArrayLike) -> Array:
        """Return the nearest point that the robot can occupy, (2,)."""
        if self.contains(point):
            return np.asarray(point, dtype=np.float64)
        return _nearest(self.area, point)

    def sees(self, start: ArrayLike, end: ArrayLike) -> bool:
        """Whether the straight line between two points is free."""
        return bool(self._free(np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)[None])[0])

    def path(self, start: ArrayLike, end: ArrayLike) -> Array:
        """Return the shortest path between two points, which are snapped to the area.

        Returns:
            (N, 2) points from start to end, or (0, 2) without a path.
        """
        here, goal = self.snap(start), self.snap(end)
        if self.sees(here, goal):
            return np.stack([here, goal])
        field = self._field(goal)
        corner = self._best_corner(here, field)
        points = [here]
        while corner >= 0:
            points.append(self._corners[corner])
            corner = int(field.following[corner])
        return np.stack([*points, goal]) if len(points) > 1 else np.empty((0, 2))

    def distance(self, start: ArrayLike, end: ArrayLike) -> float:
        """Return the length of the shortest path between two points in metres; inf without a path."""
        points = self.path(start, end)
        return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()) if len(points) else float("inf")

    def move(self, start: ArrayLike, end: ArrayLike) -> Array:
        """Return the end of a step from one point towards another. The robot slides along obstacles."""
        here, there = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
        if self.sees(here, there):
            return there
        reach = Point((here + there) / 2).buffer(np.linalg.norm(there - here) / 2 + _TOLERANCE)
        near = self.area.buffer(_TOLERANCE / 2, join_style="mitre").intersection(reach)
        parts = [part for part in getattr(near, "geoms", [near]) if part.distance(Point(here)) <= _TOLERANCE]
        return _nearest(parts[0], there) if parts else here

    def clearance(self, point: ArrayLike) -> float:
        """Return the distance from a point of the area to its boundary in metres."""
        with self._asking:
            return float(self.area.boundary.distance(Point(*np.asarray(point))))

    def random_point(self, rng: np.random.Generator) -> Array:
        """Draw a point of the area uniformly, (2,)."""
        low_x, low_z, high_x, high_z = self.area.bounds
        while True:
            point = np.array([rng.uniform(low_x, high_x), rng.uniform(low_z, high_z)])
            if shapely.contains_xy(self.area, *point):
                return point

    @cached_property
    def _corners(self) -> Array:
        """The reflex corners (C, 2), the only points at which shortest paths can bend."""
        corners = [_reflex(np.asarray(ring.coords)[:-1]) for ring in (self.area.exterior, *self.area.interiors)]
        return np.concatenate(corners)

    @cached_property
    def _lengths(self) -> Array:
        """(C, C) distances between corners with a free straight line, inf for others."""
        count = len(self._corners)
        first, second = np.triu_indices(count, k=1)
        lines = shapely.linestrings(np.stack([self._corners[first], self._corners[second]], axis=1))
        free = shapely.covers(self._tolerant, lines)
        lengths = np.full((count, count), np.inf)
        gaps = np.linalg.norm(self._corners[first] - self._corners[second], axis=1)
        lengths[first[free], second[free]] = gaps[free]
        return np.asarray(np.minimum(lengths, lengths.T), dtype=np.float64)

    def _field(self, goal: Array) -> _Field:
        key = (float(goal[0]), float(goal[1]))
        with self._asking:
            if key not in self._fields:
                if len(self._fields) >= _REMEMBERED_GOALS:
                    self._fields.pop(next(iter(self._fields)))
                self._fields[key] = self._solve(goal)
            return self._fields[key]

    def _solve(self, goal: Array) -> _Field:
        count = len(self._corners)
        graph = np.full((count + 1, count + 1), np.inf)
        graph[:count, :count] = self._lengths
        gaps = np.linalg.norm(self._corners - goal, axis=1)
        graph[count, :count] = np.where(self._free(goal, self._corners), gaps, np.inf)
        distance, before = dijkstra(
            np.ma.masked_invalid(graph), directed=False, indices=count, return_predecessors=True
        )
        following = np.where(before[:count] == count, -1, before[:count])
        return _Field(goal, distance[:count], np.where(following == -9999, -1, following))

    def _best_corner(self, here: Array, field: _Field) -> int:
        """Return the first corner of the shortest path to the field's goal, -1 without a path."""
        totals = np.linalg.norm(self._corners - here, axis=1) + field.distance
        order = np.argsort(totals, kind="stable")[: np.isfinite(totals).sum()]
        for start in range(0, len(order), _AT_ONCE):
            corners = order[start : start + _AT_ONCE]
            seen = np.flatnonzero(self._free(here, self._corners[corners]))
            if len(seen):
                return int(corners[seen[0]])
        return -1

    def _free(self, start: Array, ends: Array) -> NDArray[np.bool_]:
        lines = np.empty((len(ends), 2, 2))
        lines[:, 0], lines[:, 1] = start, ends
        with self._asking:
            return np.asarray(shapely.covers(self._tolerant, shapely.linestrings(lines)))

    def _grid(self) -> Array:
        low_x, low_z, high_x, high_z = self.area.bounds
        xs, zs = np.meshgrid(np.arange(low_x, high_x, _GRID), np.arange(low_z, high_z, _GRID))
        inside = shapely.contains_xy(self.area, xs, zs)
        return np.stack([xs[inside], zs[inside]], axis=1)


def _rings(area: Polygon) -> Array:
    return np.concatenate([np.asarray(ring.coords)[:-1] for ring in (area.exterior, *area.interiors)])


def _reflex(ring: Array) -> Array:
    """Return the corners of an oriented ring whose inner angle is greater than 180 degrees."""
    before, after = ring - np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0) - ring
    turn = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return ring[turn < 0]


def _nearest(area: Polygon, point: ArrayLike) -> Array:
    nearest = shapely.get_coordinates(shapely.shortest_line(area, Point(*np.asarray(point))))[0]
    return np.asarray(nearest, dtype=np.float64)
