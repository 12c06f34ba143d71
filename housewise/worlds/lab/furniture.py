"""Shapes of the furniture of the lab. Wooden pieces have the woods of their layout; others have their own colour."""

from __future__ import annotations

from housewise.worlds.house.generator.mesh_builder import Color
from housewise.worlds.house.generator.palette import tint
from housewise.worlds.lab.device_shapes import DARK, SILVER, WHITE, Builder, Look
from housewise.worlds.lab.parts import Parts, rgb

WOODEN = ("brown", "")
"""Colours of furniture that stand for the wood of the layout."""
SHELF_BOARDS = 3
"""Number of boards of a shelf on which things lie."""


def _color(look: Look) -> Color:
    return look.wood if look.color in WOODEN else rgb(look.color)


def _table(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color, t = _color(look), 0.05
    s.box((-w / 2, w / 2), (h - t, h), (-d / 2, d / 2), color)
    if look.style:
        for x in (-0.42 * w, 0.42 * w - 0.06):
            s.box((x, x + 0.06), (0, h - t), (-0.4 * d, 0.4 * d), tint(color, 0.7))
        return
    for x in (-w / 2 + 0.02, w / 2 - 0.08):
        for z in (-d / 2 + 0.02, d / 2 - 0.08):
            s.box((x, x + 0.06), (0, h - t), (z, z + 0.06), tint(color, 0.65))


def _desk(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    _table(s, w, h, d, look)
    color = WHITE if look.style else tint(_color(look), 0.85)
    s.box((0.16 * w, 0.46 * w), (0.1, h - 0.05), (-0.45 * d, 0.45 * d), color)
    for place in range(3):
        y = 0.12 + place * (h - 0.18) / 3
        s.box((0.17 * w, 0.45 * w), (y, y + (h - 0.24) / 3), (0.45 * d, 0.45 * d + 0.01), tint(color, 0.9))
        s.box((0.28 * w, 0.34 * w), (y + 0.08, y + 0.1), (0.45 * d + 0.01, 0.45 * d + 0.025), SILVER)


def _counter(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    s.box((-w / 2, w / 2), (0.08, h - 0.04), (-d / 2, d / 2 - 0.03), WHITE if look.style else tint(look.wood, 1.05))
    s.box((-w / 2, w / 2), (h - 0.04, h), (-d / 2, d / 2), rgb(look.color) if look.color not in WOODEN else DARK)
    count = max(1, round(w / 0.6))
    for place in range(count):
        x = -w / 2 + (place + 0.5) * w / count
        s.box((x - 0.05, x + 0.05), (h - 0.14, h - 0.12), (d / 2 - 0.03, d / 2 - 0.01), SILVER)
        s.box((x - w / count / 2, x - w / count / 2 + 0.008), (0.08, h - 0.04), (d / 2 - 0.03, d / 2 - 0.025), DARK)


def shelf_board(h: float, number: int) -> float:
    """Return the height of the upper side of a board of a shelf of a height; the lowest has the number 0."""
    return 0.35 + number * (h - 0.4) / SHELF_BOARDS


def _shelf(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color, t = _color(look), 0.03
    s.box((-w / 2, w / 2), (0, h), (-d / 2, -d / 2 + 0.01), tint(color, 0.8))
    if look.style:
        for x in (-w / 2, w / 2 - t):
            for z in (-d / 2, d / 2 - t):
                s.box((x, x + t), (0, h), (z, z + t), DARK)
    else:
        for x in (-w / 2, w / 2 - t):
            s.box((x, x + t), (0, h), (-d / 2, d / 2), color)
    for y in (0.08, *(shelf_board(h, number) for number in range(SHELF_BOARDS)), h):
        s.box((-w / 2, w / 2), (y - t, y), (-d / 2, d / 2), color)


def _wall_shelf(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color = _color(look)
    s.box((-w / 2, w / 2), (h - 0.04, h), (-d / 2, d / 2), color)
    s.box((-w / 2, w / 2), (h, h + 0.12), (-d / 2, -d / 2 + 0.02), color)
    for x in (-0.4 * w, 0.4 * w - 0.03):
        s.box((x, x + 0.03), (-0.1, h - 0.04), (-d / 2, d * 0.1), tint(color, 0.8))


def _crate(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    """Add a wooden crate with slats."""
    wood = (166, 122, 74)
    s.box((-w / 2 + 0.02, w / 2 - 0.02), (0, h), (-d / 2 + 0.02, d / 2 - 0.02), tint(wood, 0.7))
    for place in range(4):
        y = place * h / 4
        s.box((-w / 2, w / 2), (y + 0.02, y + h / 4 - 0.02), (-d / 2, d / 2), wood)


FURNITURE: dict[str, Builder] = {
    "counter": _counter,
    "table": _table,
    "desk": _desk,
    "shelf": _shelf,
    "red_shelf": _wall_shelf,
    "blue_shelf": _wall_shelf,
    "crate": _crate,
}
"""Shapes by kind."""
