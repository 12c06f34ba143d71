"""Kinds of things and devices in the lab, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Property = Literal[
    "pickupable", "openable", "breakable", "receptacle", "toggleable", "powerable", "dirtyable", "heatable", "eatable",
    "chillable", "fillable", "cookable", "decor", "infectable",
]  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A kind of thing.

    Attributes:
        key: Its key, such as ``"laser_monitor"``; ids begin with it.
        name: What people who know it say, such as ``"laser monitor"``.
        fuzzy: What people who do not know it say, such as ``"computer"``; None for common things.
        properties: What can be done with it.
        size: (width, height, depth), metres.
        colors: Colours that it may have; the first is the usual one.
        look: How it looks, in words that describe one without naming it; empty for common things.
        spots: Number of things that fit on or in it.
    """

    key: str
    name: str
    fuzzy: str | None
    properties: frozenset[Property]
    size: tuple[float, float, float]
    colors: tuple[str, ...]
    look: str = ""
    spots: int = 0

    @property
    def is_common(self) -> bool:
        """Whether everybody knows it."""
        return self.fuzzy is None


KINDS: dict[str, Kind] = {}
