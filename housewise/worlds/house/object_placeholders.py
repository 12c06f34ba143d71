"""Stand-ins for the models of objects: true size, plausible shape, a colour of their own."""

from __future__ import annotations

import zlib

from housewise.worlds.house.geometry import Vec3
from housewise.worlds.house.scene import Mesh
from housewise.worlds.house.solids import ball, box, cylinder, distinct_color

_ROUND = ("ball", "apple", "orange", "peach", "plum", "pear", "lemon", "globe", "onion", "tomato")
_UPRIGHT = (
    "base", "bottle", "bowl", "bulb", "can", "candle", "canister", "cleanser", "cup", "glass", "holder", "jar", "lamp",
    "lantern", "lid", "mug", "pan", "pitcher", "plant", "plate", "pot", "ramekin", "roll", "saucer", "skillet",
    "stand", "teapot", "thermos", "tray", "tumbler", "vase", "weight",
)  # fmt: skip


def placeholder_mesh(category: str, size: Vec3) -> Mesh:
    """A solid that fills an object's box, centred at the origin.

    Args:
        category: such as ``"tennis_ball"``; decides the shape, and with the name the colour.
        size: of the box, metres.
    """
    color = distinct_color(zlib.crc32(category.encode()) % 997)
    words = category.split("_")
    if any(word in _ROUND for word in words):
        return ball(size, color)
    if any(word in _UPRIGHT for word in words):
        return cylinder(size, color)
    return box(size, color)
