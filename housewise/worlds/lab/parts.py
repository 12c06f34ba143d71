"""Parts from which the shapes of things in the lab are built: solids, glowing parts, and labels in a pixel font."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from housewise.worlds.house.generator.mesh_builder import Color, MeshBuilder
from housewise.worlds.house.generator.palette import tint
from housewise.worlds.house.scene import Mesh

Span = tuple[float, float]

COLORS: Mapping[str, Color] = {
    "red": (200, 40, 38), "green": (44, 150, 62), "blue": (40, 84, 200), "yellow": (236, 200, 44),
    "pink": (238, 130, 178), "black": (42, 42, 46), "white": (236, 236, 232), "gray": (146, 150, 156),
    "brown": (128, 84, 52), "orange": (236, 124, 32), "silver": (184, 188, 194), "purple": (126, 66, 166),
    "light blue": (150, 200, 236), "light green": (150, 210, 130), "beige": (216, 196, 160), "cyan": (60, 190, 200),
}  # fmt: skip
"""RGB of the names of colours."""

# Letters of three by five pixels, rows from the top, the highest bit on the left.
_LETTERS = {
    "A": "25755", "B": "65656", "C": "34443", "D": "65556", "E": "74647", "F": "74644", "G": "34553", "H": "55755",
    "I": "72227", "J": "11152", "K": "55655", "L": "44447", "M": "57755", "N": "65555", "O": "25552", "P": "65644",
    "Q": "25573", "R": "65655", "S": "34216", "T": "72222", "U": "55557", "V": "55552", "W": "55775", "X": "55255",
    "Y": "55222", "Z": "71247", "0": "75557", "1": "26227", "2": "61247", "3": "61216", "+": "02720", "-": "00700",
    " ": "00000", "!": "22202",
}  # fmt: skip


def rgb(color: str) -> Color:
    """Return a colour by its name; names without an entry are those of gray things."""
    return COLORS.get(color, COLORS["gray"])


@dataclass(frozen=True, eq=False)
class Appearance:
    """The shape and colours of a thing, with the middle of its lower side as the origin and its front at +z.

    Attributes:
        solid: Parts that are lit by the room.
        glow: Parts that are visible in the dark.
    """

    solid: Mesh
    glow: Mesh


class Parts(MeshBuilder):
    """Collects the parts of a thing. The frame is that of MeshBuilder.

    Attributes:
        glow: Builder of the parts that are visible in the dark.
    """

    def __init__(self) -> None:
        super().__init__()
        self.glow = MeshBuilder()

    def ball(self, x: float, z: float, radius: float, y: Span, color: Color) -> None:
        """Add a ball, stretched from one height to another."""
        low, high = y
        ring = radius * np.sin(np.pi * np.array([0.08, 0.3, 0.5, 0.7, 0.92]))
        ring[2] = radius
        level = low + (high - low) * np.array([0.0, 0.18, 0.5, 0.82, 1.0])
        for place in range(4):
            ends = (float(level[place]), float(level[place + 1]))
            self.cone(x, z, (float(ring[place]), float(ring[place + 1])), ends, color)

    def barrel(self, x: float, y: float, radii: Span, z: Span, color: Color, sides: int = 8) -> None:
        """Add a truncated cone along z, with a radius at its back and one at its front."""
        upright = MeshBuilder()
        upright.cone(x, -y, radii, z, color, sides)
        mesh = upright.mesh()
        self.add(mesh.vertices[:, [0, 2, 1]] * (1, -1, 1), mesh.faces, mesh.colors)

    def panel(self, x: Span, y: Span, z: float, color: Color, glows: bool = False) -> None:
        """Add an upright panel that faces the front."""
        corners = [(x[0], y[0], z), (x[1], y[0], z), (x[1], y[1], z), (x[0], y[1], z)]
        (self.glow if glows else self).quads([corners], [color])

    def label(self, text: str, x: Span, y: Span, z: float, ink: Color, paper: Color) -> None:
        """Add a line of text on a plate that faces the front."""
        self.panel(x, y, z, paper)
        columns = 4 * len(text) + 1
        size = min((x[1] - x[0]) / columns, (y[1] - y[0]) / 7)
        left = (x[0] + x[1] - size * (columns - 2)) / 2
        top = (y[0] + y[1] + size * 5) / 2
        self.quads(*_pixels(text, left, top, size, z + 0.003, ink))

    def appearance(self) -> Appearance:
        """Return all parts."""
        empty = Mesh.join([])
        return Appearance(self.mesh() if self._vertices else empty, self.glow.mesh() if self.glow._vertices else empty)


def _pixels(
    text: str, left: float, top: float, size: float, z: float, ink: Color
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Return the quads (N, 4, 3) of the pixels of a text, joined along rows, and their colours (N, 3)."""
    quads = []
    for place, letter in enumerate(text.upper()):
        for row, digit in enumerate(_LETTERS.get(letter, "00000")):
            column = 0
            for is_ink, run in groupby(f"{int(digit):03b}"):
                length = len(list(run))
                if is_ink == "1":
                    x0 = left + (4 * place + column) * size
                    x1, y1 = x0 + length * size, top - row * size
                    quads.append([(x0, y1 - size, z), (x1, y1 - size, z), (x1, y1, z), (x0, y1, z)])
                column += length
    points = np.array(quads, dtype=np.float64).reshape(-1, 4, 3)
    return points, np.tile(np.array(ink, dtype=np.uint8), (len(points), 1))


def grown(mesh: Mesh, factor: float) -> Mesh:
    """Return a mesh in another size, on the same ground."""
    return Mesh(mesh.vertices * factor, mesh.faces, mesh.colors)


def broken(mesh: Mesh) -> Mesh:
    """Return a mesh in two halves that have fallen apart, with dark edges."""
    if not len(mesh.faces):
        return mesh
    corners = mesh.vertices[mesh.faces]
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    middle, width, height = (low[0] + high[0]) / 2, high[0] - low[0], high[1] - low[1]
    centres = corners.mean(axis=1)
    # A jagged line divides the halves.
    jag = 0.08 * width * np.sign(np.sin(14 * (centres[:, 1] - low[1]) / max(height, 1e-6)))
    side = np.where(centres[:, 0] > middle + jag, 1.0, -1.0)
    lean = 0.25 * side
    off, up = corners[..., 0] - middle, corners[..., 1] - low[1]
    cos, sin = np.cos(lean)[:, None], np.sin(lean)[:, None]
    moved = np.stack(
        [
            middle + off * cos + up * sin + 0.12 * width * side[:, None],
            low[1] + np.maximum(0.0, up * cos - off * sin * side[:, None] * 0.3),
            corners[..., 2],
        ],
        axis=-1,
    )
    shards = MeshBuilder()
    small = 0.1 * max(width, high[2] - low[2])
    for x, z in ((0.05, 0.6), (-0.3, 0.45), (0.3, 0.7)):
        place, front = middle + x * width, high[2] * z + small
        shards.cone(
            place, front, (small, 0.2 * small), (low[1], low[1] + 0.6 * small), tint(_middle_color(mesh), 0.6), 4
        )
    faces = np.arange(len(moved) * 3).reshape(-1, 3)
    return Mesh.join([Mesh(moved.reshape(-1, 3), faces, mesh.colors), shards.mesh()])


def _middle_color(mesh: Mesh) -> Color:
    r, g, b = (int(part) for part in np.median(mesh.colors, axis=0))
    return (r, g, b)
