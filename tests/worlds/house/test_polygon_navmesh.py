"""Navigation on polygons, compared with brute force on shapely geometries."""

import math
import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from housewise.worlds.house.geometry import Array
from housewise.worlds.house.housekeep.navmesh_file import read_navmesh, read_polygon_navmesh
from housewise.worlds.house.polygon_navmesh import PolygonMesh, PolygonNavMesh, Spot
from housewise.worlds.house.simulator.base import STEP
from tests.worlds.house.navmesh_file import rectangle, write_navmesh
from tests.worlds.house.polygons import CELL, SIDE, Floor, floors

EPS = 1e-6
POINTS = st.tuples(st.floats(-1, SIDE * CELL + 1), st.floats(-1, SIDE * CELL + 1))


def whole(floor: Floor) -> shapely.Geometry:
    return shapely.union_all([shapely.Polygon(ring) for ring in floor.rings])


def shortest(area: shapely.Geometry, start: Spot, end: Spot) -> float:
    """Return the length of the shortest path in an area, by its visibility graph."""
    corners = shapely.get_coordinates(area)
    points = np.unique(np.concatenate([corners, [start, end]]), axis=0)
    first, second = np.triu_indices(len(points), k=1)
    lines = shapely.linestrings(np.stack([points[first], points[second]], axis=1))
    free = shapely.covers(area.buffer(EPS), lines)
    # The graph is sparse because scipy ignores edges of nanometres in dense graphs.
    lengths = shapely.length(lines)[free]
    graph = coo_array((lengths, (first[free], second[free])), shape=(len(points), len(points)))
    here, there = (int(np.linalg.norm(points - point, axis=1).argmin()) for point in (start, end))
    return float(dijkstra(graph, directed=False, indices=here)[there])


def shortest_through(doors: list[Array], start: Spot, end: Spot) -> float:
    """Return the length of the shortest path through a sequence of doors, by the visibility graph of their ends."""
    layers = [np.array([start]), *doors, np.array([end])]
    best = [[0.0], *([math.inf, math.inf] for _ in doors), [math.inf]]
    for later in range(1, len(layers)):
        for here, point in enumerate(layers[later]):
            for earlier in range(later):
                between = [shapely.LineString(door) for door in doors[earlier : later - 1]]
                for there, before in enumerate(layers[earlier]):
                    way = shapely.LineString([before, point])
                    if all(way.distance(door) <= EPS for door in between):
                        best[later][here] = min(best[later][here], best[earlier][there] + way.length)
    return best[-1][0]


@given(floors(), POINTS)
def test_nearest_returns_the_nearest_point(floor: Floor, point: Spot) -> None:
    number, spot = floor.mesh.nearest(point)
    away = whole(floor).distance(shapely.Point(point))
    assert math.dist(point, spot) == pytest.approx(away, abs=EPS)
    assert shapely.Polygon(floor.rings[number]).distance(shapely.Point(spot)) <= EPS
    assert floor.mesh.nearest(point) == (number, spot)


@given(floors(), POINTS, POINTS)
@example(Floor({0, 1, 2, 3, 4, 5}, 0), (0.0, 0.0), (0.0, 2.0515171343873926e-09))
def test_paths_are_inside_and_at_least_as_long_as_the_shortest(floor: Floor, start: Spot, end: Spot) -> None:
    path = floor.mesh.path(start, end)
    here, there = floor.mesh.nearest(start)[1], floor.mesh.nearest(end)[1]
    assert (path[0], path[-1]) == (here, there)
    assert shapely.covers(whole(floor).buffer(EPS), shapely.linestrings(path))
    length = floor.mesh.distance(start, end)
    assert length == pytest.approx(sum(math.dist(*pair) for pair in pairwise(path)))
    assert length >= shortest(whole(floor), here, there) - 1e-4


@given(floors(), POINTS, POINTS)
def test_paths_are_the_shortest_through_their_polygons(floor: Floor, start: Spot, end: Spot) -> None:
    (first, here), (last, there) = floor.mesh.nearest(start), floor.mesh.nearest(end)
    polygons = floor.mesh.corridor(first, last, here, there)
    assert (polygons[0], polygons[-1]) == (first, last)
    doors = []
    for one, other in pairwise(polygons):
        edge = floor.neighbours[one].index(other)
        doors.append(floor.rings[one][[edge, (edge + 1) % 4]])
    # A door within a millimetre of the start is ignored.
    assert floor.mesh.distance(start, end) == pytest.approx(shortest_through(doors, here, there), abs=2e-3)


@given(floors(), POINTS, st.floats(-math.pi, math.pi))
def test_steps_end_at_walls(floor: Floor, start: Spot, yaw: float) -> None:
    here = floor.mesh.nearest(start)[1]
    goal = (here[0] - STEP * math.sin(yaw), here[1] - STEP * math.cos(yaw))
    there = floor.mesh.move(here, goal)
    area = whole(floor)
    assert area.distance(shapely.Point(there)) <= EPS
    assert math.dist(there, goal) <= STEP + EPS
    assert floor.mesh.distance(here, there) <= 3 * STEP
    if shapely.covers(area.buffer(-1e-4), shapely.LineString([here, goal])):
        assert there == goal


@given(floors(), POINTS)
def test_clearance_is_the_distance_to_the_nearest_wall(floor: Floor, point: Spot) -> None:
    spot = floor.mesh.nearest(point)[1]
    assert floor.mesh.clearance(spot) == pytest.approx(whole(floor).boundary.distance(shapely.Point(spot)), abs=EPS)


def test_a_file_read_as_polygons_is_the_same_floor(tmp_path: Path) -> None:
    write_navmesh(tmp_path / "a.navmesh", [rectangle(0, 0, 2, 3), rectangle(2, 0, 5, 3), rectangle(20, 20, 21, 21)])
    plain, polygons = read_navmesh(tmp_path / "a.navmesh"), read_polygon_navmesh(tmp_path / "a.navmesh")
    assert polygons.area.equals(plain.area)
    assert polygons.height == plain.height
    assert polygons.viewpoints.tolist() == plain.viewpoints.tolist()
    assert polygons.path([0.5, 0.5], [4.5, 2.5]).tolist() == [[0.5, 0.5], [4.5, 2.5]]
    assert polygons.snap([-1, 1]).tolist() == [0, 1]
    assert polygons.move([0.1, 1.0], [-0.1, 1.0]).tolist() == [0, 1]
    assert polygons.contains([4.9, 2.9]) and not polygons.contains([5.1, 2.9])


def test_other_islands_are_unreachable() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    mesh = PolygonMesh([square, square + [3.0, 0.0]], [[-1] * 4, [-1] * 4])
    assert mesh.path((0.5, 0.5), (3.5, 0.5)) == []
    assert mesh.distance((0.5, 0.5), (3.5, 0.5)) == math.inf


def test_meshes_can_be_pickled(tmp_path: Path) -> None:
    write_navmesh(tmp_path / "a.navmesh", [rectangle(0, 0, 2, 3), rectangle(2, 0, 5, 3)])
    navmesh = read_polygon_navmesh(tmp_path / "a.navmesh")
    other = pickle.loads(pickle.dumps(navmesh))
    assert isinstance(other, PolygonNavMesh)
    assert other.distance([0, 0], [5, 3]) == navmesh.distance([0, 0], [5, 3])
    assert other.clearance([1, 1]) == navmesh.clearance([1, 1]) == pytest.approx(1.0)
