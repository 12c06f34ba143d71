"""Mesh files for habitat-sim, which can be written without OpenGL and habitat-sim."""

from dataclasses import replace
from pathlib import Path

import pytest
import trimesh

from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.object_placeholders import placeholder_mesh
from housewise.worlds.house.simulator.mesh_files import MeshFileCache, write_stage
from tests.worlds.house.housekeep_folder import box_obj


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder inside an empty folder, which has to stay empty otherwise."""
    return tmp_path / "outer" / "assets"


@pytest.mark.parametrize("category", ["../../x", "/tmp/x", "mug\0", "m" * 300, "a/b", "..", ""])
def test_file_names_never_leave_the_folder(folder: Path, category: str) -> None:
    path = MeshFileCache(folder).mesh(placeholder_mesh(category, (0.1, 0.2, 0.3)))
    assert path.parent == folder and path.name.isascii() and len(path.name) < 60
    assert [file for file in folder.parent.rglob("*") if file.is_file()] == [path]


def test_a_house_is_written_into_its_folder(folder: Path, toy: RearrangementTask) -> None:
    assets = MeshFileCache(folder)
    files = {assets.mesh(thing.mesh) for thing in toy.scene.receptacles}
    stage = write_stage(assets.mesh(toy.scene.structure))
    assert {path.parent for path in folder.parent.rglob("*") if path.is_file()} == {folder}
    assert len(files) == len(toy.scene.receptacles) and stage.parent == folder


def test_each_mesh_is_written_once_and_differs_from_others(folder: Path) -> None:
    assets = MeshFileCache(folder)
    one, other = placeholder_mesh("mug", (0.1, 0.2, 0.3)), placeholder_mesh("box", (0.1, 0.2, 0.3))
    first = assets.mesh(one)
    first.write_bytes(b"written once")
    assert assets.mesh(one) == first and first.read_bytes() == b"written once"
    assert len({first, assets.mesh(other), assets.mesh(replace(one, colors=255 - one.colors))}) == 3


def test_a_textured_model_is_written_once(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.obj"
    model.write_text(box_obj((1.0, 2.0, 3.0)))
    path = MeshFileCache(folder).model(model)
    assert path.parent == folder and path == MeshFileCache(folder).model(model)
    assert trimesh.load(path).extents == pytest.approx((1.0, 2.0, 3.0))
