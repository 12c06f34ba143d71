"""The words that the robot knows and the kinds of things that exist. They are data of a robot and a task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from housewise.core.errors import DataError

_PUNCTUATION = re.compile(r"[,;:?!.]+$")

# Limits of a goal sentence. Longer texts, from models that do not stop, are not analysed.
MAX_CHARACTERS = 600
MAX_WORDS = 60


@dataclass(frozen=True)
class NounKind:
    """A kind of thing.

    Attributes:
        above: More general kind, or None at the top.
        affordances: What can be done with every thing of this kind, in addition to the affordances of more general
            kinds.
    """

    above: str | None = None
    affordances: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RobotVocabulary:
    """The vocabulary of the robot's language processor.

    Args:
        words: Parts of speech by word, in lower case.
        kinds: Kinds of things by noun.
        synonyms: Noun that another noun stands for.
        states: Affordance that a thing needs to be in a state, by the state's adjective.
        modifiers: Words that may precede a noun.
        source: File name for error messages.

    Raises:
        DataError: Synonyms or kinds form a cycle.
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
        """All nouns."""
        return frozenset(word for word, parts in self.words.items() if "noun" in parts)

    def knows(self, word: str) -> bool:
        """Return whether a word or punctuation mark is known."""
        return word in self.words or word in self.states or word in self.modifiers or bool(_PUNCTUATION.fullmatch(word))

    def meaning(self, noun: str) -> str:
        """Return the noun that a synonym stands for, or the noun itself."""
        while noun in self.synonyms:
            noun = self.synonyms[noun]
        return noun

    def lineage(self, noun: str) -> tuple[str, ...]:
        """Return a kind and all more general kinds, most specific first."""
        return tuple(self._climb(noun))

    def affordances(self, noun: str) -> frozenset[str]:
        """Return what can be done with things of a kind, including the affordances of more general kinds."""
        return frozenset().union(*(self.kinds[kind].affordances for kind in self._climb(noun) if kind in self.kinds))

    def remove_words(self, words: Iterable[str] = (), states: Iterable[str] = ()) -> RobotVocabulary:
        """Return a copy that lacks some words, and in which some words are no states."""
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
    """Split a sentence into lower-case words. Punctuation becomes separate words; the last full stop is dropped."""
    found = []
    for written in sentence[:MAX_CHARACTERS].lower().split():
        bare = _PUNCTUATION.sub("", written)
        found += [part for part in (bare, written[len(bare) :]) if part]
    return found[:-1] if found and found[-1] == "." else found


def is_too_long(sentence: str) -> bool:
    """Return whether a text is longer than any goal sentence."""
    return len(sentence) > MAX_CHARACTERS or len(sentence.split()) > MAX_WORDS


def _check_acyclic(leads: Mapping[str, str], where: str) -> None:
    for start in leads:
        path = [start]
        while path[-1] in leads:
            path.append(leads[path[-1]])
            if path[-1] in path[:-1]:
                raise DataError(f"{where}: {' -> '.join(path)} is a cycle; remove one of these")
