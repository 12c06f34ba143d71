from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from shapely.geometry import MultiPolygon, Point, Polygon

from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.simulator.base import STEP
from tests.worlds.house.toy import walkable

TOLERANCE = 3e-3
COORDINATES = st.floats(-1, 11)
POINTS = st.tuples(COORDINATES, COORDINATES)
CELLS = st.integers(0, 9)


@st.composite
def houses(draw: st.DrawFn) -> NavMesh:
    """Draw a 10 m x 10 m floor with holes; only the largest part is used."""
    blocks = draw(st.lists(st.tuples(CELLS, CELLS, st.integers(1, 6), st.integers(1, 6)), max_size=7))
    shapes = [shapely.box(x + 0.1, z + 0.07, x + width - 0.13, z + depth + 0.02) for x, z, width, depth in blocks]
    area = shapely.box(0, 0, 10, 10).difference(shapely.union_all(shapes))
    assume(not area.is_empty)
    return NavMesh(area, 0.0)


def inside(navmesh: NavMesh, line: np.ndarray) -> bool:
    return bool(shapely.covers(navmesh.area.buffer(TOLERANCE), shapely.linestrings(line)))


@given(houses(), POINTS, POINTS)
def test_paths_are_inside_and_at_least_as_long_as_the_straight_line(
    navmesh: NavMesh, start: tuple[float, float], end: tuple[float, float]
) -> None:
    path = navmesh.path(start, end)
    here, there = navmesh.snap(start), navmesh.snap(end)
    assert len(path) >= 2
    assert path[0] == pytest.approx(here) and path[-1] == pytest.approx(there)
    assert inside(navmesh, path)
    length = navmesh.distance(start, end)
    assert length == pytest.approx(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
    assert length >= np.linalg.norm(there - here) - 1e-9


@given(houses(), POINTS, POINTS, POINTS)
def test_paths_are_the_shortest(
    navmesh: NavMesh, start: tuple[float, float], end: tuple[float, float], over: tuple[float, float]
) -> None:
    assert navmesh.distance(start, end) == pytest.approx(navmesh.distance(end, start), abs=5 * TOLERANCE)
    detour = navmesh.distance(start, over) + navmesh.distance(over, end)
    assert navmesh.distance(start, end) <= detour + 5 * TOLERANCE


@given(houses(), POINTS, st.floats(-np.pi, np.pi))
def test_steps_stay_inside_and_are_not_too_long(navmesh: NavMesh, start: tuple[float, float], yaw: float) -> None:
    here = navmesh.snap(start)
    goal = here + STEP * np.array([-np.sin(yaw), -np.cos(yaw)])
    there = navmesh.move(here, goal)
    assert navmesh.contains(there)
    assert np.linalg.norm(there - here) <= STEP + TOLERANCE
    # The step does not jump over a wall, since there is a short path between both points.
    assert navmesh.distance(here, there) <= 2 * STEP
    if navmesh.sees(here, goal):
        assert there == pytest.approx(goal)
    assert np.linalg.norm(goal - there) <= STEP + TOLERANCE


@given(houses(), st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_long_walks_stay_inside(navmesh: NavMesh, seed: int) -> None:
    rng = np.random.default_rng(seed)
    here = navmesh.random_point(rng)
    for yaw in rng.uniform(-np.pi, np.pi, 60):
        here = navmesh.move(here, here + STEP * np.array([-np.sin(yaw), -np.cos(yaw)]))
        assert navmesh.contains(here)


@given(houses(), POINTS)
def test_snapping_returns_the_nearest_point_and_is_idempotent(navmesh: NavMesh, point: tuple[float, float]) -> None:
    snapped = navmesh.snap(point)
    assert navmesh.contains(snapped)
    assert (navmesh.snap(snapped) == snapped).all()
    away = Point(point).distance(navmesh.area)
    assert np.linalg.norm(snapped - point) == pytest.approx(away, abs=TOLERANCE)


@given(houses(), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_random_points_and_viewpoints_are_inside(navmesh: NavMesh, seed: int) -> None:
    for _ in range(5):
        assert shapely.contains_xy(navmesh.area, *navmesh.random_point(np.random.default_rng(seed)))
    assert all(navmesh.contains(point) for point in navmesh.viewpoints)


def test_a_step_slides_along_a_wall() -> None:
    navmesh = NavMesh(shapely.box(0, 0, 5, 5), 0.0)
    diagonal = STEP * np.sqrt(0.5)
    assert navmesh.move([2, 0], [2 + diagonal, -diagonal]) == pytest.approx([2 + diagonal, 0.0], abs=TOLERANCE)
    assert navmesh.move([2, 0], [2, -STEP]) == pytest.approx([2.0, 0.0], abs=TOLERANCE)
    assert navmesh.move([0, 0], [-0.1, -0.1]) == pytest.approx([0.0, 0.0], abs=TOLERANCE)


def test_a_step_does_not_pass_a_thin_wall() -> None:
    area = shapely.box(0, 0, 4, 4).difference(shapely.box(1.99, 0, 2.01, 3.5))
    there = NavMesh(area, 0.0).move([1.9, 1.0], [2.15, 1.0])
    assert there == pytest.approx([1.99, 1.0], abs=TOLERANCE)


def test_paths_around_a_corner_touch_it() -> None:
    corridor = Polygon([(0, 0), (4, 0), (4, 4), (3, 4), (3, 1), (0, 1)])
    navmesh = NavMesh(corridor, 0.0)
    path = navmesh.path([0, 1], [3, 4])
    assert path == pytest.approx(np.array([[0, 1], [3, 1], [3, 4]]), abs=TOLERANCE)
    assert navmesh.distance([0.5, 0.5], [3.5, 3.5]) == pytest.approx(2 * np.hypot(2.5, 0.5), abs=0.01)
    assert not navmesh.sees([0.5, 0.5], [3.5, 3.5])


def test_paths_use_the_nearer_of_two_doors() -> None:
    wall = shapely.box(4.9, 0, 5.1, 10).difference(
        shapely.union_all([shapely.box(4.8, 1, 5.2, 2), shapely.box(4.8, 8, 5.2, 9)])
    )
    navmesh = NavMesh(shapely.box(0, 0, 10, 10).difference(wall), 0.0)
    assert navmesh.path([4, 3], [6, 3])[1:-1, 1] == pytest.approx([2, 2], abs=TOLERANCE)
    assert navmesh.path([4, 7], [6, 7])[1:-1, 1] == pytest.approx([8, 8], abs=TOLERANCE)


def test_rooms_are_connected_by_the_door_only() -> None:
    navmesh = NavMesh(walkable(), 0.0)
    path = navmesh.path([2, 0.5], [7, 3.5])
    crossing = shapely.linestrings(path).intersection(shapely.box(4.0, 0, 4.1, 4))
    assert 1.5 < crossing.centroid.y < 2.5


def test_only_the_largest_of_several_floors_is_used() -> None:
    apart = MultiPolygon([shapely.box(0, 0, 1, 1), shapely.box(5, 5, 8, 8)])
    navmesh = NavMesh(apart, 0.3, viewpoints=[[5, 5], [6, 6]])
    assert navmesh.area.equals(shapely.box(5, 5, 8, 8))
    assert navmesh.snap([0, 0]) == pytest.approx([5, 5])
    assert navmesh.viewpoints.tolist() == [[5, 5], [6, 6]]
    assert navmesh.height == 0.3


def test_convex_rooms_have_no_reflex_corners() -> None:
    navmesh = NavMesh(shapely.box(0, 0, 3, 3), 0.0)
    assert navmesh.distance([0, 0], [3, 3]) == pytest.approx(np.sqrt(18))
    assert navmesh.distance([-5, 0], [3, 0]) == pytest.approx(3.0)


def test_several_threads_can_share_a_navmesh() -> None:
    """Each thread finds the same paths as alone, although the navmesh computes its corners on demand."""
    blocks = [shapely.box(x, z, x + 1, z + 1.5) for x in range(1, 20, 2) for z in range(1, 20, 2)]
    area = shapely.box(0, 0, 20, 20).difference(shapely.union_all(blocks))
    rng = np.random.default_rng(0)
    ways = rng.uniform(0, 20, (40, 2, 2))
    alone = NavMesh(area, 0.0)
    expected = [alone.distance(start, end) for start, end in ways]
    shared = NavMesh(area, 0.0)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda way: shared.distance(way[0], way[1]), [*ways, *ways[::-1]]))
    assert found == [*expected, *expected[::-1]]
