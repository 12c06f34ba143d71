import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from housewise.worlds.house.geometry import Box, Pose, Vec3, yaw_rotation
from housewise.worlds.house.object_placeholders import placeholder_mesh
from housewise.worlds.house.scene import Mesh
from housewise.worlds.house.solids import ball, box, cylinder, distinct_color, wall_mesh

SIZES = st.tuples(*[st.floats(0.01, 3.0)] * 3)
RED = (200, 10, 10)


def volume(mesh: Mesh) -> float:
    """Return the volume, which is positive only if all faces point outwards without gaps."""
    solid = trimesh.Trimesh(mesh.vertices, mesh.faces, process=True)
    assert solid.is_watertight
    return float(solid.volume)


@given(SIZES)
def test_solids_fill_their_box(size: Vec3) -> None:
    space = float(np.prod(size))
    for make, share in ((box, 1.0), (cylinder, np.pi / 4), (ball, np.pi / 6)):
        mesh = make(size, RED)
        assert Box.bounding(mesh.vertices).size == pytest.approx(size)
        assert Box.bounding(mesh.vertices).centre == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)
        assert volume(mesh) == pytest.approx(share * space, rel=0.06)
        assert mesh.colors.shape == mesh.faces.shape
        assert (mesh.colors == RED).all() and mesh.colors.dtype == np.uint8


def test_a_box_can_have_another_centre() -> None:
    assert Box.bounding(box((1, 1, 1), RED, centre=(5, 6, 7)).vertices).low == pytest.approx((4.5, 5.5, 6.5))


@given(st.sampled_from(["tennis_ball", "coffee_mug", "cereal_box", "unheard-of thing", ""]), SIZES)
def test_placeholders_have_the_size_of_the_object(category: str, size: Vec3) -> None:
    mesh = placeholder_mesh(category, size)
    assert Box.bounding(mesh.vertices).size == pytest.approx(size)
    assert (mesh.colors == placeholder_mesh(category, (1.0, 1.0, 1.0)).colors[0]).all()


def test_placeholders_have_the_shape_of_their_category() -> None:
    size = (0.2, 0.2, 0.2)
    assert volume(placeholder_mesh("tennis_ball", size)) < volume(placeholder_mesh("mug", size))
    assert volume(placeholder_mesh("mug", size)) < volume(placeholder_mesh("cracker_box", size))


def test_consecutive_numbers_have_distinct_colours() -> None:
    colors = np.array([distinct_color(number) for number in range(60)], dtype=float)
    assert (np.linalg.norm(np.diff(colors, axis=0), axis=1) > 60).all()
    assert ((colors >= 0) & (colors <= 255)).all()


def test_walls_follow_all_rings() -> None:
    outer = np.array([[0, 0], [4, 0], [4, 3], [0, 3], [0, 0]], dtype=float)
    pillar = np.array([[1, 1], [2, 1], [2, 2], [1, 2], [1, 1]], dtype=float)
    mesh = wall_mesh([outer, pillar], 0.5, 2.5, RED)
    assert Box.bounding(mesh.vertices) == Box((0.0, 0.5, 0.0), (4.0, 2.5, 3.0))
    area = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).area
    assert area == pytest.approx((14 + 4) * 2.0)


def test_joined_meshes_keep_their_triangles() -> None:
    parts = [box((1, 1, 1), RED), box((2, 2, 2), (0, 0, 255), centre=(9, 0, 0))]
    joined = Mesh.join(parts)
    triangles = np.concatenate([part.vertices[part.faces] for part in parts])
    assert (joined.vertices[joined.faces] == triangles).all()
    assert (joined.colors[:12] == RED).all() and (joined.colors[12:] == (0, 0, 255)).all()
    assert len(Mesh.join([]).faces) == 0


def test_a_mesh_is_rotated_about_its_own_centre() -> None:
    placed = box((2, 1, 4), RED).transform(Pose((10.0, 0.5, 0.0), yaw_rotation(np.pi / 2)))
    around = Box.bounding(placed.vertices)
    assert around.size == pytest.approx((4, 1, 2))
    assert around.centre == pytest.approx((10.0, 0.5, 0.0))
