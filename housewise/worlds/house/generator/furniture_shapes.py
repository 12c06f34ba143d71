"""Builds the meshes of furniture, with one function for the shape of each kind.

The frame of a piece has x to the right, y up from the floor, z to the front, and the back at z = -depth / 2. A shape
fills its box exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from housewise.worlds.house.generator.mesh_builder import Color, MeshBuilder
from housewise.worlds.house.generator.palette import BLACK, CLAY, GLASS, LEAF, STEEL, WATER, WHITE, Palette, tint
from housewise.worlds.house.geometry import Vec3
from housewise.worlds.house.scene import Mesh

Span = tuple[float, float]
Builder = Callable[[MeshBuilder, float, float, float, Palette], None]
"""A function that adds the parts of a piece of a width, height and depth (w, h, d) to a mesh builder."""


def _legs(s: MeshBuilder, w: float, h: float, d: float, thick: float, color: Color) -> None:
    for x in (-w / 2, w / 2 - thick):
        for z in (-d / 2, d / 2 - thick):
            s.box((x, x + thick), (0, h), (z, z + thick), color)


def _sides(s: MeshBuilder, w: float, thick: float, y: Span, z: Span, color: Color) -> None:
    """Add a part at the left end and one at the right end."""
    for x in (-w / 2, w / 2 - thick):
        s.box((x, x + thick), y, z, color)


def _doors(s: MeshBuilder, w: float, y: Span, z: float, count: int, color: Color, knob: Color) -> None:
    """Add cabinet doors side by side with handles, 2 cm thick in front of z."""
    each = w / count
    for place in range(count):
        left = -w / 2 + place * each
        s.box((left + 0.008, left + each - 0.008), (y[0] + 0.01, y[1] - 0.01), (z, z + 0.02), color)
        grip = left + (each - 0.06 if place % 2 == 0 else 0.04)
        middle, reach = (y[0] + y[1]) / 2, min(0.12, 0.3 * (y[1] - y[0]))
        s.box((grip, grip + 0.02), (middle, middle + reach), (z + 0.02, z + 0.03), knob)


def _unit(s: MeshBuilder, w: float, h: float, d: float, body: Color, top: Color) -> None:
    """Add the body of a kitchen unit with a plinth and a worktop, leaving 3 cm in front for doors."""
    s.box((-w / 2 + 0.002, w / 2 - 0.002), (0.0, 0.08), (-d / 2, d / 2 - 0.08), BLACK)
    s.box((-w / 2, w / 2), (0.08, h - 0.04), (-d / 2, d / 2 - 0.03), body)
    s.box((-w / 2, w / 2), (h - 0.04, h), (-d / 2, d / 2), top)


def _basket(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    straw: Color = (190, 152, 100)
    t = 0.025
    s.box((-w / 2, w / 2), (0, t), (-d / 2, d / 2), straw)
    for low, high in ((t, h * 0.35), (h * 0.35, h * 0.7), (h * 0.7, h)):
        tone = tint(straw, 0.8 if low < h * 0.5 < high else 1.0)
        for x in (-w / 2, w / 2 - t):
            s.box((x, x + t), (low, high), (-d / 2, d / 2), tone)
        for z in (-d / 2, d / 2 - t):
            s.box((-w / 2 + t, w / 2 - t), (low, high), (z, z + t), tone)
    s.box((-w / 2 + t, w / 2 - t), (t, h * 0.4), (-d / 2 + t, d / 2 - t), p.accent)


def _bathtub(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    rim = 0.07
    s.box((-w / 2, w / 2), (0, h * 0.35), (-d / 2, d / 2), WHITE)
    _sides(s, w, rim, (h * 0.35, h), (-d / 2, d / 2), WHITE)
    for z in (-d / 2, d / 2 - rim):
        s.box((-w / 2 + rim, w / 2 - rim), (h * 0.35, h), (z, z + rim), WHITE)
    s.box((-w / 2 + rim, w / 2 - rim), (h * 0.35, h * 0.55), (-d / 2 + rim, d / 2 - rim), WATER)
    s.box((-w / 2, -w / 2 + 0.16), (h - 0.03, h), (-0.03, 0.03), STEEL)


def _bed(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    back, mattress = -d / 2, 0.48
    s.box((-w / 2, w / 2), (0, h), (back, back + 0.06), p.wood)
    s.box((-w / 2, w / 2), (0.1, 0.3), (back + 0.06, d / 2), p.dark)
    _legs(s, w, 0.1, d, 0.08, p.dark)
    s.box((-w / 2 + 0.02, w / 2 - 0.02), (0.3, mattress), (back + 0.06, d / 2 - 0.02), WHITE)
    s.box((-w / 2, w / 2), (0.32, mattress + 0.04), (back + 0.62, d / 2), p.fabric)
    s.box((-w / 2 + 0.005, w / 2 - 0.005), (mattress + 0.02, mattress + 0.055), (back + 0.6, back + 0.85), p.accent)
    pillows = 2 if w > 1.2 else 1
    for place in range(pillows):
        middle = (place - (pillows - 1) / 2) * w / 2
        s.box((middle - 0.3, middle + 0.3), (mattress, mattress + 0.12), (back + 0.1, back + 0.48), WHITE)


def _bottom_cabinet(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    s.box((-w / 2 + 0.02, w / 2 - 0.02), (0, 0.06), (-d / 2, d / 2 - 0.06), p.dark)
    s.box((-w / 2, w / 2), (0.06, h - 0.03), (-d / 2, d / 2 - 0.03), p.wood)
    _doors(s, w, (0.06, h - 0.03), d / 2 - 0.03, 2, p.front, STEEL)
    s.box((-w / 2, w / 2), (h - 0.03, h), (-d / 2, d / 2), p.wood)


def _top_cabinet(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    s.box((-w / 2, w / 2), (0, h), (-d / 2, d / 2 - 0.03), p.wood)
    _doors(s, w, (0, h), d / 2 - 0.03, 2 if w > 0.5 else 1, p.front, STEEL)
    s.box((-w / 2, w / 2), (0, 0.01), (d / 2 - 0.03, d / 2), p.dark)


def _carpet(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    s.box((-w / 2, w / 2), (0, h * 0.8), (-d / 2, d / 2), p.accent)
    s.box((-w / 2 + 0.1, w / 2 - 0.1), (0, h * 0.9), (-d / 2 + 0.1, d / 2 - 0.1), tint(p.accent, 1.25))
    s.box((-w / 2 + 0.2, w / 2 - 0.2), (0, h), (-d / 2 + 0.2, d / 2 - 0.2), p.accent)


def _chair(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    seat, thick = 0.45, 0.04
    _legs(s, w, seat - thick, d, thick, p.dark)
    s.box((-w / 2, w / 2), (seat - thick, seat), (-d / 2, d / 2), p.wood)
    s.box((-w / 2 + 0.03, w / 2 - 0.03), (seat, seat + 0.025), (-d / 2 + 0.05, d / 2 - 0.02), p.fabric)
    _sides(s, w, thick, (seat, h), (-d / 2, -d / 2 + thick), p.dark)
    for low, high in ((0.12, 0.22), (h - seat - 0.16, h - seat)):
        s.box((-w / 2 + thick, w / 2 - thick), (seat + low, seat + high), (-d / 2 + 0.005, -d / 2 + 0.03), p.wood)


def _chest(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    s.box((-w / 2 + 0.015, w / 2 - 0.015), (0, h - 0.12), (-d / 2 + 0.015, d / 2 - 0.015), p.wood)
    s.box((-w / 2, w / 2), (h - 0.12, h), (-d / 2, d / 2), tint(p.wood, 0.85))
    for x in (-w / 3, w / 3 - 0.05):
        s.box((x, x + 0.05), (0, h - 0.12), (d / 2 - 0.015, d / 2 - 0.005), p.dark)
    s.box((-0.04, 0.04), (h - 0.18, h - 0.08), (d / 2 - 0.01, d / 2), STEEL)


def _coffee_machine(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    top = 0.8
    _legs(s, w, top - 0.03, d, 0.035, p.dark)
    s.box((-w / 2, w / 2), (top - 0.03, top), (-d / 2, d / 2), p.wood)
    s.box((-w / 2 + 0.01, w / 2 - 0.01), (0.25, 0.28), (-d / 2 + 0.01, d / 2 - 0.01), p.wood)
    x = (-0.14, 0.14)
    s.box(x, (top, top + 0.04), (-d / 2 + 0.04, d / 2 - 0.04), BLACK)
    s.box(x, (top + 0.04, h - 0.1), (-d / 2 + 0.04, -0.02), (120, 30, 34))
    s.box(x, (h - 0.1, h), (-d / 2 + 0.04, d / 2 - 0.08), BLACK)
    s.box((-0.03, 0.03), (h - 0.15, h - 0.1), (0.04, 0.1), STEEL)
    s.cylinder(0, 0.07, 0.04, (top + 0.04, top + 0.12), WHITE)


def _table(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    top = 0.035
    _legs(s, w - 0.06, h - top, d - 0.06, 0.06, p.dark)
    s.box((-w / 2 + 0.06, w / 2 - 0.06), (h - top - 0.08, h - top), (-d / 2 + 0.05, d / 2 - 0.05), p.dark)
    s.box((-w / 2, w / 2), (h - top, h), (-d / 2, d / 2), p.wood)


def _coffee_table(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    _legs(s, w, h - 0.04, d, 0.05, p.dark)
    s.box((-w / 2 + 0.02, w / 2 - 0.02), (0.12, 0.14), (-d / 2 + 0.02, d / 2 - 0.02), p.dark)
    s.box((-w / 2, w / 2), (h - 0.04, h), (-d / 2, d / 2), p.wood)


def _console_table(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    _legs(s, w, h - 0.16, d - 0.03, 0.04, p.dark)
    s.box((-w / 2, w / 2), (h - 0.16, h), (-d / 2, d / 2 - 0.03), p.wood)
    _doors(s, w, (h - 0.16, h), d / 2 - 0.03, 2, p.front, STEEL)
    s.box((-w / 2 + 0.02, w / 2 - 0.02), (0.14, 0.16), (-d / 2, d / 2 - 0.04), p.wood)


def _counter(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    _unit(s, w, h, d, p.wood, tint(p.dark, 1.2))
    _doors(s, w, (0.08, h - 0.04), d / 2 - 0.03, 2 if w > 0.7 else 1, p.front, STEEL)


def _dishwasher(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    _unit(s, w, h, d, STEEL, tint(STEEL, 0.8))
    s.box((-w / 2 + 0.01, w / 2 - 0.01), (0.1, h - 0.16), (d / 2 - 0.03, d / 2 - 0.01), tint(STEEL, 1.15))
    s.box((-w / 2 + 0.01, w / 2 - 0.01), (h - 0.15, h - 0.05), (d / 2 - 0.03, d / 2 - 0.015), BLACK)
    s.box((-w / 3, w / 3), (h - 0.2, h - 0.18), (d / 2 - 0.02, d / 2), tint(STEEL, 0.7))


def _stove(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    _unit(s, w, h - 0.006, d, WHITE, BLACK)
    s.box((-w / 2 + 0.03, w / 2 - 0.03), (0.2, h - 0.2), (d / 2 - 0.03, d / 2 - 0.015), BLACK)
    s.box((-w / 3, w / 3), (h - 0.19, h - 0.17), (d / 2 - 0.03, d / 2), STEEL)
    for place in range(4):
        x = (place - 1.5) * w / 5
        s.box((x - 0.02, x + 0.02), (h - 0.12, h - 0.07), (d / 2 - 0.03, d / 2 - 0.005), BLACK)
    _rings(s, w, h, d)


def _rings(s: MeshBuilder, w: float, h: float, d: float) -> None:
    for x in (-w / 4, w / 4):
        for z in (-d / 4, d / 4):
            s.cylinder(x, z, 0.08, (h - 0.02, h), (150, 62, 52))


def _cooktop(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    _unit(s, w, h - 0.006, d, p.wood, BLACK)
    for low, high in ((0.08, 0.34), (0.34, 0.6), (0.6, h - 0.04)):
        _doors(s, w, (low, high), d / 2 - 0.03, 1, p.front, STEEL)
    _rings(s, w, h, d)


def _oven(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    s.box((-w / 2, w / 2), (0, h), (-d / 2, d / 2 - 0.03), p.wood)
    _doors(s, w, (0.06, 0.55), d / 2 - 0.03, 1, p.front, STEEL)
    s.box((-w / 2 + 0.02, w / 2 - 0.02), (0.58, h - 0.06), (d / 2 - 0.03, d / 2 - 0.015), STEEL)
    s.box((-w / 2 + 0.08, w / 2 - 0.08), (0.64, h - 0.3), (d / 2 - 0.02, d / 2 - 0.008), BLACK)
    s.box((-w / 3, w / 3), (h - 0.25, h - 0.22), (d / 2 - 0.02, d / 2), STEEL)


def _microwave(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    split = h - 0.32
    s.box((-w / 2, w / 2), (0, split), (-d / 2, d / 2 - 0.03), p.wood)
    _doors(s, w, (0.04, split), d / 2 - 0.03, 1, p.front, STEEL)
    s.box((-w / 2, w / 2), (split, h), (-d / 2, d / 2 - 0.015), tint(STEEL, 1.1))
    s.box((-w / 2 + 0.03, w / 4), (split + 0.05, h - 0.05), (d / 2 - 0.02, d / 2 - 0.01), BLACK)
    s.box((w / 4 + 0.02, w / 4 + 0.04), (split + 0.06, h - 0.06), (d / 2 - 0.02, d / 2), WHITE)
    for place in range(3):
        y = split + 0.08 + 0.06 * place
        s.box((w / 2 - 0.08, w / 2 - 0.04), (y, y + 0.03), (d / 2 - 0.02, d / 2 - 0.01), BLACK)


def _fridge(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    split = h * 0.38
    s.box((-w / 2, w / 2), (0.03, h), (-d / 2, d / 2 - 0.06), tint(STEEL, 1.2))
    s.box((-w / 2 + 0.03, w / 2 - 0.03), (0, 0.03), (-d / 2 + 0.03, d / 2 - 0.08), BLACK)
    for low, high in ((0.03, split - 0.006), (split + 0.006, h)):
        s.box((-w / 2, w / 2), (low, high), (d / 2 - 0.055, d / 2 - 0.025), tint(STEEL, 1.3))
    for low, high in ((split - 0.4, split - 0.08), (split + 0.08, split + 0.5)):
        s.box((w / 2 - 0.08, w / 2 - 0.05), (low, high), (d / 2 - 0.03, d / 2), tint(STEEL, 0.6))


def _heater(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    ribs = max(5, round(w / 0.1))
    each = w / ribs
    for place in range(ribs):
        left = -w / 2 + place * each
        s.box((left, left + 0.7 * each), (0.1, h), (-d / 2, d / 2), WHITE)
    for y in (0.14, h - 0.08):
        s.box((-w / 2, w / 2), (y, y + 0.04), (-d / 4, d / 4), tint(WHITE, 0.9))
    _sides(s, w, 0.04, (0, 0.14), (-d / 4, d / 4), STEEL)


def _office_chair(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    s.box((-w / 2, w / 2), (0.02, 0.07), (-0.03, 0.03), BLACK)
    s.box((-0.03, 0.03), (0.02, 0.07), (-d / 2, d / 2), BLACK)
    for x, z in ((-w / 2 + 0.03, 0), (w / 2 - 0.03, 0), (0, -d / 2 + 0.03), (0, d / 2 - 0.03)):
        s.cylinder(x, z, 0.025, (0, 0.04), STEEL)
    s.cylinder(0, 0, 0.035, (0.07, 0.42), STEEL)
    s.box((-w / 2 + 0.04, w / 2 - 0.04), (0.42, 0.5), (-d / 2 + 0.06, d / 2 - 0.04), p.fabric)
    s.box((-0.03, 0.03), (0.45, 0.65), (-d / 2, -d / 2 + 0.03), BLACK)
    s.box((-w / 2 + 0.06, w / 2 - 0.06), (0.58, h), (-d / 2 + 0.02, -d / 2 + 0.08), p.fabric)
    _sides(s, w, 0.05, (0.66, 0.69), (-d / 2 + 0.08, d / 4), BLACK)


def _piano(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    lacquer: Color = (52, 34, 30)
    s.box((-w / 2, w / 2), (0, h), (-d / 2, -d / 2 + 0.3), lacquer)
    s.box((-w / 2, w / 2), (0.58, 0.68), (-d / 2 + 0.3, d / 2), lacquer)
    _sides(s, w, 0.06, (0, 0.74), (-d / 2 + 0.3, d / 2), lacquer)
    s.box((-w / 2 + 0.06, w / 2 - 0.06), (0.68, 0.7), (-d / 2 + 0.3, d / 2 - 0.04), WHITE)
    keys = 14
    for place in range(keys):
        x = -w / 2 + 0.06 + (place + 0.7) * (w - 0.12) / keys
        s.box((x, x + 0.03), (0.7, 0.715), (-d / 2 + 0.3, d / 2 - 0.14), BLACK)
    s.box((-0.25, 0.25), (0.78, 1.0), (-d / 2 + 0.3, -d / 2 + 0.32), tint(WHITE, 0.95))


def _shelf(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    t = 0.025
    _sides(s, w, t, (0, h), (-d / 2, d / 2), p.wood)
    s.box((-w / 2 + t, w / 2 - t), (0, h), (-d / 2, -d / 2 + 0.01), tint(p.wood, 0.8))
    boards = max(3, round(h / 0.36))
    for place in range(boards + 1):
        y = 0.06 + (h - t - 0.06) * place / boards
        s.box((-w / 2 + t, w / 2 - t), (y, y + t), (-d / 2 + 0.01, d / 2), p.wood)
    # The books on one board are part of the mesh and not objects.
    low = 0.06 + t + (h - t - 0.06) / boards
    for place, color in enumerate((p.accent, p.fabric, p.dark, tint(p.accent, 0.7), p.wall)):
        x = -w / 2 + t + 0.02 + 0.045 * place
        s.box((x, x + 0.04), (low, low + 0.2 + 0.02 * (place % 3)), (-d / 2 + 0.02, d / 2 - 0.06), color)


def _shredder(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    s.box((-w / 2 + 0.02, w / 2 - 0.02), (0, h - 0.16), (-d / 2 + 0.02, d / 2 - 0.02), tint(STEEL, 0.8))
    s.box((-w / 2, w / 2), (h - 0.16, h), (-d / 2, d / 2), BLACK)
    s.box((-w / 2 + 0.05, w / 2 - 0.05), (h - 0.005, h), (-0.015, 0.015), WHITE)
    s.box((-w / 4, w / 4), (h * 0.25, h * 0.55), (d / 2 - 0.03, d / 2 - 0.01), WHITE)


def _sink(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    rim = h - 0.12
    bowl = (-w / 2 + 0.07, w / 2 - 0.07)
    s.box((-w / 2 + 0.01, w / 2 - 0.01), (0.0, rim - 0.15), (-d / 2, d / 2 - 0.03), p.wood)
    _doors(s, w - 0.02, (0.06, rim - 0.15), d / 2 - 0.03, 2, p.front, STEEL)
    s.box((-w / 2, w / 2), (rim - 0.15, rim - 0.1), (-d / 2, d / 2), WHITE)
    s.box((-w / 2, bowl[0]), (rim - 0.1, rim), (-d / 2, d / 2), WHITE)
    s.box((bowl[1], w / 2), (rim - 0.1, rim), (-d / 2, d / 2), WHITE)
    s.box(bowl, (rim - 0.1, rim), (-d / 2, -d / 2 + 0.12), WHITE)
    s.box(bowl, (rim - 0.1, rim), (d / 2 - 0.05, d / 2), WHITE)
    s.box(bowl, (rim - 0.1, rim - 0.09), (-d / 2 + 0.12, d / 2 - 0.05), WATER)
    s.box((-0.02, 0.02), (rim, h), (-d / 2 + 0.04, -d / 2 + 0.08), STEEL)
    s.box((-0.015, 0.015), (h - 0.03, h), (-d / 2 + 0.08, -d / 2 + 0.2), STEEL)


def _sofa(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    arm, back, seat = 0.17, 0.22, 0.42
    _legs(s, w - 0.06, 0.08, d - 0.06, 0.05, p.dark)
    s.box((-w / 2, w / 2), (0.08, 0.3), (-d / 2, d / 2), tint(p.fabric, 0.85))
    s.box((-w / 2, w / 2), (0.3, h), (-d / 2, -d / 2 + back), p.fabric)
    _sides(s, w, arm, (0.3, 0.6), (-d / 2 + back, d / 2), p.fabric)
    seats = max(1, round((w - 2 * arm) / 0.65))
    each = (w - 2 * arm) / seats
    for place in range(seats):
        x = -w / 2 + arm + place * each
        s.box((x + 0.006, x + each - 0.006), (0.3, seat), (-d / 2 + back, d / 2 - 0.01), tint(p.fabric, 1.12))
    left = -w / 2 + arm + 0.03
    s.box((left, left + 0.36), (seat, seat + 0.3), (-d / 2 + back, -d / 2 + back + 0.12), p.accent)


def _stool(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    _legs(s, w * 0.7, h - 0.05, d * 0.7, 0.035, p.dark)
    s.box((-w * 0.3, w * 0.3), (0.15, 0.18), (-0.015, 0.015), p.dark)
    s.box((-w / 2, w / 2), (h - 0.05, h), (-d * 0.35, d * 0.35), p.wood)
    s.box((-w * 0.35, w * 0.35), (h - 0.05, h), (-d / 2, d / 2), p.wood)


def _toilet(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    tank, seat = 0.2, 0.42
    s.box((-w / 2, w / 2), (seat - 0.04, h - 0.03), (-d / 2, -d / 2 + tank), WHITE)
    s.box((-w / 2, w / 2), (h - 0.03, h), (-d / 2, -d / 2 + tank), tint(WHITE, 0.92))
    s.box((-w / 4, w / 4), (0, seat - 0.12), (-d / 2 + 0.05, d / 2 - 0.15), tint(WHITE, 0.95))
    s.box((-w / 2 + 0.02, w / 2 - 0.02), (seat - 0.12, seat), (-d / 2 + tank, d / 2 - 0.1), WHITE)
    s.box((-w / 3, w / 3), (seat - 0.12, seat), (d / 2 - 0.1, d / 2), WHITE)
    s.box((-w / 4, w / 4), (seat, seat + 0.006), (-d / 2 + tank + 0.08, d / 2 - 0.1), WATER)


def _front_loader(s: MeshBuilder, w: float, h: float, d: float, p: Palette, glass: Color) -> None:
    s.box((-w / 2, w / 2), (0, h), (-d / 2, d / 2 - 0.03), WHITE)
    s.box((-w / 2 + 0.02, w / 2 - 0.02), (h - 0.13, h - 0.03), (d / 2 - 0.03, d / 2 - 0.02), tint(STEEL, 0.9))
    s.box((w / 2 - 0.12, w / 2 - 0.06), (h - 0.11, h - 0.05), (d / 2 - 0.02, d / 2 - 0.005), BLACK)
    y = h * 0.45
    # Three boxes form an octagon that looks like the round window of the drum.
    for across, along in ((0.2, 0.08), (0.15, 0.15), (0.08, 0.2)):
        s.box((-across, across), (y - along, y + along), (d / 2 - 0.03, d / 2 - 0.01), STEEL)
        s.box((-across * 0.7, across * 0.7), (y - along * 0.7, y + along * 0.7), (d / 2 - 0.02, d / 2), glass)


def _plant(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    pot = 0.32
    s.cone(0, 0, (0.11, 0.15), (0, pot), CLAY)
    s.cylinder(0, 0, 0.02, (pot, h * 0.6), p.dark, sides=4)
    low = pot + 0.1
    s.box((-w / 2, w / 2), (low + 0.1, h - 0.2), (-d / 4, d / 4), LEAF)
    s.box((-w / 4, w / 4), (low + 0.16, h - 0.14), (-d / 2, d / 2), tint(LEAF, 1.15))
    s.box((-w / 4, w / 4), (low, h), (-d / 4, d / 4), tint(LEAF, 0.9))


def _television(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    s.box((-w / 2, w / 2), (0, h), (-d / 2, d / 2 - 0.01), BLACK)
    s.box((-w / 2 + 0.02, w / 2 - 0.02), (0.03, h - 0.02), (d / 2 - 0.01, d / 2), (22, 30, 52))


def _picture(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    s.box((-w / 2, w / 2), (0, h), (-d / 2, d / 2 - 0.01), p.dark)
    s.box((-w / 2 + 0.03, w / 2 - 0.03), (0.03, h - 0.03), (d / 2 - 0.01, d / 2 - 0.004), WHITE)
    s.box((-w / 2 + 0.1, w / 2 - 0.1), (0.1, h / 2), (d / 2 - 0.005, d / 2), p.fabric)
    s.box((-w / 2 + 0.1, w / 2 - 0.1), (h / 2, h - 0.1), (d / 2 - 0.005, d / 2), p.accent)


def _mirror(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    s.box((-w / 2, w / 2), (0, h), (-d / 2, d / 2 - 0.01), STEEL)
    s.box((-w / 2 + 0.03, w / 2 - 0.03), (0.03, h - 0.03), (d / 2 - 0.01, d / 2), GLASS)


def _hood(s: MeshBuilder, w: float, h: float, d: float, p: Palette) -> None:
    s.box((-w / 2, w / 2), (0, 0.1), (-d / 2, d / 2), STEEL)
    s.box((-w / 5, w / 5), (0.1, h), (-d / 2, 0), STEEL)


BUILDERS: dict[str, Builder] = {
    "basket": _basket, "bathtub": _bathtub, "bed": _bed, "bottom cabinet": _bottom_cabinet, "carpet": _carpet,
    "chair": _chair, "chest": _chest, "coffee machine": _coffee_machine, "coffee table": _coffee_table,
    "console table": _console_table, "cooktop": _cooktop, "counter": _counter, "dishwasher": _dishwasher,
    "dryer": partial(_front_loader, glass=BLACK), "fridge": _fridge, "heater": _heater, "microwave": _microwave,
    "office chair": _office_chair, "oven": _oven, "piano": _piano, "shelf": _shelf, "shredder": _shredder,
    "sink": _sink, "sofa": _sofa, "sofa chair": _sofa, "stool": _stool, "stove": _stove, "table": _table,
    "toilet": _toilet, "top cabinet": _top_cabinet, "washer": partial(_front_loader, glass=WATER),
    "hood": _hood, "mirror": _mirror, "picture": _picture, "plant": _plant, "television": _television,
}  # fmt: skip


def build_furniture_mesh(kind: str, size: Vec3, palette: Palette) -> Mesh:
    """Build the mesh of a piece of furniture around the centre of its box.

    Raises:
        KeyError: If the kind is unknown.
    """
    shape = MeshBuilder()
    BUILDERS[kind](shape, *size, palette)
    return shape.mesh((0.0, size[1] / 2, 0.0))
