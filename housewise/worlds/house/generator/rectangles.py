"""Axis-aligned rectangles on the floor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import shapely


@dataclass(frozen=True)
class Rect:
    """A rectangle in the horizontal plane, metres: x0 <= x <= x1 and z0 <= z <= z1."""

    x0: float
    z0: float
    x1: float
    z1: float

    @classmethod
    def from_centre(cls, x: float, z: float, width: float, depth: float) -> Rect:
        """Return the rectangle of a width (along x) and a depth (along z) around a point."""
        return cls(x - width / 2, z - depth / 2, x + width / 2, z + depth / 2)

    @classmethod
    def bounding(cls, rects: Sequence[Rect]) -> Rect:
        """Return the smallest rectangle that contains others."""
        return cls(
            min(r.x0 for r in rects), min(r.z0 for r in rects), max(r.x1 for r in rects), max(r.z1 for r in rects)
        )

    @classmethod
    def from_spans(cls, axis: int, along: tuple[float, float], across: tuple[float, float]) -> Rect:
        """Return the rectangle with a span along an axis (0 for x, 1 for z) and another span across it."""
        (x0, x1), (z0, z1) = (along, across) if axis == 0 else (across, along)
        return cls(x0, z0, x1, z1)

    @property
    def width(self) -> float:
        """Extent along x, metres."""
        return self.x1 - self.x0

    @property
    def depth(self) -> float:
        """Extent along z, metres."""
        return self.z1 - self.z0

    @property
    def centre(self) -> tuple[float, float]:
        """(x, z) of its centre, metres."""
        return (self.x0 + self.x1) / 2, (self.z0 + self.z1) / 2

    def expand(self, by: float) -> Rect:
        """Return the rectangle with every side moved outwards by a distance in metres, inwards if negative."""
        return Rect(self.x0 - by, self.z0 - by, self.x1 + by, self.z1 + by)

    def overlaps(self, other: Rect) -> bool:
        """Whether two rectangles overlap; common sides do not count."""
        tiny = 1e-6
        return (
            self.x0 < other.x1 - tiny
            and other.x0 < self.x1 - tiny
            and self.z0 < other.z1 - tiny
            and other.z0 < self.z1 - tiny
        )

    def span(self, axis: int) -> tuple[float, float]:
        """Return the least and greatest coordinate along x (axis 0) or z (axis 1)."""
        return (self.x0, self.x1) if axis == 0 else (self.z0, self.z1)

    def polygon(self) -> Any:
        """Return the rectangle as a shapely polygon in (x, z)."""
        return shapely.box(self.x0, self.z0, self.x1, self.z1)


def rotate_quarters(x: float, z: float, quarter: int) -> tuple[float, float]:
    """Rotate a point about y by quarter turns, counter-clockwise seen from above. The first one turns +z to +x."""
    return ((x, z), (z, -x), (-x, -z), (-z, x))[quarter % 4]
