import numpy as np
import pytest
import trimesh

from housewise.worlds.house.generator.furniture_shapes import build_furniture_mesh
from housewise.worlds.house.generator.furniture_sizes import DECOR_SIZES, SIZES, random_size
from housewise.worlds.house.generator.palette import house_palettes
from housewise.worlds.house.geometry import Box
from housewise.worlds.house.preferences import RECEPTACLE_KINDS

PALETTE = house_palettes(1, np.random.default_rng(0))[0]


@pytest.mark.parametrize("kind", [*SIZES, *DECOR_SIZES])
def test_a_piece_fills_its_box_around_its_centre(kind: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        size = random_size(kind, rng)
        box = Box.bounding(build_furniture_mesh(kind, size, PALETTE).vertices)
        assert box.size == pytest.approx(size)
        assert box.centre == pytest.approx((0, 0, 0))


@pytest.mark.parametrize("kind", [*SIZES, *DECOR_SIZES])
def test_faces_look_outwards_and_each_has_a_colour(kind: str) -> None:
    mesh = build_furniture_mesh(kind, random_size(kind, np.random.default_rng(2)), PALETTE)
    assert mesh.faces.max() < len(mesh.vertices)
    assert mesh.colors.shape == mesh.faces.shape
    assert mesh.colors.dtype == np.uint8
    for part in trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).split(only_watertight=False):
        assert part.volume > 0


def test_preferences_know_all_kinds_of_furniture() -> None:
    assert tuple(sorted(SIZES)) == RECEPTACLE_KINDS


def test_rooms_have_different_floor_colours() -> None:
    palettes = house_palettes(8, np.random.default_rng(3))
    assert len({palette.floor for palette in palettes}) == 8
