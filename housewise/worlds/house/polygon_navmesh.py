"""Navigation on convex polygons with the algorithms of the Detour library (recastnavigation), which Habitat uses.

This is an independent implementation of Detour's queries: A* over polygons with the middles of their shared edges as
nodes, the funnel algorithm through the polygons of the path (Mononen's "simple stupid funnel algorithm"), and steps
that slide to the nearest point of the surrounding walls. A path is the shortest one through its polygons, but not
always the shortest of all paths.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from shapely.geometry import Polygon

from housewise.worlds.house.navmesh import Array, NavMesh

Spot = tuple[float, float]

_CELL = 0.5
_MAX_CELLS = 200
_AT_DOOR = 1e-3
_SAME = 1 / 16384
_REACH = 1e-3
_HEURISTIC = 0.999
_ON_FLOOR = 1e-2
_TINY = 1e-12
_REMEMBERED = 64


class PolygonMesh:
    """Convex polygons with shared edges.

    Args:
        rings: (K, 2) corners of each polygon, (x, z) in metres.
        neighbours: For each polygon and each of its corners, the number of the polygon behind the edge that starts
            there, or -1 for a wall.
    """

    def __init__(self, rings: Sequence[Array], neighbours: Sequence[Sequence[int]]) -> None:
        turned = [_counter_clockwise(ring, behind) for ring, behind in zip(rings, neighbours, strict=True)]
        self._rings = [ring for ring, _ in turned]
        self._edges = [list(zip(ring, ring[1:] + ring[:1], behind, strict=True)) for ring, behind in turned]
        self._doors = [[(to, _middle(a, b)) for a, b, to in edges if to >= 0] for edges in self._edges]
        # Seen from inside, an edge of a counter-clockwise ring starts at the right.
        self._portals = {
            (number, to): (b, a) for number, edges in enumerate(self._edges) for a, b, to in reversed(edges) if to >= 0
        }
        self._all_edges = np.array([(a, b) for edges in self._edges for a, b, _ in edges], dtype=np.float64)
        self._owner = [number for number, edges in enumerate(self._edges) for _ in edges]
        self._walls = [(a, b) for edges in self._edges for a, b, to in edges if to < 0]
        self._grid = _Grid(self._rings, 0)
        self._wall_grid = _Grid(self._walls, 1)
        self._snapped: dict[Spot, tuple[int, Spot]] = {}

    def nearest(self, point: Spot) -> tuple[int, Spot]:
        """Return the number of the polygon at or nearest to a point, and its nearest point."""
        for number in self._grid.near(point):
            if _inside(point, self._rings[number]):
                return number, point
        found = self._snapped.get(point)
        if found is None:
            spots = _onto(point, self._all_edges)
            edge = int(((spots - point) ** 2).sum(1).argmin())
            found = self._owner[edge], (float(spots[edge, 0]), float(spots[edge, 1]))
            # Goals are often corners, which count as outside, and are looked up at every step.
            self._snapped = {**self._snapped, point: found} if len(self._snapped) < _REMEMBERED else {point: found}
        return found

    def path(self, start: Spot, end: Spot) -> list[Spot]:
        """Return the path between two points, which are snapped to the floor; empty without a path."""
        (first, here), (last, goal) = self.nearest(start), self.nearest(end)
        polygons = self.corridor(first, last, here, goal)
        return _funnel(here, goal, [self._portals[pair] for pair in pairwise(polygons)]) if polygons else []

    def distance(self, start: Spot, end: Spot) -> float:
        """Return the length of the path between two points in metres; inf without a path."""
        points = self.path(start, end)
        return sum(map(math.dist, points, points[1:])) if points else math.inf

    def move(self, start: Spot, end: Spot) -> Spot:
        """Return the end of a step: the target, or the nearest point of the walls that block it."""
        first, here = self.nearest(start)
        middle, reach = _middle(here, end), math.dist(here, end) / 2 + _REACH
        best, least, seen, queue = here, math.inf, {first}, deque([first])
        while queue:
            number = queue.popleft()
            if _inside(end, self._rings[number]):
                return end
            for a, b, to in self._edges[number]:
                if to < 0:
                    away, spot = _to_segment(end, a, b)
                    if away < least:
                        best, least = spot, away
                elif to not in seen and _to_segment(middle, a, b)[0] <= reach:
                    seen.add(to)
                    queue.append(to)
        return best

    def clearance(self, point: Spot) -> float:
        """Return the distance to the nearest wall in metres."""
        near = [self._walls[number] for number in self._wall_grid.near(point)]
        away = _nearest_of(near, point)
        # Walls that are farther than a cell may be missing in the grid.
        return away if away <= self._wall_grid.cell else _nearest_of(self._walls, point)

    def corridor(self, first: int, last: int, start: Spot, goal: Spot) -> list[int]:
        """Return the numbers of the polygons of the path with both ends; empty without a path."""
        place, cost, before = {first: start}, {first: 0.0}, {first: -1}
        best = {first: _HEURISTIC * math.dist(start, goal)}
        queue = [(best[first], first)]
        while queue:
            total, here = heapq.heappop(queue)
            if here == last:
                break
            if total > best[here]:
                continue
            for to, door in self._doors[here]:
                if to == before[here]:
                    continue
                # As in Detour, the position of a polygon is the edge at which the search first reached it.
                spot = place.setdefault(to, door)
                walked = cost[here] + math.dist(place[here], spot)
                rest = math.dist(spot, goal)
                walked, total = (walked + rest, walked + rest) if to == last else (walked, walked + _HEURISTIC * rest)
                if total < best.get(to, math.inf):
                    best[to], cost[to], before[to] = total, walked, here
                    heapq.heappush(queue, (total, to))
        polygons = [last] if last in before else []
        while polygons and polygons[-1] != first:
            polygons.append(before[polygons[-1]])
        return polygons[::-1]


class PolygonNavMesh(NavMesh):
    """A navigation mesh with the navigation of Habitat; see housewise.worlds.house.navmesh.NavMesh.

    Args:
        polygons: Polygons of the floor.
        like: The same floor as one area.
    """

    def __init__(self, polygons: PolygonMesh, like: NavMesh) -> None:
        super().__init__(like.area, like.height, like.viewpoints)
        self.polygons = polygons

    def __reduce__(self) -> tuple[type[PolygonNavMesh], tuple[PolygonMesh, NavMesh]]:  # type: ignore[override]
        return PolygonNavMesh, (self.polygons, NavMesh(self.area, self.height, self.viewpoints))

    def contains(self, point: ArrayLike) -> bool:
        """See NavMesh.contains."""
        return math.dist(self.polygons.nearest(_spot(point))[1], _spot(point)) <= _ON_FLOOR

    def snap(self, point: ArrayLike) -> Array:
        """See NavMesh.snap."""
        return np.array(self.polygons.nearest(_spot(point))[1])

    def path(self, start: ArrayLike, end: ArrayLike) -> Array:
        """See NavMesh.path."""
        return np.array(self.polygons.path(_spot(start), _spot(end))).reshape(-1, 2)

    def distance(self, start: ArrayLike, end: ArrayLike) -> float:
        """See NavMesh.distance."""
        return self.polygons.distance(_spot(start), _spot(end))

    def move(self, start: ArrayLike, end: ArrayLike) -> Array:
        """See NavMesh.move."""
        return np.array(self.polygons.move(_spot(start), _spot(end)))

    def clearance(self, point: ArrayLike) -> float:
        """See NavMesh.clearance."""
        return self.polygons.clearance(_spot(point))


class _Grid:
    """A grid that finds the shapes near a point.

    Args:
        shapes: Corners of each shape.
        margin: Number of cells around a shape's bounds that count as near.

    Attributes:
        cell: Side of a cell, metres.
    """

    def __init__(self, shapes: Sequence[Sequence[Spot]], margin: int) -> None:
        corners = np.array([corner for shape in shapes for corner in shape]).reshape(-1, 2)
        extent = float(np.ptp(corners, axis=0).max()) if len(corners) else 0.0
        self.cell = max(_CELL, extent / _MAX_CELLS)
        self._near: dict[tuple[int, int], list[int]] = {}
        for number, shape in enumerate(shapes):
            low, high = (self._cell_of((pick(x for x, _ in shape), pick(z for _, z in shape))) for pick in (min, max))
            for x in range(low[0] - margin, high[0] + margin + 1):
                for z in range(low[1] - margin, high[1] + margin + 1):
                    self._near.setdefault((x, z), []).append(number)

    def near(self, point: Spot) -> Sequence[int]:
        """Return the numbers of the shapes whose bounds, with the margin, overlap the point's cell."""
        return self._near.get(self._cell_of(point), ())

    def _cell_of(self, point: Spot) -> tuple[int, int]:
        return math.floor(point[0] / self.cell), math.floor(point[1] / self.cell)


def _funnel(start: Spot, goal: Spot, portals: Sequence[tuple[Spot, Spot]]) -> list[Spot]:
    """Return the shortest path from start to goal through portals, each (left, right) in walking direction."""
    gates = [*portals, (goal, goal)]
    if portals and _to_segment(start, *portals[0])[0] < _AT_DOOR:
        gates = gates[1:]
    points, apex, left, right = [start], start, start, start
    left_at = right_at = number = 0
    while number < len(gates):
        to_left, to_right = gates[number]
        if _side(apex, right, to_right) >= 0:
            if math.dist(apex, right) > _SAME and _side(apex, left, to_right) >= 0:
                points, apex, number = [*points, left], left, left_at + 1
                right, right_at = apex, left_at
                continue
            right, right_at = to_right, number
        if _side(apex, left, to_left) <= 0:
            if math.dist(apex, left) > _SAME and _side(apex, right, to_left) <= 0:
                points, apex, number = [*points, right], right, right_at + 1
                left, left_at = apex, right_at
                continue
            left, left_at = to_left, number
        number += 1
    points.append(goal)
    return (
        [start, *(point for before, point in pairwise(points) if point != before)] if start != goal else [start, goal]
    )


def _side(apex: Spot, towards: Spot, point: Spot) -> float:
    """Return twice the signed area of a triangle, positive if the point is to the left of the line."""
    return (towards[0] - apex[0]) * (point[1] - apex[1]) - (towards[1] - apex[1]) * (point[0] - apex[0])


def _inside(point: Spot, ring: Sequence[Spot]) -> bool:
    x, z = point
    inside, (before_x, before_z) = False, ring[-1]
    for corner_x, corner_z in ring:
        crosses = (corner_z > z) != (before_z > z)
        if crosses and x < (before_x - corner_x) * (z - corner_z) / (before_z - corner_z) + corner_x:
            inside = not inside
        before_x, before_z = corner_x, corner_z
    return inside


def _to_segment(point: Spot, a: Spot, b: Spot) -> tuple[float, Spot]:
    """Return the distance from a point to a segment, and the nearest point of the segment."""
    along_x, along_z = b[0] - a[0], b[1] - a[1]
    length = along_x * along_x + along_z * along_z
    share = (point[0] - a[0]) * along_x + (point[1] - a[1]) * along_z
    share = min(max(share / length if length else share, 0.0), 1.0)
    spot = (a[0] + share * along_x, a[1] + share * along_z)
    return math.dist(point, spot), spot


def _nearest_of(segments: Sequence[tuple[Spot, Spot]], point: Spot) -> float:
    return min((_to_segment(point, a, b)[0] for a, b in segments), default=math.inf)


def _onto(point: Spot, segments: Array) -> Array:
    """Return the point of each segment (N, 2, 2) that is nearest to a point, (N, 2)."""
    start, along = segments[:, 0], segments[:, 1] - segments[:, 0]
    share = ((point - start) * along).sum(1) / np.maximum((along * along).sum(1), _TINY)
    return np.asarray(start + np.clip(share, 0.0, 1.0)[:, None] * along)


def _counter_clockwise(ring: Array, behind: Sequence[int]) -> tuple[list[Spot], list[int]]:
    corners = [(float(x), float(z)) for x, z in ring]
    if Polygon(corners).exterior.is_ccw:
        return corners, list(behind)
    return corners[::-1], [*behind[-2::-1], behind[-1]]


def _middle(a: Spot, b: Spot) -> Spot:
    return (a[0] + b[0]) / 2, (a[1] + b[1]) / 2


def _spot(point: ArrayLike) -> Spot:
    x, z = np.asarray(point, dtype=np.float64).tolist()
    return x, z
