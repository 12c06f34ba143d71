"""Writes meshes as files that OpenGL simulators load."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import trimesh

from household.scene import Mesh


def write_glb(mesh: Mesh, path: Path) -> None:
    """Write a mesh as binary glTF, each triangle in its own flat colour.

    Args:
        mesh: with one colour for each triangle.
        path: of the file; its folder is made where it is missing.
    """
    corners = mesh.vertices[mesh.faces].reshape(-1, 3)
    faces = np.arange(len(corners)).reshape(-1, 3)
    opaque = np.full((len(mesh.colors), 1), 255, dtype=np.uint8)
    colors = np.repeat(np.hstack([mesh.colors, opaque]), 3, axis=0)
    flat = trimesh.Trimesh(corners, faces, vertex_colors=colors, process=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(trimesh.Scene(flat).export(file_type="glb", include_normals=True))
