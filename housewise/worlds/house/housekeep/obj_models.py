"""Reads the receptacle models of the Housekeep data: textured OBJ files, with one colour for each triangle."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import trimesh
from numpy.typing import NDArray
from trimesh.resolvers import FilePathResolver

from housewise.core.errors import DataError
from housewise.core.files import read_bytes
from housewise.core.printable_text import excerpt
from housewise.worlds.house.geometry import FARTHEST
from housewise.worlds.house.model_checks import check_referenced_files
from housewise.worlds.house.scene import Mesh

_GREY = (150, 150, 150)


class _RegularFiles(FilePathResolver):  # type: ignore[misc]
    """Finds the materials and textures of a model in its folder; only regular files count."""

    def get(self, name: str) -> bytes:
        """See Resolver.get of trimesh."""
        name, root = name.strip(), Path(self.parent).resolve()
        for candidate in (name, name.lstrip("/"), Path(name).name):
            path = (root / candidate).resolve()
            if path.is_relative_to(root) and path.exists():
                return read_bytes(path)
        raise FileNotFoundError(name)


def read_obj_model(path: Path) -> Mesh:
    """Read the triangles of an OBJ file around the centre of its bounding box.

    habitat-sim also moves the origin of models there, so the poses of the data apply unchanged.

    Raises:
        DataError: If the file cannot be read.
    """
    check_referenced_files(path)
    try:
        parts = [
            Mesh(np.asarray(part.vertices, np.float64), np.asarray(part.faces, np.int64), _face_colors(part))
            for part in model_parts(path)
        ]
        mesh = Mesh.join(parts)
    except Exception as error:  # trimesh's parsers raise errors of any class
        raise DataError(f"{path}: not a readable OBJ model ({excerpt(error)}); fetch the file again") from error
    if not len(mesh.faces):
        raise DataError(f"{path}: the model has no triangles; fetch the file again")
    if not (np.ptp(mesh.vertices, axis=0) <= FARTHEST).all():
        raise DataError(f"{path}: the model is larger than {FARTHEST:.0f} m or not finite; fetch the file again")
    centre = (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0)) / 2
    return Mesh(mesh.vertices - centre, mesh.faces, mesh.colors)


def model_parts(path: Path) -> list[trimesh.Trimesh]:
    """Read the meshes of a file, without those that have no triangles.

    Raises:
        OSError: If the file is not a regular file.
        ValueError: If a vertex does not have three coordinates.
    """
    loaded = trimesh.load(
        BytesIO(read_bytes(path)),
        file_type=path.suffix.lstrip("."),
        resolver=_RegularFiles(str(path)),
        process=False,
        maintain_order=True,
    )
    parts = list(loaded.geometry.values()) if isinstance(loaded, trimesh.Scene) else [loaded]
    parts = [part for part in parts if len(part.faces)]
    for part in parts:
        if np.shape(part.vertices)[1:] != (3,):
            raise ValueError("a vertex does not have three coordinates")
    return parts


def _face_colors(part: trimesh.Trimesh) -> NDArray[np.uint8]:
    """Return the texture's colour at the middle of each triangle, or the material's colour."""
    material = getattr(part.visual, "material", None)
    image, uv = getattr(material, "image", None), getattr(part.visual, "uv", None)
    if image is None or uv is None:
        color = getattr(material, "main_color", _GREY)
        return np.tile(np.asarray(color, dtype=np.uint8)[:3], (len(part.faces), 1))
    pixels = np.asarray(image.convert("RGB"))
    height, width = pixels.shape[:2]
    middle = np.asarray(uv)[part.faces].mean(axis=1) % 1.0
    columns = np.minimum((middle[:, 0] * width).astype(int), width - 1)
    rows = np.minimum(((1 - middle[:, 1]) * height).astype(int), height - 1)
    return np.asarray(pixels[rows, columns], dtype=np.uint8)
