"""Parse rules about where things belong into kinds of things and kinds of places.

"For drinkware: prefer shelf in the kitchen; avoid table." means that every thing of the group drinkware is wanted on
kitchen shelves and unwanted on tables. A sentence with a word outside the house vocabulary is not understood, because
the unknown word may change its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from housewise.agent.clipr.rules import Rule
from housewise.language.words import STOP_WORDS, word_stems
from housewise.worlds.house.preferences import ANY_ROOM, RECEPTACLE_KINDS, ROOM_KINDS, Places, default_groups
from housewise.worlds.house.spoken_names import spoken_name

_WHERE = r"(?P<places>(?:on|in|into|onto|at) .+)$"
_BELONGS = re.compile(
    r"^(?P<things>.+?) (?P<not>(?:(?:do|does|should|must) not |don't |doesn't |shouldn't |never )?)"
    r"(?:belongs?|go(?:es)?|stays?|lives?|be(?: kept)?|(?:should|must) (?:be|go|stay)|(?:is|are) kept) " + _WHERE,
    re.IGNORECASE,
)
_PUT = re.compile(
    r"^(?:always |please )*(?P<not>(?:never |do not |don't )?)(?:put|keep|place|leave) (?P<things>.+?) " + _WHERE,
    re.IGNORECASE,
)
_PARTS = re.compile(r"\s*(?:[,;]|\b(?:and|or|then)\b)\s*", re.IGNORECASE)
_CLAUSES = re.compile(r"[.;:!?]+")
_FILLERS = frozenset({"anywhere", "place", "thing", "all", "everything", "every", "our", "inside"})
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


@dataclass(frozen=True)
class HouseRule:
    """A parsed rule that a robot in a house can follow.

    Attributes:
        things: Kinds of things.
        wanted: Where they belong, best first.
        unwanted: Where they do not belong.
    """

    things: tuple[str, ...]
    wanted: tuple[PlaceKind, ...] = ()
    unwanted: tuple[PlaceKind, ...] = ()


def parse_house_rule(rule: Rule) -> HouseRule | None:
    """Parse a rule about a house. Return None if it is not understood or is not about a house."""
    text = " ".join(rule.text.rstrip(".! ").split())
    if rule.typed and rule.condition:
        read = _build_house_rule(rule.condition, rule.preferred, rule.avoided)
        if read is not None:
            return read
    said = _BELONGS.match(text) or _PUT.match(text)
    if said is None:
        return None
    places = (said["places"],)
    return (
        _build_house_rule(said["things"], (), places) if said["not"] else _build_house_rule(said["things"], places, ())
    )


def to_place_kinds(places: Places) -> tuple[PlaceKind, ...]:
    """Convert the places of a preference file to place kinds."""
    rooms = ((None if room == ANY_ROOM else room, kinds) for room, kinds in places.items())
    return tuple(PlaceKind(kind, room) for room, kinds in rooms for kind in kinds)


def find_place_kinds(text: str, strict: bool = False) -> tuple[PlaceKind, ...] | None:
    """Find the places that a text names, in order and without repetition.

    If a clause names a single room, all receptacles of the clause are in that room.

    Args:
        text: Any text.
        strict: Whether to return None if the text contains words that do not name places.
    """
    found: dict[PlaceKind, None] = {}
    for clause in _CLAUSES.split(text):
        parts = [_parse_place(part) for part in _PARTS.split(clause) if part.strip()]
        if strict and any(left for *_, left in parts):
            return None
        rooms = list(dict.fromkeys(room for _, room, _ in parts if room))
        only = rooms[0] if len(rooms) == 1 else None
        shared = only and any(receptacle and not room for receptacle, room, _ in parts)
        for receptacle, room, _ in parts:
            if receptacle or (_room_or_none(room) and not shared):
                found[PlaceKind(receptacle, _room_or_none(room or only))] = None
    return tuple(found)


def find_thing_kinds(text: str) -> tuple[str, ...] | None:
    """Find the kinds of things that a text names, by group or individually. Return None if it names anything else."""
    known = _thing_kinds_by_words()
    whole = _significant_words(text)
    if whole in known:
        return known[whole]
    found: dict[str, None] = {}
    for part in _PARTS.split(text):
        kinds = known.get(_significant_words(part))
        if kinds is None:
            return None
        found |= dict.fromkeys(kinds)
    return tuple(found)


def _build_house_rule(things: str, wanted: Sequence[str], unwanted: Sequence[str]) -> HouseRule | None:
    kinds = find_thing_kinds(things)
    places = [find_place_kinds(" then ".join(phrases), strict=True) for phrases in (wanted, unwanted)]
    if not kinds or places[0] is None or places[1] is None or not (places[0] or places[1]):
        return None
    return HouseRule(kinds, places[0], tuple(spot for spot in places[1] if spot not in places[0]))


def _parse_place(text: str) -> tuple[str | None, str | None, list[str]]:
    """Return the receptacle, the room and the remaining words of a text."""
    words = word_stems(text)
    room, words = _extract_name(words, _ROOMS)
    receptacle, words = _extract_name(words, _RECEPTACLES)
    return receptacle, room, [word for word in words if word not in STOP_WORDS | _FILLERS]


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


def _significant_words(text: str) -> tuple[str, ...]:
    return tuple(word for word in word_stems(text.replace("_", " ")) if word not in STOP_WORDS | _FILLERS)


def _names_by_words(names: Iterable[str]) -> dict[tuple[str, ...], str]:
    return {tuple(word_stems(name)): name for name in names}


_ROOMS = _names_by_words((*ROOM_KINDS, ANY_ROOM))
_RECEPTACLES = _names_by_words(RECEPTACLE_KINDS)


@lru_cache(maxsize=1)
def _thing_kinds_by_words() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return the kinds of things by the words of a group's name or of their own."""
    groups = {name: tuple(map(spoken_name, group.things)) for name, group in default_groups().items()}
    single = {_significant_words(kind): (kind,) for kinds in groups.values() for kind in kinds}
    return single | {_significant_words(name): kinds for name, kinds in groups.items()}
