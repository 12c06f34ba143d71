"""Marks of the things in a picture: their outlines as polygons, with index numbers, as in set-of-mark prompting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from housewise.worlds.house.solids import distinct_color
from housewise.worlds.lab.camera_picture import LabPicture
from housewise.worlds.lab.surroundings import Glimpse

Point = tuple[float, float]

_TOLERANCE = 0.8
_LEAST_AREA = 4.0
_TEXT_SIZE = 12


@dataclass(frozen=True)
class Mark:
    """The outline of a thing in a picture.

    Attributes:
        index: Number of the thing in the list of what is in view, from 1.
        id: Its id.
        polygons: Outlines of its visible parts, in pixels from the left and from the top, the largest first.
    """

    index: int
    id: str
    polygons: tuple[tuple[Point, ...], ...]


def find_marks(picture: LabPicture, glimpses: Sequence[Glimpse]) -> tuple[Mark, ...]:
    """Return the marks of what is in view, in the order of the glimpses."""
    numbers = {id: number for number, id in enumerate(picture.ids)}
    return tuple(
        Mark(index, glimpse.id, _outlines(picture.instances == numbers[glimpse.id]))
        for index, glimpse in enumerate(glimpses, 1)
    )


def draw_marks(picture: LabPicture, marks: Sequence[Mark]) -> NDArray[np.uint8]:
    """Return the picture with outlines and index numbers, (height, width, 3) uint8."""
    image = Image.fromarray(picture.rgb)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(_TEXT_SIZE)
    for mark in marks:
        for polygon in mark.polygons:
            draw.line([*polygon, polygon[0]], fill=distinct_color(mark.index), width=2)
    # Numbers are drawn last, so that no outline hides them.
    for mark in marks:
        if mark.polygons:
            x, y = shapely.Polygon(mark.polygons[0]).representative_point().coords[0]
            box = draw.textbbox((x, y), str(mark.index), font=font, anchor="mm")
            draw.rectangle((box[0] - 2, box[1] - 1, box[2] + 2, box[3] + 1), fill=distinct_color(mark.index))
            draw.text((x, y), str(mark.index), fill=(0, 0, 0), font=font, anchor="mm")
    return np.asarray(image)


def _outlines(mask: NDArray[np.bool_]) -> tuple[tuple[Point, ...], ...]:
    """Return the outlines of the parts of a mask (height, width). Holes are filled."""
    padded = np.pad(mask, ((0, 0), (1, 1))).astype(np.int8)
    rows, starts = np.nonzero(np.diff(padded, axis=1) == 1)
    _, ends = np.nonzero(np.diff(padded, axis=1) == -1)
    # Each run of pixels is a rectangle. They overlap by a little, so that diagonal neighbours are one part.
    runs = shapely.box(starts - 0.01, rows - 0.01, ends + 0.01, rows + 1.01)
    parts = [shapely.Polygon(part.exterior).simplify(_TOLERANCE) for part in shapely.get_parts(shapely.union_all(runs))]
    large = sorted((part for part in parts if part.area >= _LEAST_AREA), key=lambda part: -part.area)
    return tuple(tuple((round(x, 1), round(y, 1)) for x, y in part.exterior.coords[:-1]) for part in large)
