"""Draws the colours of a house: one palette for each room, with matching woods."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass

import numpy as np

from housewise.worlds.house.generator.mesh_builder import Color

WHITE: Color = (238, 237, 232)
BLACK: Color = (38, 38, 42)
STEEL: Color = (168, 172, 178)
GLASS: Color = (196, 228, 246)
WATER: Color = (150, 196, 214)
LEAF: Color = (70, 128, 62)
CLAY: Color = (176, 98, 66)

_WOODS: tuple[Color, ...] = (
    (176, 130, 84), (139, 94, 60), (205, 170, 125), (110, 74, 52), (188, 150, 110), (160, 104, 72), (222, 200, 168),
)  # fmt: skip


@dataclass(frozen=True)
class Palette:
    """The colours of one room.

    Attributes:
        wood: Colour of tables, shelves and cabinets.
        dark: Colour of legs and edges.
        front: Colour of cabinet doors.
        fabric: Colour of sofas, blankets and seats.
        accent: Colour of cushions, carpets and small parts.
        floor: Two similar colours of tiles or boards.
        wall: Colour of the walls.
    """

    wood: Color
    dark: Color
    front: Color
    fabric: Color
    accent: Color
    floor: tuple[Color, Color]
    wall: Color


def house_palettes(rooms: int, rng: np.random.Generator) -> list[Palette]:
    """Draw palettes for a number of rooms; the floors of all rooms differ in hue."""
    start = rng.uniform()
    hues = [(start + place / rooms) % 1.0 for place in rng.permutation(rooms)]
    woods = rng.choice(len(_WOODS), size=2, replace=False)
    return [room_palette(hue, [_WOODS[wood] for wood in woods], rng) for hue in hues]


def tint(color: Color, factor: float) -> Color:
    """Return a darker (factor below 1) or lighter colour."""
    r, g, b = (min(255, max(0, round(part * factor))) for part in color)
    return (r, g, b)


def room_palette(hue: float, woods: list[Color], rng: np.random.Generator, wall: float = 0.07) -> Palette:
    """Draw the palette of a room.

    Args:
        hue: Hue of floor and walls, 0 to 1.
        woods: The usual and the other wood.
        rng: Random number generator.
        wall: Saturation of the walls, 0 to 1.
    """
    wood = tint(woods[int(rng.uniform() < 0.3)], rng.uniform(0.92, 1.06))
    plain = bool(rng.uniform() < 0.5)
    saturation, value = rng.uniform(0.2, 0.33), rng.uniform(0.66, 0.82)
    return Palette(
        wood=wood,
        dark=tint(wood, 0.6),
        front=WHITE if plain else tint(wood, 1.12),
        fabric=_hsv(rng.uniform(), rng.uniform(0.2, 0.55), rng.uniform(0.45, 0.8)),
        accent=_hsv(rng.uniform(), rng.uniform(0.4, 0.65), rng.uniform(0.6, 0.85)),
        floor=(_hsv(hue, saturation, value), _hsv(hue, saturation + 0.05, value - 0.07)),
        wall=_hsv(hue, wall, 0.93),
    )


def _hsv(hue: float, saturation: float, value: float) -> Color:
    r, g, b = (round(255 * part) for part in colorsys.hsv_to_rgb(hue % 1.0, saturation, value))
    return (r, g, b)
