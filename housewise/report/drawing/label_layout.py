"""Places labels and marks in a picture so that they do not overlap."""

from __future__ import annotations

from collections.abc import Iterable

Point = tuple[float, float]

_AROUND = (
    (1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (0.7, -1.0), (0.7, 1.0), (-0.7, -1.0), (-0.7, 1.0),
    (1.0, -0.5), (1.0, 0.5), (-1.0, -0.5), (-1.0, 0.5),
)  # fmt: skip


class LabelLayout:
    """The occupied boxes of a picture. Boxes are given by their centre and size, in pixels.

    Args:
        size: Width and height of the picture.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self._size = size
        self._taken: list[tuple[float, float, float, float]] = []

    def block(self, x: float, y: float, width: float, height: float) -> None:
        """Occupy a box, even if it overlaps others."""
        self._taken.append((x, y, width, height))

    def take_if_free(self, x: float, y: float, width: float, height: float) -> bool:
        """Occupy a box if it overlaps no other and lies within the picture. Return whether it was free."""
        if self._is_covered(x, y, width, height):
            return False
        self.block(x, y, width, height)
        return True

    def place_beside(self, x: float, y: float, width: float, height: float) -> Point | None:
        """Occupy the nearest free box beside a mark. Return its centre, or None if there is none.

        Args:
            x: Horizontal centre of the mark.
            y: Vertical centre of the mark.
            width: Width of the box.
            height: Height of the box.
        """
        spots = (
            (x + side * (width / 2 + 12 + 0.8 * far * height), y + down * (10 + height / 2 + far * height))
            for far in range(8)
            for side, down in _AROUND
        )
        return self._take_first(spots, width, height)

    def place_around(self, x: float, y: float, width: float, height: float, tall: float) -> Point | None:
        """Occupy a box above, below or on an object. Return its centre, or None if there is none.

        Args:
            x: Horizontal centre of the object.
            y: Vertical centre of the object.
            width: Width of the box.
            height: Height of the box.
            tall: Half of the object's height.
        """
        x = min(max(x, width / 2 + 1), self._size[0] - width / 2 - 1)
        gap = tall + height / 2 + 3
        spots = ((x, y + down) for far in range(3) for down in (-gap - far * height, gap + far * height, 0.0))
        return self._take_first(spots, width, height)

    def place_within(self, x: float, y: float, width: float, height: float, room: float) -> Point | None:
        """Occupy a box at most `room / 2` above or below a point. Return its centre, or None if there is none."""
        far = max(0.0, (room - height) / 2)
        return self._take_first(((x, y + share * far) for share in (0.0, -0.5, 0.5, -1.0, 1.0)), width, height)

    def _take_first(self, spots: Iterable[Point], width: float, height: float) -> Point | None:
        """Occupy the first free of some boxes. Return its centre, or None if none is free."""
        return next(((x, y) for x, y in spots if self.take_if_free(x, y, width, height)), None)

    def _is_covered(self, x: float, y: float, width: float, height: float) -> bool:
        """Return whether a box overlaps others or leaves the picture."""
        across, down = self._size
        if x < width / 2 or x > across - width / 2 or y < height / 2 or y > down - height / 2:
            return True
        return any(
            abs(x - a) < (width + wide) / 2 and abs(y - b) < (height + high) / 2 for a, b, wide, high in self._taken
        )
