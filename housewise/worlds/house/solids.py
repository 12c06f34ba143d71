"""Meshes of simple solids (boxes, cylinders, ellipsoids, walls) in one colour."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import trimesh
from numpy.typing import ArrayLike, NDArray

from housewise.worlds.house.scene import Mesh

Color = Sequence[int]

_GOLDEN_TURN = 0.61803398875


def single_color_mesh(shape: trimesh.Trimesh, color: Color) -> Mesh:
    """Convert a trimesh solid to a mesh of one colour (RGB, 0 to 255)."""
    faces = np.asarray(shape.faces, dtype=np.int64)
    return Mesh(
        np.asarray(shape.vertices, dtype=np.float64),
        faces,
        np.tile(np.asarray(color, dtype=np.uint8), (len(faces), 1)),
    )


def box(size: ArrayLike, color: Color, centre: ArrayLike = (0.0, 0.0, 0.0)) -> Mesh:
    """Return a box of a size (3,) in metres."""
    shape = trimesh.creation.box(extents=np.asarray(size, dtype=np.float64))
    shape.apply_translation(np.asarray(centre, dtype=np.float64))
    return single_color_mesh(shape, color)


def cylinder(size: ArrayLike, color: Color, sections: int = 16) -> Mesh:
    """Return an upright, possibly elliptic cylinder that fills a box of a size (3,) in metres."""
    shape = trimesh.creation.cylinder(radius=0.5, height=1.0, sections=sections)
    shape.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, [1, 0, 0]))
    return single_color_mesh(_scale_to_box(shape, size), color)


def ball(size: ArrayLike, color: Color) -> Mesh:
    """Return an ellipsoid that fills a box of a size (3,) in metres."""
    return single_color_mesh(_scale_to_box(trimesh.creation.icosphere(subdivisions=2), size), color)


def wall_mesh(rings: Sequence[NDArray[np.float64]], low: float, high: float, color: Color) -> Mesh:
    """Return vertical walls along closed rings of (x, z) points, between two heights."""
    parts = []
    for ring in rings:
        count = len(ring) - 1
        foot = np.column_stack([ring[:, 0], np.full(len(ring), low), ring[:, 1]])
        head = np.column_stack([ring[:, 0], np.full(len(ring), high), ring[:, 1]])
        first = np.arange(count)
        faces = np.concatenate(
            [
                np.column_stack([first, first + 1, first + len(ring)]),
                np.column_stack([first + 1, first + len(ring) + 1, first + len(ring)]),
            ]
        )
        parts.append(Mesh(np.concatenate([foot, head]), faces, np.tile(np.asarray(color, np.uint8), (len(faces), 1))))
    return Mesh.join(parts)


def distinct_color(number: int) -> tuple[int, int, int]:
    """Return a saturated colour for a number; consecutive numbers differ in hue."""
    hue = (number * _GOLDEN_TURN) % 1.0
    channels = np.clip(np.abs((hue * 6 + np.array([0.0, 4.0, 2.0])) % 6 - 3) - 1, 0, 1)
    red, green, blue = (int(60 + 180 * channel) for channel in channels)
    return (red, green, blue)


def _scale_to_box(shape: trimesh.Trimesh, size: ArrayLike) -> trimesh.Trimesh:
    shape.apply_translation(-shape.bounds.mean(axis=0))
    shape.apply_scale(np.asarray(size, dtype=np.float64) / shape.extents)
    return shape
