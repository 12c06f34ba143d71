import numpy as np
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from housewise.worlds.house.generator.house_layout import WALL, HouseLayout
from housewise.worlds.house.generator.mesh_builder import MeshBuilder
from housewise.worlds.house.generator.palette import house_palettes
from housewise.worlds.house.generator.structure import LINTEL, WALL_HEIGHT, _add_walls, build_structure
from housewise.worlds.house.scene import Mesh
from tests.worlds.house.generator.layouts import layout_of

SEEDS = st.integers(0, 10_000)


def unfurnished_house(seed: int) -> tuple[HouseLayout, Mesh]:
    """Return an unfurnished house."""
    rng = np.random.default_rng(seed)
    plan = layout_of(rng, 3 + seed % 6)
    return plan, build_structure(plan, [[] for _ in plan.rooms], house_palettes(len(plan.rooms), rng), rng)


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_walls_leave_the_doorways_open_and_every_room_has_a_floor(seed: int) -> None:
    plan, mesh = unfurnished_house(seed)
    check_doorways(plan, mesh)
    check_floors(plan, mesh)


def check_doorways(plan: HouseLayout, mesh: Mesh) -> None:
    corners = mesh.vertices[mesh.faces]
    low = (corners[:, :, 1].min(axis=1) < LINTEL - 0.05) & (corners[:, :, 1].max(axis=1) > 0.1)
    traces = shapely.linestrings(corners[low][:, :, [0, 2]])
    for door in plan.doors:
        opening = door.expand(0.2, -0.02).polygon()
        assert not shapely.intersects(traces, opening).any()


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_wall_faces_point_outwards_and_enclose_all_rooms(seed: int) -> None:
    plan, _ = unfurnished_house(seed)
    shape = MeshBuilder()
    _add_walls(shape, plan, house_palettes(len(plan.rooms), np.random.default_rng(seed)))
    mesh = shape.mesh()
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    upright = np.abs(normals[:, 1]) < 1e-9
    assert (normals[~upright, 1] > 0).all()
    before = corners[upright].mean(axis=1) + 0.02 * normals[upright] / np.linalg.norm(normals[upright], axis=1)[:, None]
    open_floor = shapely.union_all(
        [room.interior.polygon() for room in plan.rooms] + [door.gap.polygon() for door in plan.doors]
    )
    # A margin of a micrometre closes gaps between floors and doorways due to rounding.
    solid = plan.outline.expand(WALL / 2).polygon().difference(open_floor.buffer(1e-6, join_style="mitre"))
    assert not shapely.contains_xy(solid, before[:, 0], before[:, 2]).any()
    area = np.linalg.norm(normals[upright], axis=1).sum() / 2
    assert np.isclose(area, solid.length * WALL_HEIGHT, rtol=1e-4)


def check_floors(plan: HouseLayout, mesh: Mesh) -> None:
    corners = mesh.vertices[mesh.faces]
    level = np.abs(corners[:, :, 1]).max(axis=1) < 1e-9
    centres, areas = (
        corners[level].mean(axis=1),
        np.abs(np.cross(corners[level, 1] - corners[level, 0], corners[level, 2] - corners[level, 0])[:, 1]),
    )
    for room in plan.rooms:
        inside = shapely.contains_xy(room.interior.polygon(), centres[:, 0], centres[:, 2])
        assert np.isclose(areas[inside].sum() / 2, room.interior.polygon().area)
