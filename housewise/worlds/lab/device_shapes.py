"""Shapes of the devices of the lab. What people know a device by (colours, forms, signs) is part of its shape.

The frame of a device has x to the right, y up from its lower side, and its front at z = depth / 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from housewise.worlds.house.generator.mesh_builder import Color
from housewise.worlds.house.generator.palette import tint
from housewise.worlds.lab.kinds import COMPUTERS
from housewise.worlds.lab.parts import COLORS, Parts, rgb

GRAY, DARK, BLACK, WHITE, SILVER = (150, 153, 158), (92, 95, 100), (40, 40, 44), (238, 238, 234), (188, 192, 198)
_CYAN: Color = (90, 220, 255)
_SCREEN_OFF: Color = (24, 28, 34)


@dataclass(frozen=True)
class Look:
    """What the shape of a thing depends on.

    Attributes:
        kind: Key of its kind.
        color: Its colour.
        flags: Visible states.
        powered: Whether its room has power.
        wood: Colour of wooden furniture.
        style: Style of furniture, 0 or 1.
    """

    kind: str
    color: str
    flags: frozenset[str] = frozenset()
    powered: bool = True
    wood: Color = COLORS["brown"]
    style: int = 0


Builder = Callable[[Parts, float, float, float, Look], None]
"""A function that adds the parts of a thing of a width, height and depth (w, h, d)."""

STAND_HEIGHT = 0.85
"""Height of the stands of devices that are used at the height of a table, metres."""
LABELS: Mapping[str, str] = {
    "laser_monitor": "LASER", "freeze_ray_monitor": "FREEZE", "gravity_flipper_monitor": "GRAVITY",
    "embiggenator_monitor": "SIZE", "portal_generator_monitor": "PORTAL",
}  # fmt: skip
"""Labels of the monitors."""


def _stand(s: Parts, w: float, d: float, color: Color) -> None:
    """Add a cabinet below a device, down to the floor."""
    s.box((-w / 2, w / 2), (-STAND_HEIGHT, -0.04), (-d / 2, d / 2), tint(color, 0.8))
    s.box((-w / 2, w / 2), (-0.04, 0), (-d / 2, d / 2 + 0.01), color)


def _printer(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    left, right = -w / 2, 0.24 * w
    _stand(s, w, d, DARK)
    s.box((left, right), (0, 0.28 * h), (-d / 2, d / 2), GRAY)
    s.panel((-0.36 * w, -0.04 * w), (0.06 * h, 0.22 * h), d / 2 + 0.004, BLACK)
    s.box((left + 0.02, right - 0.02), (0.28 * h, 0.34 * h), (-d / 2 + 0.03, d / 2 - 0.01), (150, 204, 244))
    for x in (left, right - 0.04):
        s.box((x, x + 0.04), (0.28 * h, h), (-d / 2, -d / 2 + 0.04), GRAY)
    s.box((left, right), (0.86 * h, h), (-d / 2, -d / 2 + 0.12), GRAY)
    s.box((-0.18 * w, -0.06 * w), (0.7 * h, 0.88 * h), (-d / 2 + 0.12, -d / 2 + 0.2), DARK)
    s.box((right + 0.02, w / 2), (0, 0.66 * h), (-d / 2 + 0.03, d / 2 - 0.03), BLACK)
    s.panel((right + 0.04, w / 2 - 0.03), (0.54 * h, 0.6 * h), d / 2 - 0.026, _CYAN, look.powered)


def _cannon(nozzle: Color, body: Color) -> Builder:
    def build(s: Parts, w: float, h: float, d: float, look: Look) -> None:
        s.box((-w / 2, w / 2), (0, 0.16 * h), (-d / 2, d * 0.3), tint(body, 0.8))
        s.cone(0, -0.1 * d, (0.32 * w, 0.2 * w), (0.16 * h, 0.55 * h), body)
        s.box((-0.3 * w, 0.3 * w), (0.55 * h, 0.94 * h), (-d / 2, 0.12 * d), body)
        s.barrel(0, 0.74 * h, (0.15 * w, 0.13 * w), (0.12 * d, 0.3 * d), tint(body, 0.7))
        s.barrel(0, 0.74 * h, (0.19 * w, 0.06 * w), (0.3 * d, d / 2), nozzle)
        s.box((-0.31 * w, 0.31 * w), (0.8 * h, 0.86 * h), (-d * 0.45, 0.08 * d), nozzle)
        # The power cable runs over the floor.
        s.box((0.3 * w, 0.36 * w), (0.16 * h, 0.5 * h), (-d / 2, -d / 2 + 0.05), BLACK)
        s.box((0.3 * w, w / 2), (0.0, 0.04), (0.3 * d, d * 0.34), BLACK)

    return build


def _screen(s: Parts, w: float, y: tuple[float, float], z: float, look: Look) -> None:
    """Add the screen of a computer: dark without power, with a cursor when it has power, filled when it is on."""
    x0, x1, (low, high) = -0.38 * w, 0.38 * w, y
    if not look.powered:
        s.panel((x0, x1), y, z, _SCREEN_OFF)
        return
    is_on = "on" in look.flags
    s.panel((x0, x1), y, z, (214, 240, 232) if is_on else (36, 62, 74), glows=True)
    for line in range(3):
        top = high - (line + 0.7) * (high - low) / 4
        width = (0.6, 0.4, 0.5)[line] * (x1 - x0)
        ink = (30, 120, 60) if is_on else (96, 190, 170)
        s.panel((x0 + 0.03, x0 + width), (top - 0.1 * (high - low), top), z + 0.002, ink, glows=True)


def _monitor(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    """Add a computer in its colour on a column, with a label on top if it runs a machine."""
    color = rgb(look.color)
    s.box((-0.6 * w, 0.6 * w), (-STAND_HEIGHT, -STAND_HEIGHT + 0.07), (-d, d), color)
    s.box((-0.25 * w, 0.25 * w), (-STAND_HEIGHT + 0.07, -0.04), (-0.5 * d, 0.4 * d), tint(color, 0.8))
    s.box((-0.55 * w, 0.55 * w), (-0.05, 0), (-0.6 * d, 1.3 * d), color)
    s.box((-0.38 * w, 0.38 * w), (0, 0.02), (0.6 * d, 1.2 * d), BLACK)
    label = LABELS.get(look.kind)
    top = h - (0.13 if label else 0.0)
    front = 0.3 * d
    s.box((-0.1 * w, 0.1 * w), (0, 0.05), (-0.3 * d, 0.1 * d), tint(color, 0.8))
    s.box((-w / 2, w / 2), (0.04, top), (-d / 2, front), color)
    _screen(s, w, (0.08, top - 0.03), front + 0.004, look)
    if label:
        s.box((-w / 2, w / 2), (top, h), (-0.3 * d, front), tint(color, 0.7))
        s.label(label, (-0.48 * w, 0.48 * w), (top + 0.01, h - 0.01), front + 0.004, BLACK, WHITE)


def _time_machine(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    red, t, top = (196, 36, 36), 0.04, 0.8 * h
    _stand(s, w, d, WHITE)
    for x in (-w / 2, w / 2 - t):
        s.box((x, x + t), (0, top), (-d / 2, d / 2 - 0.02), red)
    s.box((-w / 2, w / 2), (0, t), (-d / 2, d / 2 - 0.02), red)
    s.box((-w / 2, w / 2), (top - t, top), (-d / 2, d / 2 - 0.02), red)
    s.box((-w / 2 + t, w / 2 - t), (t, top - t), (-d / 2, -d / 2 + 0.02), (70, 72, 80))
    s.box((-0.25 * w, 0.25 * w), (top, h), (-0.25 * d, 0.25 * d), SILVER)
    s.panel((-0.18 * w, 0.05 * w), (top + 0.02, h - 0.02), 0.25 * d + 0.003, _CYAN, look.powered)
    glass: Color = (170, 206, 222)
    if "open" in look.flags:
        s.box((-w / 2 - 0.02, -w / 2), (0.02, top - 0.02), (d / 2 - 0.02, d / 2 + 0.7 * w), red)
        s.box((-w / 2 - 0.024, -w / 2 + 0.004), (0.07, top - 0.07), (d / 2 + 0.04, d / 2 + 0.7 * w - 0.05), glass)
    else:
        s.box((-w / 2, w / 2), (0, top), (d / 2 - 0.02, d / 2 - 0.005), red)
        s.box((-w / 2 + 0.06, w / 2 - 0.06), (0.06, top - 0.06), (d / 2 - 0.02, d / 2), glass)


def _gravity_flipper(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    s.cylinder(0, 0, 0.3 * w, (0, 0.75 * h), DARK)
    s.cone(0, 0, (0.4 * w, w / 2), (0.75 * h, h), (70, 76, 90))
    is_on = "on" in look.flags
    color: Color = (130, 220, 255) if is_on else (60, 130, 220)
    target = s.glow if is_on or look.powered else s
    reach, thin = 0.4 * w, 0.02 + 0.015 * is_on
    lines = [-0.3, -0.15, 0.0, 0.15, 0.3]
    for share in lines:
        at, long = share * w, reach * (1 - 0.6 * abs(share))
        y = h + 0.004
        for x0, z0, x1, z1 in ((at - thin, -long, at + thin, long), (-long, at - thin, long, at + thin)):
            target.quads([[(x0, y, z0), (x0, y, z1), (x1, y, z1), (x1, y, z0)]], [color])
    if is_on:
        half = 0.05
        for x, z in ((1, 0), (0.7, 0.7), (0, 1), (-0.7, 0.7), (-1, 0), (-0.7, -0.7), (0, -1), (0.7, -0.7)):
            x, z = 0.46 * w * x, 0.46 * w * z
            s.glow.box((x - half, x + half), (0.83 * h, 0.91 * h), (z - half, z + half), color)


def _carrot_maker(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    front, low, high = d / 2, 0.85, 1.3
    s.box((-w / 2, w / 2), (0, low), (-d / 2, front), GRAY)
    s.box((-w / 2, w / 2), (high, h), (-d / 2, front), GRAY)
    s.box((-w / 2, w / 2), (low, high), (-d / 2, -d / 2 + 0.05), BLACK)
    for x in (-w / 2, w / 2 - 0.08):
        s.box((x, x + 0.08), (low, high), (-d / 2, front), GRAY)
    for base, top in ((0.1, low - 0.1), (high + 0.55, h - 0.05)):
        for slit in range(6):
            y = base + (slit + 0.3) * (top - base) / 6
            s.panel((-0.38 * w, 0.38 * w), (y, y + 0.4 * (top - base) / 6), front + 0.004, DARK)
    # The sign: a carrot, crossed out in red.
    x0, y0, size = -0.25, high + 0.04, 0.46
    s.panel((x0, x0 + size), (y0, y0 + size), front + 0.004, WHITE)
    z = front + 0.008
    s.quads([[(-0.06, y0 + 0.32, z), (0, y0 + 0.06, z), (0, y0 + 0.06, z), (0.06, y0 + 0.32, z)]], [(236, 124, 32)])
    s.panel((-0.05, 0.05), (y0 + 0.32, y0 + 0.42), z, COLORS["green"])
    low, high, z = y0 + 0.04, y0 + size - 0.04, z + 0.003
    bar = [(x0 + 0.02, low + 0.03, z), (x0 + 0.07, low, z), (-x0 - 0.07, high - 0.03, z), (-x0 - 0.12, high, z)]
    s.quads([bar], [COLORS["red"]])


def _embiggenator(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    s.cylinder(0, 0, w / 2, (0, 0.42), GRAY, sides=12)
    s.cylinder(0, 0, 0.4 * w, (0.42, 0.45), tint(GRAY, 1.25), sides=12)
    s.cone(0, 0, (0.22 * w, 0.36 * w), (h - 0.5, h - 0.3), DARK, sides=12)
    s.cylinder(0, 0, 0.42 * w, (h - 0.3, h), GRAY, sides=12)
    s.cylinder(0, 0, 0.12 * w, (h - 0.56, h - 0.5), (240, 170, 220), sides=8)


def _portal_generator(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    frame, t = (58, 50, 74), 0.16
    s.box((-w / 2, w / 2), (0, 0.35), (-d / 2, d / 2), frame)
    for x in (-w / 2, w / 2 - t):
        s.box((x, x + t), (0.35, h - t), (-d / 2, -d / 2 + 0.3), frame)
    s.box((-w / 2, w / 2), (h - t, h), (-d / 2, -d / 2 + 0.3), frame)
    z, inner = -d / 2 + 0.1, (-w / 2 + t, w / 2 - t)
    if "on" in look.flags:
        middle, half = (0.35 + h - t) / 2, (h - t - 0.35) / 2
        for ring in range(4):
            share = 1 - ring / 4
            wide, high = share * inner[1], share * half
            color = (150 + 30 * ring, 70 + 50 * ring, 240)
            s.panel((-wide, wide), (middle - high, middle + high), z + 0.01 * ring, color, glows=True)
    else:
        s.panel(inner, (0.35, h - t), z, (34, 32, 40))
    for x in (-w / 2 + 0.05, w / 2 - 0.11):
        for y in (0.6, 1.0, 1.4):
            s.panel((x, x + 0.06), (y, y + 0.1), -d / 2 + 0.304, (190, 120, 250), look.powered)


def _color_changer(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    low = 0.62 * h
    silver = rgb(look.color)
    s.box((-w / 2, w / 2), (0, low), (-d / 2, d / 2), silver)
    s.box((-w / 2 + 0.04, w / 2 - 0.04), (low, low + 0.02), (-d / 2 + 0.04, d / 2 - 0.06), WHITE)
    for x in (-w / 2, w / 2 - 0.06):
        s.box((x, x + 0.06), (low, h), (-d / 2, -d / 2 + 0.06), DARK)
    s.box((-w / 2, w / 2), (h - 0.12, h), (-d / 2, d * 0.1), DARK)


def _coffee_unmaker(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    brown = (104, 64, 40)
    _stand(s, w + 0.1, d + 0.1, WHITE)
    s.box((-w / 2, w / 2), (0, 0.12 * h), (-d / 2, d / 2), brown)
    s.box((-w / 2, w / 2), (0.12 * h, 0.7 * h), (-d / 2, 0), brown)
    s.box((-w / 2, w / 2), (0.7 * h, 0.82 * h), (-d / 2, d / 2), brown)
    s.cone(0, 0, (0.2 * w, 0.45 * w), (0.82 * h, h), SILVER)
    s.panel((-0.1 * w, 0.1 * w), (0.73 * h, 0.79 * h), d / 2 + 0.003, COLORS["green"], look.powered)


def _fuse_box(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    """Add a box on the wall. The lamp on it is green with power and red without; the lever inside is a thing."""
    t, body = 0.02, rgb(look.color)
    front = d / 2
    s.box((-w / 2, w / 2), (0, h), (-d / 2, -d / 2 + t), tint(body, 0.75))
    for x in (-w / 2, w / 2 - t):
        s.box((x, x + t), (0, h), (-d / 2, front - t), body)
    for y in (0, h - t):
        s.box((-w / 2, w / 2), (y, y + t), (-d / 2, front - t), body)
    s.glow.box((-0.05, 0.05), (h, h + 0.05), (-0.04, 0.04), (60, 220, 90) if look.powered else (230, 50, 40))
    if "open" in look.flags:
        s.box((-w / 2 - t, -w / 2), (0, h), (front - t, front + 0.8 * w), body)
        return
    s.box((-w / 2, w / 2), (0, h), (front - t, front), body)
    z, y = front + 0.004, h / 2
    bolt = (
        [(-0.06, 0.0), (0.06, 0.0), (0.08, 0.16), (-0.02, 0.16)],
        [(-0.03, -0.18), (-0.01, -0.18), (0.06, 0.0), (-0.02, 0.0)],
    )
    scale = min(w, h) / 0.5
    for corners in bolt:
        s.quads([[(x * scale, y + up * scale, z) for x, up in corners]], [(240, 200, 40)])


def _robotic_arm(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    color = rgb(look.color)
    s.cylinder(0, -0.1 * d, 0.4 * w, (0, 0.14 * h), DARK)
    s.cylinder(0, -0.1 * d, 0.18 * w, (0.14 * h, 0.3 * h), color)
    s.box((-0.12 * w, 0.12 * w), (0.3 * h, h), (-0.25 * d, 0), color)
    s.barrel(0, 0.92 * h, (0.14 * w, 0.1 * w), (0, 0.36 * d), color)
    s.box((-0.06 * w, 0.06 * w), (0.55 * h, 0.9 * h), (0.32 * d, 0.42 * d), DARK)
    for x in (-0.16 * w, 0.08 * w):
        s.box((x, x + 0.08 * w), (0.42 * h, 0.58 * h), (0.3 * d, 0.44 * d), BLACK)


def _dart_board(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    rings = (
        (1.0, BLACK),
        (0.82, WHITE),
        (0.62, COLORS["red"]),
        (0.44, WHITE),
        (0.26, COLORS["green"]),
        (0.12, COLORS["red"]),
    )
    for place, (share, color) in enumerate(rings):
        s.barrel(0, h / 2, (share * w / 2, share * w / 2), (-d / 2, d / 2 - 0.02 + 0.004 * place), color, sides=12)


def _button(s: Parts, w: float, h: float, d: float, look: Look) -> None:
    s.box((-w / 2, w / 2), (0, h), (-d / 2, d / 2), rgb(look.color))
    s.panel((-0.35 * w, 0.35 * w), (0.15 * h, 0.85 * h), d / 2 + 0.003, tint(rgb(look.color), 1.3), look.powered)


DEVICES: dict[str, Builder] = {
    **dict.fromkeys(COMPUTERS, _monitor),
    **{f"{color}_button": _button for color in ("red", "green", "blue")},
    "printer": _printer,
    "laser_cannon": _cannon((240, 120, 24), GRAY),
    "freeze_ray": _cannon((70, 150, 240), WHITE),
    "time_machine": _time_machine,
    "gravity_flipper": _gravity_flipper,
    "carrot_maker": _carrot_maker,
    "embiggenator": _embiggenator,
    "portal_generator": _portal_generator,
    "color_changer": _color_changer,
    "coffee_unmaker": _coffee_unmaker,
    "fuse_box": _fuse_box,
    "robotic_arm": _robotic_arm,
    "dart_board": _dart_board,
}
