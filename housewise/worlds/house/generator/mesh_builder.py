"""Builds meshes of boxes, cylinders, cones and flat panels, with one colour for each triangle."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from housewise.worlds.house.scene import Mesh

Color = tuple[int, int, int]

_CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=np.float64)
_FACES = np.array(
    [
        [0, 1, 3], [0, 3, 2],  # left
        [4, 6, 7], [4, 7, 5],  # right
        [0, 4, 5], [0, 5, 1],  # bottom
        [2, 3, 7], [2, 7, 6],  # top
        [0, 2, 6], [0, 6, 4],  # back
        [1, 5, 7], [1, 7, 3],  # front
    ],
    dtype=np.int64,
)  # fmt: skip
# Sides are darker than the top so that a shape looks solid without a light source.
_SHADE = np.repeat([0.93, 0.93, 0.75, 1.0, 0.86, 0.86], 2)


class MeshBuilder:
    """Collects parts and joins them to one mesh.

    The frame of a piece of furniture has x to the right, y up from the floor and z to the front, with x = z = 0 in the
    middle of its footprint.
    """

    def __init__(self) -> None:
        self._vertices: list[NDArray[np.float64]] = []
        self._faces: list[NDArray[np.int64]] = []
        self._colors: list[NDArray[np.uint8]] = []
        self._count = 0

    def box(self, x: tuple[float, float], y: tuple[float, float], z: tuple[float, float], color: Color) -> None:
        """Add a box from the lower to the higher value along each axis, metres."""
        low, high = np.array([x[0], y[0], z[0]]), np.array([x[1], y[1], z[1]])
        self.add(low + _CORNERS * (high - low), _FACES, _shade_color(color, _SHADE))

    def cylinder(self, x: float, z: float, radius: float, y: tuple[float, float], color: Color, sides: int = 8) -> None:
        """Add an upright cylinder. With 4, 8, 12 ... sides its bounding box is exactly two radii wide."""
        self.cone(x, z, (radius, radius), y, color, sides)

    def cone(
        self, x: float, z: float, radii: tuple[float, float], y: tuple[float, float], color: Color, sides: int = 8
    ) -> None:
        """Add an upright truncated cone with a bottom and a top radius."""
        turn = np.arange(sides) * (2 * np.pi / sides)
        ring = np.stack([np.cos(turn), np.zeros(sides), np.sin(turn)], axis=1)
        vertices = np.concatenate([ring * radii[0] + [x, y[0], z], ring * radii[1] + [x, y[1], z]])
        here = np.arange(sides)
        there = (here + 1) % sides
        fan = np.arange(1, sides - 1)
        faces = np.concatenate(
            [
                np.stack([here, here + sides, there], axis=1),
                np.stack([there, here + sides, there + sides], axis=1),
                np.stack([np.zeros_like(fan), fan, fan + 1], axis=1),
                np.stack([np.zeros_like(fan), fan + 1, fan], axis=1) + sides,
            ]
        )
        side = 0.9 + 0.06 * ring[:, 0]
        ends = np.ones(len(fan))
        self.add(vertices, faces, _shade_color(color, np.concatenate([side, side, 0.75 * ends, ends])))

    def quads(self, corners: ArrayLike, colors: ArrayLike) -> None:
        """Add flat panels.

        Args:
            corners: (N, 4, 3), counter-clockwise seen from the visible side.
            colors: (N, 3) RGB.
        """
        points = np.asarray(corners, dtype=np.float64).reshape(-1, 3)
        first = np.arange(0, len(points), 4)[:, None, None]
        faces = (first + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
        self.add(points, faces, np.repeat(np.asarray(colors, dtype=np.uint8), 2, axis=0))

    def add(self, vertices: NDArray[np.float64], faces: NDArray[np.int64], colors: NDArray[np.uint8]) -> None:
        """Add triangles: vertices (V, 3), faces (F, 3) into them, colours (F, 3)."""
        self._vertices.append(vertices)
        self._faces.append(faces + self._count)
        self._colors.append(colors)
        self._count += len(vertices)

    def mesh(self, centre: ArrayLike = (0.0, 0.0, 0.0)) -> Mesh:
        """Return the mesh of all added parts, with ``centre`` as the origin."""
        return Mesh(
            vertices=np.concatenate(self._vertices) - np.asarray(centre, dtype=np.float64),
            faces=np.concatenate(self._faces),
            colors=np.concatenate(self._colors),
        )


def _shade_color(color: Color, shade: NDArray[np.float64]) -> NDArray[np.uint8]:
    return np.asarray(np.clip(np.outer(shade, color), 0, 255), dtype=np.uint8)
