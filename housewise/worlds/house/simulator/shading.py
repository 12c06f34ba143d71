"""Shades meshes with a fixed light, so that walls, tops and corners can be distinguished."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from housewise.worlds.house.scene import Mesh

SKY = (196, 214, 228)
"""Colour of the background, RGB."""

_LIGHT = np.array([0.4, 0.8, 0.45]) / np.linalg.norm([0.4, 0.8, 0.45])


def shaded_colors(mesh: Mesh) -> NDArray[np.float32]:
    """Return the shaded colours of a mesh's triangles, (F, 3), 0 to 255; upward triangles are brightest."""
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    shade = np.where(normals[:, 1] > 0.5, 1.0, 0.62 + 0.3 * np.abs(normals @ _LIGHT))
    return np.asarray(mesh.colors * shade[:, None], dtype=np.float32)
