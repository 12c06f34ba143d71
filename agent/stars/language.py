"""Reads goal sentences with a grammar that is data: ``housekeep_configs/stars/*.lark``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer
from lark.exceptions import LarkError

from agent.stars.clauses import Clause, InState, Placement, Referent
from agent.stars.vocabulary import Vocabulary, too_long, words_of
from household.errors import DataError, UserError

PAPER = "goal"
_STARTS = ["goal", "statement", "opening", "referent"]
_LONGEST_REFERENT = 4


@dataclass(frozen=True)
class Statement:
    """A goal that a person states for all objects of a name; in its clauses "the object" is such an object."""

    name: str
    clauses: tuple[Clause, ...]


class Language:
    """A grammar of goal sentences over the words of a vocabulary.

    Args:
        vocabulary: gives the grammar its nouns, modifiers and states.
        grammar: name of a grammar that comes with the package, or a file.

    Raises:
        UserError: when there is no such grammar, or it is none; the message says where.
    """

    def __init__(self, vocabulary: Vocabulary, grammar: str = PAPER) -> None:
        self.vocabulary = vocabulary
        rules = _grammar(grammar)
        terminals = {"NOUN": vocabulary.nouns, "MODIFIER": vocabulary.modifiers, "STATE": vocabulary.states}
        words = "\n".join(f"{name}: {_one_of(known)}" for name, known in terminals.items())
        try:
            self._lark = Lark(
                f"{rules}\n{words}\n", start=["goal", "statement", "opening", "referent"], parser="earley"
            )
        except LarkError as error:
            raise DataError(f"grammar {grammar}: {str(error).splitlines()[0]}; mend the grammar's file") from error

    def goal(self, words: Sequence[str]) -> tuple[Clause, ...] | None:
        """The clauses of a goal sentence, None where it cannot be interpreted.

        Args:
            words: as :func:`agent.stars.vocabulary.words_of` gives them.
        """
        clauses: tuple[Clause, ...] | None = self._read(words, "goal")
        return clauses

    def statement(self, sentence: str) -> Statement | None:
        """A goal that a person states ("if the object is a mug then the goal is that ..."), None for other words."""
        found: Statement | None = None if too_long(sentence) else self._read(words_of(sentence), "statement")
        return found

    def heard(self, words: Sequence[str]) -> list[Referent]:
        """What has been referred to in the beginning of a sentence, whatever else it says."""
        found = []
        opening = next((end for end in range(len(words), 0, -1) if self._read(words[:end], "opening")), 0)
        for first in range(opening, len(words)):
            ends = range(min(len(words), first + _LONGEST_REFERENT), first, -1)
            phrases = (self._read(words[first:end], "referent") for end in ends)
            found += [phrase for phrase in phrases if phrase][:1]
        return found

    def _read(self, words: Sequence[str], start: str) -> Any:
        try:
            return _Reading().transform(self._lark.parse("".join(f"{word} " for word in words), start=start))
        except LarkError:
            return None


class _Reading(Transformer[Token, Any]):
    """Turns a parse into clauses; the grammar's rules and alternatives are this class's methods."""

    def referent(self, words: list[Token]) -> Referent:
        *modifiers, noun = (word.strip() for word in words)
        return Referent(noun, tuple(modifiers))

    def opening(self, _: list[Token]) -> bool:
        return True

    def thing(self, parts: list[Any]) -> Referent:
        phrase: Referent = parts[0]
        return replace(phrase, at=parts[-1]) if isinstance(parts[-1], Referent) and len(parts) > 1 else phrase

    def placement(self, parts: list[Any]) -> Placement:
        subject, _, relation, target = parts
        return Placement(subject, relation.strip(), target)

    def state(self, parts: list[Any]) -> InState:
        subject, _, state = parts
        return InState(subject, state.strip())

    def goal(self, parts: list[Any]) -> tuple[Clause, ...]:
        return tuple(parts[1:])

    def statement(self, parts: list[Any]) -> Statement:
        return Statement(parts[0].strip(), parts[1])


def _grammar(name: str) -> str:
    packaged = resources.files("housekeep_configs") / "stars" / f"{name}.lark"
    path = packaged if packaged.is_file() else Path(name)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{name}: no such grammar of goals; give a .lark file, or '{PAPER}'") from error


def _one_of(words: Iterable[str]) -> str:
    """A terminal that is one of some words with the space behind it; one that nothing matches, where there are none."""
    texts = "|".join(re.escape(word).replace("/", r"\/") for word in sorted(words, key=lambda word: (-len(word), word)))
    return f"/(?:{texts}) /" if texts else r"/[^\s\S]/"
