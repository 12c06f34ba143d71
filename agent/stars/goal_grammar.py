"""Parse goal sentences with the Lark grammars in ``housekeep_configs/stars/*.lark``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer
from lark.exceptions import LarkError

from housewise.agent.stars.goal_clauses import GoalClause, NounPhrase, PlacementClause, StateClause
from housewise.agent.stars.vocabulary import RobotVocabulary, is_too_long, split_words
from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError, UserError
from housewise.core.text_files import is_file, read_text

PAPER_GRAMMAR = "goal"
WIDE_GRAMMAR = "wide"
_STARTS = ["goal", "statement", "opening", "referent"]
_MAX_PHRASE_WORDS = 4
# Synonyms of relations in wider grammars.
_RELATIONS = {"into": "in", "inside": "in", "onto": "on", "on to": "on", "to": "in"}
_STATE_BY_VERB = {"close": "closed", "shut": "closed", "open": "opened"}


@dataclass(frozen=True)
class StatedGoal:
    """A goal that a person states for all objects with a name. "The object" in its clauses means such an object."""

    name: str
    clauses: tuple[GoalClause, ...]


@dataclass(frozen=True)
class GoalGrammar:
    """The rules of a grammar of goal sentences.

    Attributes:
        name: Name for error messages.
        rules: Rules in Lark syntax, without the terminals that the vocabulary defines.
    """

    name: str
    rules: str

    @classmethod
    def load(cls, name: str) -> GoalGrammar:
        """Load a bundled grammar by name, or a file.

        Raises:
            UserError: There is no such grammar.
        """
        packaged = CONFIGS / "stars" / f"{name}.lark"
        path = packaged if is_file(packaged) else Path(name)
        if not is_file(path):
            raise UserError(f"{name}: no such goal grammar; use {PAPER_GRAMMAR}, {WIDE_GRAMMAR} or a .lark file")
        return cls(name, read_text(path))


class GoalLanguage:
    """Parses goal sentences over the words of a vocabulary.

    Args:
        vocabulary: Defines the grammar's nouns, modifiers and states.
        grammar: Loaded grammar, name of a bundled grammar, or path.

    Raises:
        UserError: There is no such grammar, or it is malformed.
    """

    def __init__(self, vocabulary: RobotVocabulary, grammar: str | GoalGrammar = PAPER_GRAMMAR) -> None:
        self.vocabulary = vocabulary
        grammar = GoalGrammar.load(grammar) if isinstance(grammar, str) else grammar
        rules = grammar.rules
        # Words that the grammar quotes are known, too.
        self._function_words = frozenset(
            word for quoted in re.findall(r'"([^"]*)"', re.sub(r"//.*", "", rules)) for word in quoted.split()
        )
        terminals = {"NOUN": vocabulary.nouns, "MODIFIER": vocabulary.modifiers, "STATE": vocabulary.states}
        words = "\n".join(f"{name}: {_terminal_of(known)}" for name, known in terminals.items())
        try:
            self._lark = Lark(f"{rules}\n{words}\n", start=_STARTS, parser="earley")
        except LarkError as error:
            raise DataError(
                f"grammar {grammar.name}: {str(error).splitlines()[0]}; correct the grammar file"
            ) from error

    def knows(self, word: str) -> bool:
        """Return whether a word is in the vocabulary or in the grammar itself."""
        return word in self._function_words or self.vocabulary.knows(word)

    def goal(self, words: Sequence[str]) -> tuple[GoalClause, ...] | None:
        """Parse a goal sentence into clauses. Return None if it is not grammatical.

        Args:
            words: Words as returned by :func:`housewise.agent.stars.vocabulary.split_words`.
        """
        clauses: tuple[GoalClause, ...] | None = self._parse(words, "goal")
        return clauses

    def statement(self, sentence: str) -> StatedGoal | None:
        """Parse a stated goal ("if the object is a mug then the goal is that ..."). Return None for other sentences."""
        found: StatedGoal | None = None if is_too_long(sentence) else self._parse(split_words(sentence), "statement")
        return found

    def find_phrases(self, words: Sequence[str]) -> list[NounPhrase]:
        """Return the noun phrases in the beginning of a sentence, even if the sentence is not grammatical."""
        found = []
        opening = next((end for end in range(len(words), 0, -1) if self._parse(words[:end], "opening")), 0)
        for first in range(opening, len(words)):
            ends = range(min(len(words), first + _MAX_PHRASE_WORDS), first, -1)
            phrases = (self._parse(words[first:end], "referent") for end in ends)
            found += [phrase for phrase in phrases if phrase][:1]
        return found

    def _parse(self, words: Sequence[str], start: str) -> Any:
        try:
            return _ParseTransformer().transform(self._lark.parse("".join(f"{word} " for word in words), start=start))
        except LarkError:
            return None


class _Opening:
    """The opening words of a goal sentence. They carry no meaning."""


@dataclass(frozen=True)
class _StateOfIt:
    """A state of the thing that was named last ("it is closed")."""

    state: str


class _ParseTransformer(Transformer[Token, Any]):
    """Converts a parse tree to clauses. The method names are those of the grammar's rules and aliases."""

    def bare(self, words: list[Token]) -> NounPhrase:
        *modifiers, noun = (word.strip() for word in words if word.type != "ARTICLE")
        return NounPhrase(noun, tuple(modifiers))

    definite = bare

    def absent(self, parts: list[NounPhrase]) -> NounPhrase:
        return replace(parts[0], is_denied=True)

    def referent(self, parts: list[Any]) -> NounPhrase:
        return parts[-1] if isinstance(parts[-1], NounPhrase) else self.bare(parts)

    def opening(self, _: list[Token]) -> _Opening:
        return _Opening()

    def thing(self, parts: list[Any]) -> NounPhrase:
        phrase: NounPhrase = parts[0]
        return replace(phrase, attached=parts[-1]) if isinstance(parts[-1], NounPhrase) and len(parts) > 1 else phrase

    target = lack = thing

    def placement(self, parts: list[Any]) -> PlacementClause:
        subject, relation, target = (part for part in parts if getattr(part, "type", "RELATION") == "RELATION")
        return PlacementClause(subject, _RELATIONS.get(relation.strip(), relation.strip()), target)

    command = placement

    def state(self, parts: list[Any]) -> StateClause:
        return StateClause(parts[0], parts[-1].strip())

    def absence(self, parts: list[Any]) -> StateClause:
        return StateClause(parts[-1], "absent")

    def state_of_it(self, parts: list[Any]) -> _StateOfIt:
        return _StateOfIt(parts[-1].strip())

    def set_state(self, parts: list[Any]) -> StateClause:
        return StateClause(parts[1], _STATE_BY_VERB[parts[0].strip()])

    def set_it(self, parts: list[Any]) -> _StateOfIt:
        return _StateOfIt(_STATE_BY_VERB[parts[0].strip()])

    def goal(self, parts: list[Any]) -> tuple[GoalClause, ...]:
        clauses: list[GoalClause] = []
        for part in parts:
            if isinstance(part, _StateOfIt):
                part = StateClause(_last_named(clauses), part.state)
            if not isinstance(part, _Opening):
                clauses.append(part)
        return tuple(clauses)

    def statement(self, parts: list[Any]) -> StatedGoal:
        return StatedGoal(parts[-2].strip(), parts[-1])


def _last_named(clauses: Sequence[GoalClause]) -> NounPhrase:
    if not clauses:
        raise LarkError("nothing has been named that 'it' could mean")
    last = clauses[-1]
    return last.target if isinstance(last, PlacementClause) else last.subject


def _terminal_of(words: Iterable[str]) -> str:
    """Return a terminal that matches one of the words and the space after it, or nothing if there are no words."""
    texts = "|".join(re.escape(word).replace("/", r"\/") for word in sorted(words, key=lambda word: (-len(word), word)))
    return f"/(?:{texts}) /" if texts else r"/[^\s\S]/"
