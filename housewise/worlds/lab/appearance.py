"""How each thing looks: its shape by kind, colour and visible states."""

from __future__ import annotations

from functools import lru_cache

from housewise.worlds.lab.device_shapes import DEVICES, Builder, Look, monitor
from housewise.worlds.lab.furniture import FURNITURE
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.parts import Appearance, Parts, broken, grown
from housewise.worlds.lab.state import LabState, Thing
from housewise.worlds.lab.thing_shapes import SMALL_THINGS, carrot, crate, plain

LARGE = 2.4
"""Factor of the size of large things."""

VISIBLE_FLAGS = frozenset({"open", "broken", "on", "large", "carrot", "water", "milk", "coffee"})
"""States that change a shape. Floating things are raised instead."""


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
    if "broken" in look.flags or look.kind.startswith("broken_"):
        shape = Appearance(broken(shape.solid), broken(shape.glow))
    if "large" in look.flags:
        shape = Appearance(grown(shape.solid, LARGE), grown(shape.glow, LARGE))
    return shape


def _builder(look: Look) -> Builder:
    key = look.kind
    if "carrot" in look.flags:
        return carrot
    if key in DEVICES:
        return DEVICES[key]
    if key == "computer" or key.endswith(("monitor", "computer")):
        return monitor
    if "box" in key or "crate" in key:
        return crate
    shapes = FURNITURE if "pickupable" not in KINDS[key].properties else SMALL_THINGS
    return next((build for part, build in shapes.items() if part in key), plain)
