"""Bounding boxes of objects in pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# People cannot recognize objects with fewer pixels.
_MIN_PIXELS = 40


class BoundingBox(NamedTuple):
    """Bounding box of an object in a picture, pixels."""

    left: int
    top: int
    right: int
    bottom: int


def find_bounding_boxes(instance: NDArray[Any], names: Mapping[int, str]) -> dict[str, BoundingBox]:
    """Return the bounding boxes of the objects that people can recognize in a picture, by name.

    Args:
        instance: (height, width) number of the object at each pixel.
        names: Names of the objects by number.
    """
    pixels = np.bincount(instance.ravel(), minlength=1)
    large = [number for number in names if number < len(pixels) and pixels[number] >= _MIN_PIXELS]
    return {names[number]: _enclose(instance == number) for number in large}


def _enclose(mask: NDArray[np.bool_]) -> BoundingBox:
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    return BoundingBox(int(columns[0]), int(rows[0]), int(columns[-1]), int(rows[-1]))
