"""Places of a house as pairs of room kind and receptacle kind, in the order in which people name them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest

Spot = tuple[str, str]
"""Kind of room and kind of receptacle."""

ANSWERED_PLACES = 4
"""Places that a person names at most in one answer."""


def interleave_rooms(spots: Sequence[Spot]) -> list[Spot]:
    """Order spots so that the first of each room comes first, then the second of each, and so on."""
    rooms: dict[str, list[Spot]] = {}
    for spot in spots:
        rooms.setdefault(spot[0], []).append(spot)
    return [spot for spot in chain.from_iterable(zip_longest(*rooms.values())) if spot]
