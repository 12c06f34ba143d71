"""Writes meshes as binary glTF files, for habitat-sim to load."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from numpy.typing import NDArray
from trimesh.visual import TextureVisuals
from trimesh.visual.material import PBRMaterial

from housewise.worlds.house.housekeep.obj_models import model_parts
from housewise.worlds.house.scene import Mesh
from housewise.worlds.house.simulator.shading import shaded_colors

_WHITE = [255, 255, 255, 255]


class MeshFileCache:
    """Files of meshes and models, each written once under a hash, since names of the data may be unsafe as file names.

    Args:
        folder: Folder of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def mesh(self, mesh: Mesh) -> Path:
        """Return the file of a mesh; see write_glb."""
        arrays = (mesh.vertices, mesh.faces, mesh.colors)
        path = self._path("mesh", b"".join(np.ascontiguousarray(array).tobytes() for array in arrays))
        if not path.exists():
            write_glb(mesh, path)
        return path

    def model(self, model: Path) -> Path:
        """Return the file of a textured model; see write_textured_glb."""
        path = self._path("model", str(model).encode("utf-8", "surrogatepass"))
        if not path.exists():
            write_textured_glb(model, path)
        return path

    def _path(self, kind: str, content: bytes) -> Path:
        return self._folder / f"{kind}-{hashlib.sha256(content).hexdigest()[:32]}.glb"


def write_glb(mesh: Mesh, path: Path) -> None:
    """Write a mesh as binary glTF, with its shaded colours and both sides of each triangle.

    Args:
        mesh: The mesh.
        path: File to write; a missing folder is created.
    """
    # OpenGL does not draw triangles seen from behind, and walls have one layer of triangles.
    corners = mesh.vertices[np.concatenate([mesh.faces, mesh.faces[:, ::-1]])].reshape(-1, 3)
    faces = np.arange(len(corners)).reshape(-1, 3)
    lit = np.tile(shaded_colors(mesh).astype(np.uint8), (2, 1))
    colors = np.repeat(np.hstack([lit, np.full((len(lit), 1), 255, dtype=np.uint8)]), 3, axis=0)
    paint = TextureVisuals(material=_matte_material(None))
    paint.vertex_attributes["color"] = colors
    _write(path, [trimesh.Trimesh(corners, faces, visual=paint, process=False)])


def write_textured_glb(model: Path, path: Path) -> None:
    """Write a textured model as binary glTF around the centre of its bounding box, with both sides of each triangle.

    Args:
        model: A file that housewise.worlds.house.housekeep.obj_models.read_obj_model reads.
        path: File to write; a missing folder is created.
    """
    parts = model_parts(model)
    corners = np.concatenate([part.bounds for part in parts])
    centre = (corners.min(axis=0) + corners.max(axis=0)) / 2
    _write(path, [_textured_part(part, centre) for part in parts])


def _textured_part(part: trimesh.Trimesh, centre: NDArray[np.float64]) -> trimesh.Trimesh:
    material, uv = getattr(part.visual, "material", None), getattr(part.visual, "uv", None)
    image = getattr(material, "image", None) if uv is not None else None
    matt = _matte_material(image, getattr(material, "main_color", None))
    faces = np.concatenate([part.faces, part.faces[:, ::-1]])
    return trimesh.Trimesh(part.vertices - centre, faces, visual=TextureVisuals(uv=uv, material=matt), process=False)


def _matte_material(image: Any, color: Any = None) -> PBRMaterial:
    """Return a material that shows its colour or its texture unchanged."""
    plain = _WHITE if image is not None or color is None else color
    return PBRMaterial(baseColorTexture=image, baseColorFactor=plain, metallicFactor=0.0)


def _write(path: Path, parts: Sequence[trimesh.Trimesh]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(trimesh.Scene(list(parts)).export(file_type="glb", include_normals=True))


def write_stage(asset: Path) -> Path:
    """Write the configuration of a habitat-sim stage beside its asset.

    Returns:
        Path of the configuration.
    """
    path = asset.with_suffix(".stage_config.json")
    frame = {"up": [0.0, 1.0, 0.0], "front": [0.0, 0.0, -1.0]}
    path.write_text(json.dumps({"render_asset": asset.name, "force_flat_shading": True, **frame}), encoding="utf-8")
    return path
