"""Shapes of small things in the lab: food, tools, parts, disks, cartridges and clutter.

The frame of a thing has x to the right, y up from its lower side, and its front at z = depth / 2.
"""

from __future__ import annotations

from housewise.worlds.house.generator.mesh_builder import Color
from housewise.worlds.house.generator.palette import tint
from housewise.worlds.lab.device_shapes import BLACK, DARK, GRAY, SILVER, WHITE, Builder, Look
from housewise.worlds.lab.parts import COLORS, Parts, rgb

_ORANGE: Color = (240, 130, 30)
_LEAF: Color = (52, 150, 60)
_LIQUIDS: dict[str, Color] = {"coffee": (74, 44, 28), "water": (120, 180, 230), "milk": (246, 244, 236)}


def _carrot(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    """Add an upright carrot with leaves."""
    wide = min(w, d, 0.6 * h) / 2
    s.cone(0, 0, (0.25 * wide, wide), (0, 0.72 * h), _ORANGE)
    for x, z in ((0, 0), (0.4 * wide, 0.2 * wide), (-0.4 * wide, -0.2 * wide)):
        s.cone(x, z, (0.2 * wide, 0.5 * wide), (0.72 * h, h), _LEAF, 4)


def _liquid(s: Parts, radius: float, y: float, look: Look) -> None:
    """Add what a vessel is filled with, up to just below its rim."""
    for name, color in _LIQUIDS.items():
        if name in look.flags:
            s.cylinder(0, 0, radius, (y - 0.006, y), color)


def _ball(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    s.ball(0, 0, w / 2, (0, 0.9 * h), rgb(look.color))
    s.box((-0.01, 0.01), (0.85 * h, h), (-0.01, 0.01), COLORS["brown"])


def _banana(s: Parts, w: float, h: float, d: float, look: Look, offset: float = 0.0) -> None:
    color = rgb(look.color)
    for place in range(5):
        x, lift = (place - 2) * w / 5, 0.12 * h * (place - 2) ** 2
        s.box((x - w / 10, x + w / 10), (lift, lift + 0.5 * h), (offset - 0.2 * d, offset + 0.2 * d), color)
    s.box((0.46 * w, w / 2), (0.5 * h, h), (offset - 0.1 * d, offset + 0.1 * d), COLORS["brown"])


def _banana_bunch(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    for offset in (-0.36, 0.0, 0.36):
        _banana(s, w, h, 0.8 * d, look, offset * d)


def _mug(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color, radius = rgb(look.color), 0.36 * w
    s.cylinder(-0.1 * w, 0, radius, (0, h), color)
    s.cylinder(-0.1 * w, 0, 0.8 * radius, (h, h + 0.002), tint(color, 0.5))
    for y0, y1 in ((0.2, 0.32), (0.68, 0.8)):
        s.box((0.2 * w, w / 2), (y0 * h, y1 * h), (-0.02, 0.02), color)
    s.box((0.42 * w, w / 2), (0.2 * h, 0.8 * h), (-0.02, 0.02), color)
    for name, liquid in _LIQUIDS.items():
        if name in look.flags:
            s.cylinder(-0.1 * w, 0, 0.85 * radius, (h, h + 0.006), liquid)
    if "boss" in look.kind:
        s.panel((-0.3 * w, 0.1 * w), (0.35 * h, 0.65 * h), radius + 0.004, WHITE)


def _bowl(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color = rgb(look.color)
    s.cone(0, 0, (0.5 * w / 2, w / 2), (0, h), color, 12)
    s.cylinder(0, 0, 0.42 * w, (h, h + 0.002), tint(color, 0.7), 12)
    _liquid(s, 0.4 * w, h + 0.006, look)


def _plate(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    s.cone(0, 0, (0.35 * w, w / 2), (0, h), rgb(look.color), 12)
    s.cylinder(0, 0, 0.34 * w, (h, h + 0.002), tint(rgb(look.color), 0.85), 12)


def _coffee_pot(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    s.cone(-0.08 * w, 0, (0.4 * w, 0.28 * w), (0, 0.85 * h), tint(rgb(look.color), 1.1))
    s.cylinder(-0.08 * w, 0, 0.3 * w, (0.85 * h, h), BLACK)
    s.box((0.2 * w, w / 2), (0.6 * h, 0.7 * h), (-0.02, 0.02), BLACK)
    s.box((0.4 * w, w / 2), (0.2 * h, 0.7 * h), (-0.02, 0.02), BLACK)


def _cake(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color = rgb(look.color)
    s.cylinder(0, 0, w / 2, (0, 0.4 * h), tint(color, 0.75), 12)
    s.cylinder(0, 0, 0.49 * w, (0.4 * h, 0.75 * h), color, 12)
    for x, z in ((0.25, 0.25), (-0.25, 0.25), (0.25, -0.25), (-0.25, -0.25), (0, 0)):
        s.ball(x * w, z * w, 0.05 * w, (0.75 * h, h), COLORS["red"])


def _candy_bar(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color = rgb(look.color)
    s.box((-0.4 * w, 0.4 * w), (0, h), (-d / 2, d / 2), color)
    s.box((-w / 2, w / 2), (0.4 * h, 0.6 * h), (-0.45 * d, 0.45 * d), SILVER)
    s.box((-0.2 * w, 0.2 * w), (h, h + 0.002), (-0.3 * d, 0.3 * d), WHITE)


def _can(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color, radius = rgb(look.color), w / 2
    if "crushed" in look.kind:
        s.cone(0, 0, (radius, 0.7 * radius), (0, 0.4 * h), color)
        s.cone(0.1 * w, 0, (0.7 * radius, radius), (0.4 * h, 0.8 * h), color)
        s.cylinder(0.1 * w, 0, 0.9 * radius, (0.8 * h, h), SILVER)
        return
    s.cone(0, 0, (0.85 * radius, radius), (0, 0.08 * h), SILVER)
    s.cylinder(0, 0, radius, (0.08 * h, 0.92 * h), color)
    s.cone(0, 0, (radius, 0.8 * radius), (0.92 * h, h), SILVER)
    if "open" in look.kind:
        s.box((-0.2 * w, 0.2 * w), (h, h + 0.003), (0, 0.3 * d), BLACK)


def _donut(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    s.cone(0, 0, (0.4 * w, w / 2), (0, 0.5 * h), (206, 150, 90), 12)
    s.cone(0, 0, (w / 2, 0.4 * w), (0.5 * h, h), rgb(look.color), 12)
    s.cylinder(0, 0, 0.15 * w, (h, h + 0.003), (110, 70, 40))


def _pie_slice(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    for place in range(4):
        half, z = (place + 1) * w / 8, d / 2 - (place + 0.5) * d / 4
        s.box((-half, half), (0, 0.7 * h), (z - d / 8, z + d / 8), rgb(look.color))
        s.box((-half, half), (0.7 * h, 0.85 * h), (z - d / 8, z + d / 8), COLORS["red"])
    s.box((-w / 2, w / 2), (0, h), (-d / 2, -d / 2 + 0.2 * d), tint(rgb(look.color), 0.8))


def _jar(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color = rgb(look.color)
    s.cylinder(0, 0, w / 2, (0, 0.78 * h), color)
    s.cylinder(0, 0, 0.46 * w, (0.78 * h, h), COLORS["white"] if "jam" in look.kind else COLORS["blue"])
    s.box((-0.3 * w, 0.3 * w), (0.2 * h, 0.6 * h), (0.4 * d, 0.5 * d + 0.003), WHITE)


def _dart(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    """Add a dart with its feathers in front, as it sticks in a board."""
    middle = h / 2
    s.barrel(0, middle, (0.02 * h, 0.12 * h), (-d / 2, -0.2 * d), BLACK)
    s.barrel(0, middle, (0.16 * h, 0.12 * h), (-0.2 * d, 0.15 * d), SILVER)
    for x, y in ((w / 2, 0.1 * h), (0.1 * h, h / 2)):
        s.box((-x, x), (middle - y, middle + y), (0.15 * d, d / 2), rgb(look.color))


def _hammer(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    """Add a hammer that stands on its head, with its handle in its colour."""
    s.box((-w / 2, w / 2), (0, 0.24 * h), (-d / 2, d / 2), DARK)
    s.box((-0.18 * w, 0.18 * w), (0.24 * h, h), (-0.25 * d, 0.25 * d), rgb(look.color))


def _lever(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    """Add a handle with a ball at its end."""
    color = rgb(look.color)
    s.box((-w / 2, w / 2), (0, 0.16 * h), (-d / 2, d / 2), DARK)
    s.box((-0.3 * w, 0.3 * w), (0.16 * h, 0.74 * h), (-0.3 * d, 0.3 * d), color)
    s.ball(0, 0, 0.62 * w, (0.7 * h, h), tint(color, 1.15))


def _control_panel(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    """Add a board with two rows of dials."""
    s.box((-w / 2, w / 2), (0, h), (-d / 2, 0.2 * d), rgb(look.color))
    for place in range(6):
        x, y = (place % 3 - 1) * 0.3 * w, (0.7 if place < 3 else 0.28) * h
        s.barrel(x, y, (0.13 * w, 0.09 * w), (0.2 * d, d / 2), COLORS["red"] if place % 2 else BLACK)


def _laser_tip(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    """Add a cone with a ring."""
    color = rgb(look.color)
    s.cylinder(0, 0, 0.4 * w, (0, 0.2 * h), color)
    s.cylinder(0, 0, w / 2, (0.2 * h, 0.36 * h), SILVER)
    s.cone(0, 0, (0.4 * w, 0.04 * w), (0.36 * h, h), color)


def _floppy(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    """Add a disk that stands upright: a virus is marked by an exclamation mark, an antivirus by a plus."""
    s.box((-w / 2, w / 2), (0, h), (-d / 2, d / 2), rgb(look.color))
    s.panel((-0.36 * w, 0.36 * w), (0.05 * h, 0.5 * h), d / 2 + 0.002, WHITE)
    sign, ink = ("+", COLORS["green"]) if "anti" in look.kind else ("!", COLORS["red"])
    s.label(sign, (-0.34 * w, 0.34 * w), (0.08 * h, 0.47 * h), d / 2 + 0.004, ink, WHITE)
    s.panel((-0.22 * w, 0.22 * w), (0.68 * h, 0.98 * h), d / 2 + 0.002, SILVER)
    if look.kind.startswith("broken"):
        corners = [(-0.5, 0.62), (-0.4, 0.7), (0.5, 0.34), (0.4, 0.28)]
        s.quads([[(x * w, y * h, d / 2 + 0.006) for x, y in reversed(corners)]], [BLACK])


def _cartridge(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    """Add a block with the first letters of what it prints."""
    s.box((-w / 2, w / 2), (0, 0.8 * h), (-d / 2, d / 2), rgb(look.color))
    s.box((-0.3 * w, 0.3 * w), (0.8 * h, h), (-0.3 * d, 0.3 * d), GRAY)
    s.label(
        look.kind[:3],
        (-0.46 * w, 0.46 * w),
        (0.1 * h, 0.7 * h),
        d / 2 + 0.002,
        BLACK,
        WHITE,
    )


def _fan(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color = rgb(look.color)
    s.cylinder(0, 0, 0.3 * w, (0, 0.08 * h), color)
    s.box((-0.05 * w, 0.05 * w), (0.08 * h, 0.5 * h), (-0.05 * w, 0.05 * w), color)
    s.barrel(0, 0.66 * h, (0.48 * w, 0.48 * w), (-0.1 * d, 0.1 * d), tint(color, 0.6), 12)
    s.barrel(0, 0.66 * h, (0.42 * w, 0.42 * w), (0.1 * d, 0.12 * d), tint(color, 1.3), 12)
    s.barrel(0, 0.66 * h, (0.14 * w, 0.1 * w), (0.12 * d, 0.3 * d), DARK)


def _radio(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color = rgb(look.color)
    s.box((-w / 2, w / 2), (0, 0.7 * h), (-d / 2, d / 2), color)
    s.barrel(-0.25 * w, 0.35 * h, (0.2 * w, 0.2 * w), (d / 2, d / 2 + 0.006), BLACK)
    s.panel((0.05 * w, 0.42 * w), (0.42 * h, 0.6 * h), d / 2 + 0.003, WHITE)
    s.box((0.4 * w, 0.43 * w), (0.7 * h, h), (-0.02, 0.0), SILVER)


def _screen(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color = rgb(look.color)
    s.box((-0.3 * w, 0.3 * w), (0, 0.05 * h), (-d / 2, d / 2), color)
    s.box((-0.06 * w, 0.06 * w), (0.05 * h, 0.25 * h), (-0.2 * d, 0), color)
    s.box((-w / 2, w / 2), (0.22 * h, h), (-0.2 * d, 0.2 * d), color)
    s.panel((-0.45 * w, 0.45 * w), (0.28 * h, 0.95 * h), 0.2 * d + 0.003, (70, 80, 92))


def _book(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color = rgb(look.color)
    s.box((-w / 2, w / 2), (0, 0.15 * h), (-d / 2, d / 2), color)
    s.box((-0.46 * w, 0.46 * w), (0.15 * h, 0.85 * h), (-0.46 * d, 0.46 * d), WHITE)
    s.box((-w / 2, w / 2), (0.85 * h, h), (-d / 2, d / 2), color)
    s.box((-w / 2, -0.44 * w), (0.15 * h, 0.85 * h), (-d / 2, d / 2), color)


def _stapler(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    s.box((-w / 2, w / 2), (0, 0.2 * h), (-d / 2, d / 2), DARK)
    s.box((-0.4 * w, 0.4 * w), (0.55 * h, h), (-d / 2, 0.45 * d), rgb(look.color))
    s.box((-0.3 * w, 0.3 * w), (0.2 * h, 0.55 * h), (-d / 2, -0.3 * d), SILVER)


def _figure(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color = rgb(look.color)
    for x in (-0.3 * w, 0.06 * w):
        s.box((x, x + 0.24 * w), (0, 0.4 * h), (-0.2 * d, 0.2 * d), tint(color, 0.7))
    s.box((-0.32 * w, 0.32 * w), (0.4 * h, 0.75 * h), (-0.3 * d, 0.3 * d), color)
    s.box((-w / 2, w / 2), (0.6 * h, 0.72 * h), (-0.15 * d, 0.15 * d), color)
    s.ball(0, 0, 0.2 * w, (0.75 * h, h), (232, 190, 150))


def _beans(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    for x, z in ((-0.3, -0.2), (0.25, -0.25), (0.0, 0.05), (-0.2, 0.3), (0.3, 0.25)):
        s.ball(x * w, z * d, 0.2 * w, (0, 0.6 * h), (84, 50, 30))
    s.ball(0, 0, 0.22 * w, (0.4 * h, h), (104, 64, 38))


def _trophy(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    s.box((-0.3 * w, 0.3 * w), (0, 0.2 * h), (-0.3 * d, 0.3 * d), DARK)
    s.cone(0, 0, (0.08 * w, 0.36 * w), (0.2 * h, h), rgb(look.color))


def _disc(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    s.cylinder(0, 0, w / 2, (0, h), rgb(look.color), 12)
    s.cylinder(0, 0, 0.18 * w, (h, h + 0.002), COLORS["red"])


SMALL_THINGS: dict[str, Builder] = {
    "cartridge": _cartridge,
    "floppy": _floppy,
    "banana_bunch": _banana_bunch, "banana": _banana, "apple": _ball, "orange": _ball, "mug": _mug, "bowl": _bowl,
    "plate": _plate, "coffee_pot": _coffee_pot, "cake": _cake, "candy_bar": _candy_bar, "can": _can, "screen": _screen,
    "donut": _donut, "pie_slice": _pie_slice, "jar": _jar, "dart": _dart, "hammer": _hammer, "lever": _lever,
    "control_panel": _control_panel, "laser_tip": _laser_tip, "fan": _fan,
    "radio": _radio, "action_figure": _figure, "beans": _beans, "trophy": _trophy, "record": _disc,
    "book": _book, "stapler": _stapler,
    "carrot": _carrot,
}  # fmt: skip
"""Shapes by a part of a kind's key; the first part that a key contains counts."""
