import numpy as np
import pytest
import shapely
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import Polygon

from housewise.worlds.house.geometry import Box
from housewise.worlds.house.wall_inference import build_walls, infer_free_floor
from tests.worlds.house.toy import BED, COUNTER, DOOR, FLOOR, FURNITURE, RADIUS, TABLE, box_of, footprint, walkable

STANDING = [box_of(key) for key in FURNITURE if key != DOOR]
WALL = shapely.union_all([shapely.box(4.0, 0, 4.1, 1.5), shapely.box(4.0, 2.5, 4.1, 4.0)])


@pytest.fixture(scope="module")
def floor() -> Polygon:
    return infer_free_floor(walkable(), STANDING)


def test_furniture_and_the_space_before_it_are_floor(floor: Polygon) -> None:
    for key in (COUNTER, TABLE, BED):
        around = footprint(key).buffer(RADIUS, join_style="mitre").intersection(FLOOR)
        assert floor.buffer(0.01).covers(around), key


def test_inner_walls_are_closed_and_doors_are_open(floor: Polygon) -> None:
    assert floor.intersection(WALL).area < 0.02 * WALL.area
    assert floor.buffer(0.01).covers(shapely.box(3.9, 1.5, 4.2, 2.5))


def test_the_inferred_floor_agrees_with_the_true_floor(floor: Polygon) -> None:
    assert floor.intersection(FLOOR).area > 0.995 * FLOOR.area
    assert FLOOR.buffer(0.05, join_style="mitre").covers(floor)


def test_high_furniture_is_ignored() -> None:
    cabinet = Box((1.0, 1.8, -0.3), (2.0, 2.4, 0.0))
    assert infer_free_floor(walkable(), [*STANDING, cabinet]).intersection(cabinet.footprint).area < 1e-6
    cupboard = Box((1.0, 0.0, -0.3), (2.0, 2.4, 0.0))
    assert infer_free_floor(walkable(), [*STANDING, cupboard]).buffer(1e-6).covers(cupboard.footprint)


def test_a_mirror_in_a_wall_is_visible_from_the_floor() -> None:
    mirror = Box((1.0, 1.0, -0.08), (2.0, 1.8, -0.02))
    floor = infer_free_floor(walkable(), STANDING, [mirror])
    assert floor.buffer(1e-6).covers(mirror.footprint)
    assert floor.buffer(1e-6).covers(shapely.box(1.0, -0.08, 2.0, 0.5))
    assert isinstance(floor, Polygon)


def test_hanging_furniture_far_from_the_floor_is_ignored() -> None:
    picture = Box((1.0, 1.0, -2.0), (2.0, 1.8, -1.9))
    assert infer_free_floor(walkable(), STANDING, [picture]).equals(infer_free_floor(walkable(), STANDING))


@given(st.floats(-1, 1), st.floats(2, 5))
def test_walls_follow_the_boundary_of_the_floor(low: float, high: float) -> None:
    mesh = build_walls(FLOOR, low, high)
    corners = mesh.vertices[mesh.faces]
    level = np.ptp(corners[:, :, 1], axis=1) < 1e-9
    walls = trimesh.Trimesh(corners[~level].reshape(-1, 3), np.arange(3 * (~level).sum()).reshape(-1, 3), process=False)
    assert walls.area == pytest.approx(FLOOR.length * (high - low))
    assert (mesh.vertices[:, 1].min(), mesh.vertices[:, 1].max()) == pytest.approx((low, high))
    feet = corners[~level][:, :, [0, 2]].reshape(-1, 2)
    assert max(shapely.distance(FLOOR.boundary, shapely.points(feet))) < 1e-9


def test_boards_cover_the_floor() -> None:
    mesh = build_walls(FLOOR, low=0.2)
    corners = mesh.vertices[mesh.faces]
    level = np.ptp(corners[:, :, 1], axis=1) < 1e-9
    boards = shapely.union_all([Polygon(triangle) for triangle in corners[level][:, :, [0, 2]]])
    assert boards.covers(FLOOR)
    assert (corners[level][:, :, 1] == 0.2).all()
    up = np.cross(corners[level][:, 1] - corners[level][:, 0], corners[level][:, 2] - corners[level][:, 0])
    assert (up[:, 1] > 0).all()


def test_a_hole_in_the_floor_gets_walls() -> None:
    pillar = shapely.box(1, 1, 1.5, 1.5)
    assert len(build_walls(FLOOR.difference(pillar)).faces) == len(build_walls(FLOOR).faces) + 8
