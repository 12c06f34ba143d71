"""Where the robot can be, and the shortest ways between places.

Points are (x, z) pairs in metres on the plane of one floor.
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
    """Shortest distances from every corner of the area to one goal."""

    goal: Array
    distance: Array
    following: NDArray[np.int64]


class NavMesh:
    """The area that the robot's centre can occupy, on one floor.

    Paths are exact shortest paths in the plane: they bend only at the area's reflex corners, so a visibility
    graph of those corners holds every one of them.

    Args:
        area: in the horizontal plane, coordinates (x, z), metres; already shrunk by the robot's radius. Where it
            falls into parts, the largest is kept.
        height: y of the floor that the robot stands on.
        viewpoints: (N, 2) places worth standing at; by default the corners and a grid over the area.
    """

    def __init__(self, area: Polygon | MultiPolygon, height: float, viewpoints: ArrayLike | None = None) -> None:
        self.area = orient(_largest(area))
        self.height = height
        self._tolerant = self.area.buffer(_TOLERANCE, join_style="mitre")
        shapely.prepare(self._tolerant)
        # Robots of several threads share a house, and GEOS completes what it prepared while it is asked.
        self._asking = threading.RLock()
        self._fields: dict[tuple[float, float], _Field] = {}
        if viewpoints is not None:
            self.viewpoints = np.asarray(viewpoints, dtype=np.float64).reshape(-1, 2)
        else:
            self.viewpoints = np.concatenate([_rings(self.area), self._grid()])

    def __reduce__(self) -> tuple[type[NavMesh], tuple[Polygon, float, Array]]:
        # Locks stay in their process.
        return NavMesh, (self.area, self.height, self.viewpoints)

    def contains(self, point: ArrayLike) -> bool:
        """Whether the robot's centre can be there."""
        x, z = np.asarray(point, dtype=np.float64)
        with self._asking:
            return bool(shapely.contains_xy(self._tolerant, x, z))

    def snap(self, point: ArrayLike) -> Array:
        """The nearest place where the robot can be, (2,)."""
        if self.contains(point):
            return np.asarray(point, dtype=np.float64)
        return _nearest(self.area, point)

    def sees(self, start: ArrayLike, end: ArrayLike) -> bool:
        """Whether the straight way between two places is free."""
        return bool(self._free(np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)[None])[0])

    def path(self, start: ArrayLike, end: ArrayLike) -> Array:
        """The shortest way, both ends snapped to the area.

        Returns:
            (N, 2) points from start to end; (0, 2) where there is none.
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
        """Length in metres of the shortest way between two places, both snapped; inf where there is none."""
        points = self.path(start, end)
        return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()) if len(points) else float("inf")

    def move(self, start: ArrayLike, end: ArrayLike) -> Array:
        """Where a robot that steps from start towards end comes to stand: it slides along what is in its way."""
        here, there = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
        if self.sees(here, there):
            return there
        reach = Point((here + there) / 2).buffer(np.linalg.norm(there - here) / 2 + _TOLERANCE)
        near = self.area.buffer(_TOLERANCE / 2, join_style="mitre").intersection(reach)
        parts = [part for part in getattr(near, "geoms", [near]) if part.distance(Point(here)) <= _TOLERANCE]
        return _nearest(parts[0], there) if parts else here

    def clearance(self, point: ArrayLike) -> float:
        """Metres from a place where the robot can be to the nearest place where it cannot."""
        with self._asking:
            return float(self.area.boundary.distance(Point(*np.asarray(point))))

    def random_point(self, rng: np.random.Generator) -> Array:
        """A uniformly drawn place, (2,)."""
        low_x, low_z, high_x, high_z = self.area.bounds
        while True:
            point = np.array([rng.uniform(low_x, high_x), rng.uniform(low_z, high_z)])
            if shapely.contains_xy(self.area, *point):
                return point

    @cached_property
    def _corners(self) -> Array:
        """The reflex corners, (C, 2): the only points where a shortest path can bend."""
        corners = [_reflex(np.asarray(ring.coords)[:-1]) for ring in (self.area.exterior, *self.area.interiors)]
        return np.concatenate(corners)

    @cached_property
    def _lengths(self) -> Array:
        """(C, C) straight distances between corners that see each other, inf elsewhere."""
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
        """The first corner on the shortest way to the field's goal, -1 where there is none."""
        totals = np.linalg.norm(self._corners - here, axis=1) + field.distance
        order = np.argsort(totals)[: np.isfinite(totals).sum()]
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


def _largest(area: Polygon | MultiPolygon) -> Polygon:
    if isinstance(area, Polygon):
        return area
    return max(area.geoms, key=lambda part: part.area)


def _rings(area: Polygon) -> Array:
    return np.concatenate([np.asarray(ring.coords)[:-1] for ring in (area.exterior, *area.interiors)])


def _reflex(ring: Array) -> Array:
    """The corners of an oriented ring at which the inside takes more than half a turn."""
    before, after = ring - np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0) - ring
    turn = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return ring[turn < 0]


def _nearest(area: Polygon, point: ArrayLike) -> Array:
    nearest = shapely.get_coordinates(shapely.shortest_line(area, Point(*np.asarray(point))))[0]
    return np.asarray(nearest, dtype=np.float64)
