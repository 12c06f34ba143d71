"""Everyday English of the lab as data: verbs, rooms, and words of one meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, get_args

from pydantic import field_validator, model_validator

from housewise.core.configs import CONFIGS
from housewise.core.errors import suggest_names
from housewise.core.validation import StrictModel, read_model
from housewise.language.words import normalize_letters, stem, verb_forms
from housewise.worlds.lab.actions import Verb
from housewise.worlds.lab.state import ROOMS
from housewise.worlds.lab.texts import Side

VOCABULARY_FILE = CONFIGS / "basis" / "vocabulary.yaml"

_TOKEN = re.compile(r"[a-z0-9]+(?:[-'][a-z0-9]+)*|[,:()]")


SpokenVerb = Verb | Literal["Find"]
FunctionWords = Literal[
    "stop",
    "adverbs",
    "pronouns",
    "determiners",
    "linking",
    "predicates",
    "openers",
    "gerund_openers",
    "nouns_too",
    "into",
    "from",
]


class SpeechVocabulary(StrictModel):
    """Words and their meanings; see the comments of the file.

    Attributes:
        verbs: Expressions by verb of an action.
        negations: Expressions that begin an advice against something.
        encouragements: Expressions with words of negation that advise nothing against.
        reasons: Expressions that begin a reason.
        conditions: Expressions that begin a condition.
        asides: Expressions that say nothing of what to do, wherever they stand.
        rooms: Expressions by room.
        here: Expressions for the room where one is.
        sides: Expressions by side of the view.
        synonyms: Words of one meaning; the first stands for all.
        function_words: Words by their use in sentences.
    """

    verbs: dict[SpokenVerb, tuple[str, ...]]
    negations: tuple[str, ...]
    encouragements: tuple[str, ...]
    reasons: tuple[str, ...]
    conditions: tuple[str, ...]
    asides: tuple[str, ...]
    rooms: dict[str, tuple[str, ...]]
    here: tuple[str, ...]
    sides: dict[str, tuple[str, ...]]
    synonyms: tuple[tuple[str, ...], ...]
    function_words: dict[FunctionWords, frozenset[str]]

    @field_validator("verbs", mode="before")
    @classmethod
    def _check_verbs(cls, value: object) -> object:
        known = (*get_args(Verb), "Find")
        if isinstance(value, dict) and (unknown := [verb for verb in value if verb not in known]):
            raise ValueError(f"there is no verb {unknown[0]!r}; {suggest_names(str(unknown[0]), known)}")
        return value

    @model_validator(mode="after")
    def _check(self) -> SpeechVocabulary:
        if unknown := sorted({*self.rooms} ^ {*ROOMS}):
            raise ValueError(f"field rooms: check {', '.join(unknown)}; expected exactly {', '.join(ROOMS)}")
        if unknown := sorted({*self.sides} ^ {*get_args(Side)}):
            raise ValueError(f"field sides: check {', '.join(unknown)}; expected exactly {', '.join(get_args(Side))}")
        if missing := sorted({*get_args(FunctionWords)} - {*self.function_words}):
            raise ValueError(f"field function_words: {', '.join(missing)} missing")
        return self

    @cached_property
    def keys(self) -> dict[str, str]:
        """The key of each word that has one."""
        return {stem(word): stem(line[0]) for line in self.synonyms for word in line if " " not in word}

    @cached_property
    def verb_expressions(self) -> dict[str, list[tuple[tuple[str, ...], SpokenVerb, str]]]:
        """Expressions in their forms by first word, longest first, each with verb and form."""
        found: dict[str, list[tuple[tuple[str, ...], SpokenVerb, str]]] = {}
        for verb, expressions in self.verbs.items():
            for expression in expressions:
                first, *rest = expression.split()
                _, past, gerund = verb_forms(first)
                past = _PARTICIPLES.get(first, past)
                for word, form in (
                    (first, "base"),
                    (gerund, "gerund"),
                    (past, "participle"),
                    (f"{first}es" if first.endswith(("ch", "sh", "s")) else f"{first}s", "third"),
                ):
                    # Forms of a verb that are its base form too, such as "put", are read as the base form.
                    if form == "base" or word != first:
                        found.setdefault(word, []).append(((word, *rest), verb, form))
        return {word: sorted(each, key=lambda entry: -len(entry[0])) for word, each in found.items()}

    def key_of(self, word: str) -> str:
        """Return the key of a word: the first word of its line of synonyms, or its stem."""
        return self.keys.get(stem(word), stem(word))

    def content(self, tokens: Iterable[str]) -> tuple[str, ...]:
        """Return the keys of the words that mean something, in order."""
        stop = self.function_words["stop"]
        found = []
        for token in tokens:
            if token in stop or not token[0].isalnum() or token.isdigit():
                continue
            found.append(self.key_of(token))
            if "-" in token and stem(token) not in self.keys:
                found += [self.key_of(part) for part in token.split("-") if part not in stop]
        return tuple(found)

    def text_content(self, text: str) -> tuple[str, ...]:
        """Return the keys of the words of a text that mean something, in order."""
        return self.content(tokenize(text))


def tokenize(text: str) -> list[str]:
    """Return the words, commas and colons of a text in lower case, with plain apostrophes."""
    plain = text.replace("’", "'").replace("`", "'")
    return _TOKEN.findall(normalize_letters(plain))


def find_phrase(tokens: Sequence[str], start: int, phrases: tuple[str, ...]) -> int:
    """Return the number of words of the longest phrase that begins at a place; 0 if none does."""
    for words in _by_first_word(phrases).get(tokens[start], ()):
        if tuple(tokens[start : start + len(words)]) == words:
            return len(words)
    return 0


@lru_cache(maxsize=64)
def _by_first_word(phrases: tuple[str, ...]) -> dict[str, list[tuple[str, ...]]]:
    """Return the words of phrases by their first word, longest first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for words in sorted((tuple(tokenize(phrase)) for phrase in phrases), key=len, reverse=True):
        found.setdefault(words[0], []).append(words)
    return found


@lru_cache(maxsize=4)
def load_vocabulary(path: Path = VOCABULARY_FILE) -> SpeechVocabulary:
    """Load a vocabulary.

    Args:
        path: The file; the bundled one by default.

    Raises:
        DataError: The file is malformed, or names other rooms, verbs or sides than the lab has.
    """
    return read_model(path, SpeechVocabulary)


_PARTICIPLES = {
    "put": "put", "set": "set", "take": "taken", "throw": "thrown", "break": "broken", "shut": "shut", "hold": "held",
    "find": "found", "bring": "brought", "get": "gotten", "hit": "hit", "leave": "left", "slide": "slid",
    "stick": "stuck", "feed": "fed", "lay": "laid", "hang": "hung", "fit": "fitted", "see": "seen",
    "switch": "switched",
}  # fmt: skip
