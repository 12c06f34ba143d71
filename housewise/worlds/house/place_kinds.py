"""Where people want things: kinds of places, and the only parser of texts that name some.

A place is a kind of receptacle in a kind of room, as in "shelf in the kitchen". Preference files, answers, rules,
questions and options of choices all name places in this way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from housewise.language.words import STOP_WORDS, word_stems
from housewise.worlds.house.preferences import ANY_ROOM, RECEPTACLE_KINDS, ROOM_KINDS, Places, Preferences

PARTS = re.compile(r"\s*(?:[,;]|\b(?:and|or|then)\b)\s*", re.IGNORECASE)
"""Separates the places or things of a list."""
_CLAUSES = re.compile(r"[.;:!?]+")
_TURNING = {"but", "than", "other", "used", "put", "them", "they"}
"""Stop words that may turn a sentence around: "everything but toys", "never on the sofa, put them in the basket"."""
FILLERS = (STOP_WORDS | {"anywhere", "place", "thing", "all", "everything", "every", "our", "inside"}) - _TURNING
"""Words in names of places and things that do not change the meaning."""


@dataclass(frozen=True)
class PlaceKind:
    """A kind of receptacle, a kind of room, or both. At least one of the two is given."""

    receptacle: str | None = None
    room: str | None = None

    @property
    def phrase(self) -> str:
        """The place in words, for example ``shelf in the kitchen``."""
        return f"{self.receptacle or 'anywhere'} in {f'the {self.room}' if self.room else ANY_ROOM}"

    def is_at(self, other: PlaceKind) -> bool:
        """Return whether this place is one of another, less particular kind: a kitchen shelf is at any shelf."""
        return other.receptacle in (None, self.receptacle) and other.room in (None, self.room)


def to_place_kinds(places: Places) -> tuple[PlaceKind, ...]:
    """Convert the places of a preference file to place kinds."""
    rooms = ((None if room == ANY_ROOM else room, kinds) for room, kinds in places.items())
    return tuple(PlaceKind(kind, room) for room, kinds in rooms for kind in kinds)


def is_wanted(preferences: Preferences, category: str, place: PlaceKind) -> bool:
    """Whether an object is wanted at a place that has a receptacle; see ``Preferences.wants``."""
    return preferences.wants(category, place.room or ANY_ROOM, place.receptacle or "")


def interleave_rooms(places: Sequence[PlaceKind]) -> list[PlaceKind]:
    """Order places so that the first of each room comes first, then the second of each, and so on."""
    rooms: dict[str | None, list[PlaceKind]] = {}
    for place in places:
        rooms.setdefault(place.room, []).append(place)
    return [place for place in chain.from_iterable(zip_longest(*rooms.values())) if place]


def find_place_kinds(text: str, strict: bool = False) -> tuple[PlaceKind, ...] | None:
    """Find the places that a text names, in order and without repetition.

    If a clause names a single room, all receptacles of the clause are in that room.

    Args:
        text: Any text.
        strict: Whether to return None if the text contains words that do not name places.
    """
    found: dict[PlaceKind, None] = {}
    for clause in _CLAUSES.split(text):
        parts = [_parse_place(part) for part in PARTS.split(clause) if part.strip()]
        if strict and any(left for *_, left in parts):
            return None
        rooms = list(dict.fromkeys(room for _, room, _ in parts if room))
        only = rooms[0] if len(rooms) == 1 else None
        shared = only and any(receptacle and not room for receptacle, room, _ in parts)
        for receptacle, room, _ in parts:
            if receptacle or (_room_or_none(room) and not shared):
                found[PlaceKind(receptacle, _room_or_none(room or only))] = None
    return tuple(found)


def find_quoted_kinds(text: str) -> tuple[PlaceKind, ...]:
    """Find the places whose phrase a text quotes, in the order of rooms and receptacles.

    A phrase within a longer one is not quoted: "console table in the hall" does not name the table in the hall.
    """
    rooms = (*ROOM_KINDS, None)
    every = [PlaceKind(receptacle, room) for room in rooms for receptacle in RECEPTACLE_KINDS]
    found = set()
    for place in sorted(every, key=lambda place: -len(place.phrase)):
        text, count = re.subn(rf"\b{re.escape(place.phrase)}\b", " ", text)
        if count:
            found.add(place)
    return tuple(place for place in every if place in found)


def _parse_place(text: str) -> tuple[str | None, str | None, list[str]]:
    """Return the receptacle, the room and the remaining words of a text."""
    words = word_stems(text)
    room, words = _extract_name(words, _ROOMS)
    receptacle, words = _extract_name(words, _RECEPTACLES)
    return receptacle, room, [word for word in words if word not in FILLERS]


def _room_or_none(name: str | None) -> str | None:
    return None if name == ANY_ROOM else name


def _extract_name(words: list[str], names: Mapping[tuple[str, ...], str]) -> tuple[str | None, list[str]]:
    """Return the first and longest of some names that occurs in a list of words, and the words without it."""
    for length in (3, 2, 1):
        for start in range(len(words) - length + 1):
            name = names.get(tuple(words[start : start + length]))
            if name is not None:
                return name, words[:start] + words[start + length :]
    return None, words


def _names_by_words(names: Iterable[str]) -> dict[tuple[str, ...], str]:
    return {tuple(word_stems(name)): name for name in names}


_ROOMS = _names_by_words((*ROOM_KINDS, ANY_ROOM))
_RECEPTACLES = _names_by_words(RECEPTACLE_KINDS)
