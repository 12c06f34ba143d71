"""Finds the thing that a person or a model means by a name."""

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
    """What a name stands for.

    Attributes:
        name: the known name that is meant, None when that cannot be told.
        problem: why it cannot be told, in words; empty when it can.
    """

    name: str | None
    problem: str = ""


@dataclass(frozen=True)
class Vocabulary:
    """The names that the robot knows.

    Attributes:
        rooms, receptacles, objects: as spoken, lower case.
    """

    rooms: tuple[str, ...] = ()
    receptacles: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    _words: dict[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = (*self.rooms, *self.receptacles, *self.objects)
        object.__setattr__(self, "_words", {name: _words(name) for name in names})

    def resolve(self, said: str, among: Iterable[str] | None = None) -> Resolution:
        """Find the one known thing that is meant.

        Tried in turn: the name itself; the name without fillers and with any punctuation; the name without its
        numbers ("the mug"); part of a name that fits one thing only ("counter 18"); a slip of the pen in a word,
        numbers being taken at their word.

        Args:
            said: as written by a person or a model.
            among: names to choose from; all of them by default.
        """
        known = {name: self._words[name] for name in (self._words if among is None else among)}
        if said in known:
            return Resolution(said)
        wanted = tuple(word for word in _words(said[:_LONGEST_NAME]) if word not in _FILLER)
        if not wanted:
            return Resolution(None, "no name given")
        for matches in (_exact, _unnumbered, _partial, _misspelt):
            found = [name for name, words in known.items() if matches(wanted, words)]
            if len(found) == 1:
                return Resolution(found[0])
            if found:
                return Resolution(None, _ambiguous(wanted, found))
        return Resolution(None, f"unknown: {' '.join(wanted)}")


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower().replace("_", " ")))


def _exact(wanted: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return wanted == words


def _unnumbered(wanted: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether the name is meant without its numbers: the kitchen, the mug."""
    return wanted == tuple(word for word in words if not word.isdigit())


def _partial(wanted: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether every wanted word is in the name, in order, with each number right behind the word that it counts."""
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


def _misspelt(wanted: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return len(wanted) == len(words) and all(_alike(a, b) for a, b in zip(wanted, words, strict=True))


def _alike(first: str, second: str) -> bool:
    if first == second:
        return True
    if _NUMBER.search(first) or _NUMBER.search(second):
        return False
    return difflib.SequenceMatcher(None, first, second).ratio() >= _SIMILAR


def _ambiguous(wanted: tuple[str, ...], found: list[str]) -> str:
    listed = ", ".join(found[:_LISTED]) + (", ..." if len(found) > _LISTED else "")
    return f"{' '.join(wanted)!r} could be {listed}"
