"""Placeholder meshes of objects without a 3D model, with the true size, a plausible shape and a colour by category."""

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
    """Return a solid that fills an object's bounding box, centred at the origin.

    Args:
        category: Category, for example ``"tennis_ball"``, which decides the shape and the colour.
        size: Size of the box, metres.
    """
    color = distinct_color(zlib.crc32(category.encode()) % 997)
    words = category.split("_")
    if any(word in _ROUND for word in words):
        return ball(size, color)
    if any(word in _UPRIGHT for word in words):
        return cylinder(size, color)
    return box(size, color)
