"""Keeps labels and marks of a picture from covering each other."""

from __future__ import annotations

Point = tuple[float, float]

_AROUND = (
    (1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (0.7, -1.0), (0.7, 1.0), (-0.7, -1.0), (-0.7, 1.0),
    (1.0, -0.5), (1.0, 0.5), (-1.0, -0.5), (-1.0, 0.5),
)  # fmt: skip


class LabelLayout:
    """Places that are taken; all in pixels, boxes by their middle and size.

    Args:
        size: of the picture.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self._size = size
        self._taken: list[tuple[float, float, float, float]] = []

    def block(self, x: float, y: float, width: float, height: float) -> None:
        """Take a place, whatever is there."""
        self._taken.append((x, y, width, height))

    def take_if_free(self, x: float, y: float, width: float, height: float) -> bool:
        """Take a place if nothing is there and it is in the picture."""
        if self._is_covered(x, y, width, height):
            return False
        self.block(x, y, width, height)
        return True

    def place_beside(self, x: float, y: float, width: float, height: float, reach: int = 8) -> Point | None:
        """Take the nearest free place beside a mark, None where all are taken.

        Args:
            x, y: the mark's middle.
            width, height: of what is to be placed.
            reach: how many heights away it may be.
        """
        for far in range(reach):
            for side, down in _AROUND:
                right = x + side * (width / 2 + 12 + 0.8 * far * height)
                below = y + down * (10 + height / 2 + far * height)
                if self.take_if_free(right, below, width, height):
                    return right, below
        return None

    def place_around(
        self, x: float, y: float, width: float, height: float, tall: float, reach: int = 3
    ) -> Point | None:
        """Take a place above or below something, or on it, None where all are taken.

        Args:
            x, y: its middle.
            width, height: of what is to be placed.
            tall: half its own height.
            reach: how many heights away the place may be.
        """
        x = min(max(x, width / 2 + 1), self._size[0] - width / 2 - 1)
        gap = tall + height / 2 + 3
        for far in range(reach):
            for below in (y - gap - far * height, y + gap + far * height, y):
                if self.take_if_free(x, below, width, height):
                    return x, below
        return None

    def place_within(self, x: float, y: float, width: float, height: float, room: float) -> Point | None:
        """Take the place at most half of ``room`` above or below a point, None where all are taken."""
        far = max(0.0, (room - height) / 2)
        for share in (0.0, -0.5, 0.5, -1.0, 1.0):
            if self.take_if_free(x, y + share * far, width, height):
                return x, y + share * far
        return None

    def _is_covered(self, x: float, y: float, width: float, height: float) -> bool:
        """Whether a box would cover what is taken, or leave the picture."""
        across, down = self._size
        if x < width / 2 or x > across - width / 2 or y < height / 2 or y > down - height / 2:
            return True
        return any(
            abs(x - a) < (width + wide) / 2 and abs(y - b) < (height + high) / 2 for a, b, wide, high in self._taken
        )
