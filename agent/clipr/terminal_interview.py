"""An interview with a person at a terminal: questions that people wrote, and answers read one at a time.

What is understood of an answer is a rule, which the person is shown before it is kept (housewise.cli.rule_conversation). The
published method's own steps, which ask simulated people, are in housewise.agent.clipr.language_steps.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

from pydantic import Field

from housewise.agent.clipr.answer_phrases import (
    NoSuchOption,
    any_of,
    is_indifferent,
    lower,
    swaps,
    wants_none,
    with_never,
    with_options,
    without_conditions,
    without_missing,
)
from housewise.agent.clipr.house_interview import groups
from housewise.agent.clipr.house_place_words import EverydayPlaces
from housewise.agent.clipr.language_steps import Exchange, Interviewer
from housewise.agent.clipr.local_steps.answer_meaning import parts
from housewise.agent.clipr.rules import MOST_CHARACTERS, Rule, read_rule, typed_rule
from housewise.core.configs import CONFIGS
from housewise.language.embedder import Embedder
from housewise.worlds.choices.files import Settings, read_yaml
from housewise.worlds.choices.scenario import Situation

QUESTIONS = CONFIGS / "clipr" / "interview.yaml"

_Words = Annotated[str, Field(min_length=1, max_length=200)]
_WHOLE_RULE = re.compile(r"for [^:]+: *(?:prefer|avoid)\b", re.IGNORECASE)


class Choice(Settings):
    """A question of the kitchen; see interview.yaml."""

    question: _Words
    options: Annotated[dict[_Words, tuple[_Words, ...]], Field(min_length=2, max_length=9)]
    things: tuple[_Words, ...] = ()


class QuestionFile(Settings):
    """Questions by what rules are for."""

    kitchen: dict[_Words, Choice]
    house: dict[_Words, _Words]


@dataclass(frozen=True)
class Understood:
    """What an answer says.

    Attributes:
        answer: in words, as it is kept.
        rules: that come of it; none where the person has no wish.
        wanted, unwanted: what the rule prefers, best first, and avoids.
        left_out: clauses of the answer that no rule can keep.
    """

    answer: str
    rules: tuple[Rule, ...] = ()
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


class NotUnderstood(Exception):
    """An answer says nothing that is understood; the message says what would be."""


@dataclass(frozen=True, kw_only=True)
class Question(ABC):
    """One question, and how its answers are read.

    Attributes:
        text: in words.
        name: what it is about, "" where it does not say.
        options: answers to choose from by number.
        earlier: other words in which it was asked before.
        example: of an answer that is understood.
    """

    text: str
    name: str = ""
    options: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    example: str = "I like it cold, never hot"

    @abstractmethod
    def read(self, said: str, before: Understood | None = None, adds: bool = False) -> Understood:
        """What an answer says.

        Args:
            said: in the person's words.
            before: what was understood of the same question, which this corrects.
            adds: whether it adds to that.

        Raises:
            NotUnderstood: nothing that is understood.
        """


class Interview(Protocol):
    """Brings one question after the other."""

    def next(self, dialogue: Sequence[Exchange], skipped: Collection[str], left: int) -> Question | None:
        """The next question; None where there is none.

        Args:
            dialogue: what was asked and answered.
            skipped: texts of questions that were not answered and are not to be put again.
            left: how many may be asked.
        """
        ...

    def count(self, dialogue: Sequence[Exchange]) -> int | None:
        """How many questions there are beside those answered; None where nobody knows."""
        ...


class WordReader(Protocol):
    """Finds what an answer names.

    Attributes:
        named: words that it may name, which do not tell whether they are wanted.
    """

    @property
    def named(self) -> str: ...

    def marked(self, text: str) -> str:
        """A text with what is understood in words that ``values`` reads."""
        ...

    def values(self, text: str, wanted: bool) -> tuple[str, ...]:
        """What a marked text names, in order; it is part of what somebody wants, or of what they refuse."""
        ...


class Vocabulary:
    """Options with other words for them, and things that are kept as they are said; see WordReader.

    In a marked text each is one made-up word, so that no word of its own, as in "no sugar", tells whether it is wanted.
    """

    def __init__(self, options: Mapping[str, Iterable[str]], things: Iterable[str]) -> None:
        phrases = {lower(phrase): phrase for phrase in things}
        phrases |= {lower(word): option for option, words in options.items() for word in (option, *words)}
        marks = {value: _mark(place) for place, value in enumerate(dict.fromkeys(phrases.values()))}
        self._values = {mark: value for value, mark in marks.items()}
        self._marks = {phrase: marks[value] for phrase, value in phrases.items()}
        self._phrase = any_of(self._marks)
        self.named = " ".join(self._values)

    def marked(self, text: str) -> str:
        """See WordReader.marked."""
        return self._phrase.sub(lambda found: self._marks[found[1]], lower(text))

    def values(self, text: str, wanted: bool) -> tuple[str, ...]:
        """See WordReader.values."""
        words = (word.strip(" .,;:!?") for word in text.split())
        return tuple(dict.fromkeys(self._values[word] for word in words if word in self._values))


def _mark(place: int) -> str:
    """A word that nobody says, another one for each place."""
    first, second = divmod(place, 26)
    return f"qz{chr(97 + first)}{chr(97 + second)}o"


@dataclass(frozen=True, kw_only=True)
class WrittenQuestion(Question):
    """A question that a person wrote, whose answers name options, or other things that are known.

    Attributes:
        words: finds what they name.
        members: what the rule is about, one by one, which it says nothing of alone.
        embedder: tells what they refuse.
    """

    words: WordReader
    embedder: Embedder
    members: tuple[str, ...] = ()

    def read(self, said: str, before: Understood | None = None, adds: bool = False) -> Understood:
        """See Question.read."""
        if _WHOLE_RULE.match(said) and (rule := read_rule(said)).typed:
            return Understood(said[:MOST_CHARACTERS], (rule,), rule.preferred, rule.avoided)
        if before is not None and swaps(said):
            others = tuple(option for option in self.options if option not in before.wanted)
            wanted = before.unwanted or (others if len(self.options) == 2 else ())
            return self._ruled("", wanted, before.wanted if before.unwanted or not wanted else (), ())
        plain, left_out = without_conditions(said)
        if self.members:
            left_out += tuple(dict.fromkeys(found.group() for found in any_of(self.members).finditer(lower(plain))))
        try:
            named = with_options(plain, self.options)
        except NoSuchOption as problem:
            raise NotUnderstood(str(problem)) from problem
        owned = without_missing(named)
        wanted, unwanted = self._named(named if owned is None else owned)
        all_the_same = is_indifferent(plain) and not unwanted and set(wanted) == set(self.options)
        if all_the_same or not (wanted or unwanted):
            return self._without_wish(named, owned is not None, left_out)
        if before is not None:
            wanted, unwanted = _merged(before, wanted, unwanted, adds)
        return self._ruled(named if before is None else "", wanted, unwanted, left_out)

    def _named(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What a text wants and what it refuses."""
        liked, refused = parts(self.embedder, self.words.marked(with_never(text)), self.words.named)
        wanted = self.words.values(liked, wanted=True)
        return wanted, tuple(value for value in self.words.values(refused, wanted=False) if value not in wanted)

    def _without_wish(self, said: str, missing: bool, left_out: Sequence[str]) -> Understood:
        """An answer that wants and refuses nothing: one does not mind, does not have it, or is not understood.

        Raises:
            NotUnderstood: none of these.
        """
        if missing and self.words.values(self.words.marked(said), wanted=True):
            raise NotUnderstood("Then say what you want instead.")
        if missing or is_indifferent(said):
            return Understood(said)
        if wants_none(said):
            raise NotUnderstood("Then say what you want instead, or don't care.")
        if left_out:
            raise NotUnderstood(f'I cannot keep "{left_out[0]}" alone: a rule holds always, and for all of them.')
        raise NotUnderstood("I did not understand that.")

    def _ruled(self, said: str, wanted: Sequence[str], unwanted: Sequence[str], left_out: Sequence[str]) -> Understood:
        if not wanted and not unwanted:
            raise NotUnderstood("Then nothing is left of it.")
        rule = typed_rule(self.name, wanted, unwanted)
        answer = said or ", then ".join(wanted) + (f"; not {', '.join(unwanted)}" if unwanted else "")
        return Understood(answer, (rule,), rule.preferred, rule.avoided, tuple(left_out))


def _merged(
    before: Understood, wanted: Sequence[str], unwanted: Sequence[str], adds: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is wanted and what is not, after a correction."""
    if wanted and not adds:
        kept = tuple(wanted)
    else:
        kept = (*before.wanted, *(value for value in wanted if value not in before.wanted))
        kept = tuple(value for value in kept if value not in unwanted)
    refused = dict.fromkeys((*before.unwanted, *unwanted))
    return kept, tuple(value for value in refused if value not in kept)


class WrittenInterview:
    """Puts written questions in order; see Interview."""

    def __init__(self, questions: Sequence[WrittenQuestion]) -> None:
        self._questions = tuple(questions)

    def next(self, dialogue: Sequence[Exchange], skipped: Collection[str], left: int) -> Question | None:
        """See Interview.next."""
        open_ = (question for question in self._open(dialogue) if question.text not in skipped)
        return next(open_, None) if left > 0 else None

    def count(self, dialogue: Sequence[Exchange]) -> int | None:
        """See Interview.count."""
        return len(self._open(dialogue))

    def _open(self, dialogue: Sequence[Exchange]) -> list[WrittenQuestion]:
        asked = {exchange.question for exchange in dialogue}
        return [each for each in self._questions if asked.isdisjoint((each.text, *each.earlier))]


def kitchen_interview(embedder: Embedder, path: Path = QUESTIONS) -> WrittenInterview:
    """Ten questions about the kitchen."""
    return WrittenInterview(
        [
            WrittenQuestion(
                text=choice.question,
                name=name,
                options=tuple(choice.options),
                example=_example(tuple(choice.options)),
                words=Vocabulary(choice.options, choice.things),
                embedder=embedder,
            )
            for name, choice in read_yaml(path, QuestionFile).kitchen.items()
        ]
    )


def house_interview(embedder: Embedder, path: Path = QUESTIONS) -> WrittenInterview:
    """A question for each group of things in houses, those first of which least is known."""
    texts = read_yaml(path, QuestionFile).house
    questions = []
    for group in groups():
        words = EverydayPlaces(group.options)
        options = tuple(map(words.phrase, group.options))
        questions.append(
            WrittenQuestion(
                text=texts.get(group.name, f"Where do {group.name} belong?"),
                name=group.name,
                options=options,
                earlier=(group.question,),
                example=_example(options),
                words=words,
                embedder=embedder,
                members=group.things,
            )
        )
    return WrittenInterview(questions)


def _example(options: Sequence[str]) -> str:
    return f"{options[0]}, never {options[-1]}" if len(options) > 2 else options[-1]


@dataclass(frozen=True, kw_only=True)
class ModelQuestion(Question):
    """A question that a language model asks; it also writes the rules.

    Attributes:
        model: that asks.
        examples: that it looks at.
    """

    model: Interviewer
    examples: tuple[Situation, ...]

    def read(self, said: str, before: Understood | None = None, adds: bool = False) -> Understood:
        """See Question.read; one call of the model."""
        answer = f"{before.answer}; {said}" if before is not None and adds else said
        rules = self.model.synthesize(self.examples, [Exchange(self.text, answer)])
        if not rules and not (is_indifferent(said) or without_missing(said) is not None):
            raise NotUnderstood("The model makes no rule of that.")
        return Understood(answer, rules)


class ModelInterview:
    """Puts the questions of a language model; see Interview."""

    def __init__(self, model: Interviewer, examples: Sequence[Situation]) -> None:
        self._model, self._examples = model, tuple(examples)

    def next(self, dialogue: Sequence[Exchange], skipped: Collection[str], left: int) -> Question | None:
        """See Interview.next; one call of the model."""
        said = [*dialogue, *(Exchange(question, "") for question in skipped)]
        inquiry = self._model.inquire(self._examples, said, left)
        if inquiry.question is None:
            return None
        return ModelQuestion(text=inquiry.question, model=self._model, examples=self._examples)

    def count(self, dialogue: Sequence[Exchange]) -> int | None:
        """See Interview.count."""
        return None
