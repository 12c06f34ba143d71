"""How each thing looks: its shape by kind, colour and visible states."""

from __future__ import annotations

from functools import lru_cache

from housewise.worlds.lab.device_shapes import DEVICES, Builder, Look
from housewise.worlds.lab.furniture import FURNITURE
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.parts import Appearance, Parts, broken, grown
from housewise.worlds.lab.state import LabState, Thing
from housewise.worlds.lab.thing_shapes import SMALL_THINGS

LARGE = 2.4
"""Factor of the size of large things."""

VISIBLE_FLAGS = frozenset({"open", "broken", "on", "large", "water", "milk", "coffee"})
"""States that change a shape. Floating things are raised instead."""
_BROKEN = ("broken_fan", "broken_radio", "broken_screen")


def look_of(state: LabState, thing: Thing, wood: tuple[int, int, int], style: int) -> Look:
    """Return what the shape of a thing depends on.

    Args:
        state: State of the lab.
        thing: The thing.
        wood: Colour of the wood of its room.
        style: Style of furniture, 0 or 1.
    """
    flags = frozenset(thing.flags & VISIBLE_FLAGS)
    return Look(thing.kind, thing.color, flags, state.has_power(thing.room), wood, style)


@lru_cache(maxsize=2048)
def appearance(look: Look) -> Appearance:
    """Return the shape and colours of a thing."""
    parts = Parts()
    _builder(look)(parts, *KINDS[look.kind].size, look)
    shape = parts.appearance()
    if "broken" in look.flags or look.kind in _BROKEN:
        shape = Appearance(broken(shape.solid), broken(shape.glow))
    if "large" in look.flags:
        shape = Appearance(grown(shape.solid, LARGE), grown(shape.glow, LARGE))
    return shape


def _builder(look: Look) -> Builder:
    exact = {**DEVICES, **FURNITURE}.get(look.kind)
    return exact or next(build for part, build in SMALL_THINGS.items() if part in look.kind)
