"""Parse rules about where things belong into kinds of things and kinds of places.

"For drinkware: prefer shelf in the kitchen; avoid table." means that every thing of the group drinkware is wanted on
kitchen shelves and unwanted on tables. A sentence with a word outside the house vocabulary is not understood, because
the unknown word may change its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from housewise.agent.clipr.rules import Rule
from housewise.language.words import word_stems
from housewise.worlds.house.place_kinds import FILLERS, PARTS, PlaceKind, find_place_kinds
from housewise.worlds.house.preferences import default_groups
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


def find_thing_kinds(text: str) -> tuple[str, ...] | None:
    """Find the kinds of things that a text names, by group or individually. Return None if it names anything else."""
    known = _thing_kinds_by_words()
    whole = _significant_words(text)
    if whole in known:
        return known[whole]
    found: dict[str, None] = {}
    for part in PARTS.split(text):
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


def _significant_words(text: str) -> tuple[str, ...]:
    return tuple(word for word in word_stems(text.replace("_", " ")) if word not in FILLERS)


@lru_cache(maxsize=1)
def _thing_kinds_by_words() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return the kinds of things by the words of a group's name or of their own."""
    groups = {name: tuple(map(spoken_name, group.things)) for name, group in default_groups().items()}
    single = {_significant_words(kind): (kind,) for kinds in groups.values() for kind in kinds}
    return single | {_significant_words(name): kinds for name, kinds in groups.items()}
