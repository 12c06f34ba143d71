"""The words that the robot knows and the kinds of things that there are: data of a robot and a task, not code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from housewise.core.errors import DataError

_PUNCTUATION = re.compile(r"[,;:?!.]+$")

# More is no goal sentence: a model that goes on without end is not worth the reading.
MAX_CHARACTERS = 600
MAX_WORDS = 60


@dataclass(frozen=True)
class NounKind:
    """One kind of things.

    Attributes:
        above: the more general kind, None at the top.
        affordances: what can be done with all things of the kind, beside what the kinds above it allow.
    """

    above: str | None = None
    affordances: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RobotVocabulary:
    """What the robot's language processor knows.

    Args:
        words: parts of speech by word, all in lower case.
        kinds: kinds of things by noun.
        synonyms: the noun that another noun means.
        states: the affordance that a thing needs to be in a state, by the state's adjective.
        modifiers: words that may stand before a noun.
        source: the file, for errors.

    Raises:
        DataError: when synonyms or kinds lead in a circle.
    """

    words: Mapping[str, frozenset[str]]
    kinds: Mapping[str, NounKind] = field(default_factory=dict)
    synonyms: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)
    modifiers: frozenset[str] = frozenset()
    source: str = "vocabulary"

    def __post_init__(self) -> None:
        _check_acyclic(self.synonyms, f"{self.source}: field synonyms")
        above = {noun: kind.above for noun, kind in self.kinds.items() if kind.above is not None}
        _check_acyclic(above, f"{self.source}: field kinds")

    @property
    def nouns(self) -> frozenset[str]:
        """Words for things."""
        return frozenset(word for word, parts in self.words.items() if "noun" in parts)

    def knows(self, word: str) -> bool:
        """Whether a word, or a mark of punctuation, is known."""
        return word in self.words or word in self.states or word in self.modifiers or bool(_PUNCTUATION.fullmatch(word))

    def meaning(self, noun: str) -> str:
        """The noun itself, or the one that it is a synonym of."""
        while noun in self.synonyms:
            noun = self.synonyms[noun]
        return noun

    def lineage(self, noun: str) -> tuple[str, ...]:
        """A kind and those above it, the most special first."""
        return tuple(self._climb(noun))

    def affordances(self, noun: str) -> frozenset[str]:
        """What can be done with things of a kind, by what it and the kinds above it allow."""
        return frozenset().union(*(self.kinds[kind].affordances for kind in self._climb(noun) if kind in self.kinds))

    def without(self, words: Iterable[str] = (), states: Iterable[str] = ()) -> RobotVocabulary:
        """The same vocabulary for a task whose robot lacks some words, or does not take some words for states."""
        gone, stateless = set(words), {*states, *words}
        return replace(
            self,
            words={word: parts for word, parts in self.words.items() if word not in gone},
            synonyms={word: noun for word, noun in self.synonyms.items() if word not in gone},
            states={word: affordance for word, affordance in self.states.items() if word not in stateless},
            modifiers=self.modifiers - gone,
        )

    def _climb(self, noun: str | None) -> Iterator[str]:
        while noun is not None:
            yield noun
            kind = self.kinds.get(noun)
            noun = kind.above if kind else None


def split_words(sentence: str) -> list[str]:
    """A sentence's words in lower case, marks of punctuation behind a word on their own, without its last full stop."""
    found = []
    for written in sentence[:MAX_CHARACTERS].lower().split():
        bare = _PUNCTUATION.sub("", written)
        found += [part for part in (bare, written[len(bare) :]) if part]
    return found[:-1] if found and found[-1] == "." else found


def is_too_long(sentence: str) -> bool:
    """Whether a text is longer than any goal sentence."""
    return len(sentence) > MAX_CHARACTERS or len(sentence.split()) > MAX_WORDS


def _check_acyclic(leads: Mapping[str, str], where: str) -> None:
    for start in leads:
        path = [start]
        while path[-1] in leads:
            path.append(leads[path[-1]])
            if path[-1] in path[:-1]:
                raise DataError(f"{where}: {' -> '.join(path)} is a circle; take one of these out")
