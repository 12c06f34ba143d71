"""Resolves the names that people and models write to the known rooms, receptacles and objects."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_WORD = re.compile(r"[a-z0-9]+(?:[-'][a-z0-9]+)*")
_FILLER = frozenset({"the", "a", "an", "my", "your", "our", "this", "that", "some", "its"})
_NUMBER = re.compile(r"\d+")
_SIMILAR = 0.8
_LONGEST_NAME = 120
_LISTED = 3


@dataclass(frozen=True)
class Resolution:
    """The result of resolving a name.

    Attributes:
        name: The known name that is meant, or None if it is unknown or ambiguous.
        problem: Why the name could not be resolved; empty if it could.
    """

    name: str | None
    problem: str = ""


@dataclass(frozen=True)
class Vocabulary:
    """The names that the robot knows.

    Attributes:
        rooms, receptacles, objects: Spoken names in lower case.
    """

    rooms: tuple[str, ...] = ()
    receptacles: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    _words: dict[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = (*self.rooms, *self.receptacles, *self.objects)
        object.__setattr__(self, "_words", {name: _words(name) for name in names})

    def resolve(self, text: str, candidates: Iterable[str] | None = None) -> Resolution:
        """Find the known name that a text means.

        The following matches are tried in this order; the first with a result decides: the exact name; the name
        without articles and punctuation; the name without its numbers ("the mug"); a part of a single name
        ("counter 18"); a misspelled word, where numbers have to be exact.

        Args:
            text: Text of a person or a model.
            candidates: Names to choose from; all known names by default.
        """
        known = {name: self._words[name] for name in (self._words if candidates is None else candidates)}
        if text in known:
            return Resolution(text)
        wanted = tuple(word for word in _words(text[:_LONGEST_NAME]) if word not in _FILLER)
        if not wanted:
            return Resolution(None, "no name given")
        for matches in (_matches_exactly, _matches_without_numbers, _matches_partially, _matches_misspelled):
            found = [name for name, words in known.items() if matches(wanted, words)]
            if len(found) == 1:
                return Resolution(found[0])
            if found:
                return Resolution(None, _describe_ambiguity(wanted, found))
        return Resolution(None, f"unknown: {' '.join(wanted)}")


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower().replace("_", " ")))


def _matches_exactly(wanted: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return wanted == words


def _matches_without_numbers(wanted: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether the name without its numbers is meant, such as "the mug"."""
    return wanted == tuple(word for word in words if not word.isdigit())


def _matches_partially(wanted: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether the name has all wanted words in order, with each number directly behind the word before it."""
    position = -1
    for number, word in enumerate(wanted):
        start = position + 1
        if word.isdigit() and number:
            if start >= len(words) or words[start] != word:
                return False
            position = start
            continue
        if word not in words[start:]:
            return False
        position = words.index(word, start)
    return True


def _matches_misspelled(wanted: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return len(wanted) == len(words) and all(_words_similar(a, b) for a, b in zip(wanted, words, strict=True))


def _words_similar(first: str, second: str) -> bool:
    if first == second:
        return True
    if _NUMBER.search(first) or _NUMBER.search(second):
        return False
    return difflib.SequenceMatcher(None, first, second).ratio() >= _SIMILAR


def _describe_ambiguity(wanted: tuple[str, ...], found: list[str]) -> str:
    listed = ", ".join(found[:_LISTED]) + (", ..." if len(found) > _LISTED else "")
    return f"{' '.join(wanted)!r} could be {listed}"
