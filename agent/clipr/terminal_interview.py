"""An interview with a person at a terminal: prepared questions, and parsing of each answer into a rule.

The person sees the rule before it is stored, in place of the synthesis (housewise.cli.rule_conversation). Algorithm 1
asks the questions of a language model (housewise.agent.clipr.elicitation).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Protocol

from pydantic import Field

from housewise.agent.clipr.actions import AskPerson
from housewise.agent.clipr.answer_phrases import (
    NoSuchOption,
    is_indifferent,
    is_rejection,
    is_reversal,
    normalize_line,
    normalize_negation,
    phrase_pattern,
    remove_absent_things,
    replace_option_numbers,
    split_conditions,
)
from housewise.agent.clipr.elicitation import elicit
from housewise.agent.clipr.language_steps import DialogueTurn, Interviewer
from housewise.agent.clipr.local_steps.answer_meaning import split_wanted_refused
from housewise.agent.clipr.rules import MAX_RULE_CHARACTERS, Rule, make_rule, parse_rule
from housewise.core.configs import CONFIGS
from housewise.core.validation import StrictModel, read_model
from housewise.language.embedder import Embedder
from housewise.worlds.choices.scenario import Situation

QUESTIONS = CONFIGS / "clipr" / "interview.yaml"

_Words = Annotated[str, Field(min_length=1, max_length=200)]
_WHOLE_RULE = re.compile(r"for [^:]+: *(?:prefer|avoid)\b", re.IGNORECASE)


class KitchenQuestion(StrictModel):
    """A question about the kitchen in the question file; see interview.yaml."""

    question: _Words
    options: Annotated[dict[_Words, tuple[_Words, ...]], Field(min_length=2, max_length=9)]
    things: tuple[_Words, ...] = ()


class QuestionFile(StrictModel):
    """The file of prepared questions."""

    kitchen: dict[_Words, KitchenQuestion]
    house: dict[_Words, _Words]


@dataclass(frozen=True)
class ParsedAnswer:
    """The meaning of an answer.

    Attributes:
        answer: The answer in words, as it is stored.
        rules: Rules that follow from it; empty if the person has no wish.
        wanted: What the rule prefers, best first.
        unwanted: What the rule avoids.
        left_out: Clauses of the answer that no rule can express.
        parts: Meaning of what is said about each part of the question, by the part's name.
    """

    answer: str
    rules: tuple[Rule, ...] = ()
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    parts: Mapping[str, ParsedAnswer] = field(default_factory=dict)


class AnswerNotUnderstood(Exception):
    """An answer could not be parsed. The message says what would be understood.

    Args:
        message: The message.
        keeps_before: Whether the answer that it corrects still holds, also where the person said no to it.
    """

    def __init__(self, message: str, keeps_before: bool = False) -> None:
        super().__init__(message)
        self.keeps_before = keeps_before


def parse_whole_rule(said: str) -> ParsedAnswer | None:
    """Return the meaning of an answer that is a rule, as in "For a drink: prefer kombucha."; None for others."""
    if not _WHOLE_RULE.match(said) or not (rule := parse_rule(said)).typed:
        return None
    return ParsedAnswer(said[:MAX_RULE_CHARACTERS], (rule,), rule.preferred, rule.avoided)


@dataclass(frozen=True, kw_only=True)
class InterviewQuestion(ABC):
    """A question and the parser of its answers.

    Attributes:
        text: Wording of the question.
        name: What the question is about; "" if unknown.
        options: Answers that can be chosen by number.
        earlier: Former wordings of the same question.
        example: Example of an answer that is understood.
    """

    text: str
    name: str = ""
    options: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    example: str = "I like it cold, never hot"

    @property
    def example_rule(self) -> str:
        """A rule that the person could write in place of an answer."""
        return make_rule(self.name, self.options[:1], ()).text if self.options else "For tea: prefer green."

    @abstractmethod
    def parse_answer(self, said: str, before: ParsedAnswer | None = None, adds: bool = False) -> ParsedAnswer:
        """Parse an answer.

        Args:
            said: The answer in the person's words.
            before: Earlier interpretation of the answer that this one corrects, or None.
            adds: Whether the answer adds to ``before`` instead of replacing it.

        Raises:
            AnswerNotUnderstood: The answer could not be parsed.
        """


class Interview(ABC):
    """Provides the questions of an interview in order."""

    @abstractmethod
    def next_question(
        self, dialogue: Sequence[DialogueTurn], skipped: Collection[str], left: int
    ) -> InterviewQuestion | None:
        """Return the next question, or None if there is none.

        Args:
            dialogue: Questions and answers so far.
            skipped: Texts of questions that were skipped and must not be asked again.
            left: Number of questions that may still be asked.
        """

    def count_open_questions(self, dialogue: Sequence[DialogueTurn]) -> int | None:
        """Return the number of unanswered questions, or None if it is unknown."""
        return None

    def find_question(self, asked: str) -> InterviewQuestion | None:
        """Return the question that was asked in some words, to ask it again; None if it comes in its own time."""
        return None


class WordReader(Protocol):
    """Finds the options or places that an answer names."""

    @property
    def topic_words(self) -> str:
        """Words that name options; they are ignored when deciding whether a clause wants or refuses something."""

    def mark_phrases(self, text: str) -> str:
        """Return the text with known phrases replaced by the words that ``find_values`` reads."""

    def find_values(self, text: str, wanted: bool) -> tuple[str, ...]:
        """Return what a marked text names, in order.

        Args:
            text: Marked text.
            wanted: Whether the text is about wanted or about refused things.
        """

    def covers(self, refused: str, value: str) -> bool:
        """Return whether a value is refused by what was refused."""


class OptionVocabulary:
    """Options with their synonyms, and things that are stored as they are said; see WordReader.

    In a marked text each of them is an invented word, so that words inside a name, as in "no sugar", do not decide
    whether it is wanted.
    """

    def __init__(self, options: Mapping[str, Iterable[str]], things: Iterable[str]) -> None:
        phrases = {normalize_line(phrase): phrase for phrase in things}
        phrases |= {normalize_line(word): option for option, words in options.items() for word in (option, *words)}
        marks = {value: _make_marker(place) for place, value in enumerate(dict.fromkeys(phrases.values()))}
        self._values = {mark: value for value, mark in marks.items()}
        self._marks = {phrase: marks[value] for phrase, value in phrases.items()}
        self._phrase = phrase_pattern(self._marks)
        self.topic_words = " ".join(self._values)

    def mark_phrases(self, text: str) -> str:
        """See WordReader.mark_phrases."""
        return self._phrase.sub(lambda found: self._marks[found[1]], normalize_line(text))

    def find_values(self, text: str, wanted: bool) -> tuple[str, ...]:
        """See WordReader.find_values."""
        words = (word.strip(" .,;:!?") for word in text.split())
        return tuple(dict.fromkeys(self._values[word] for word in words if word in self._values))

    @staticmethod
    def covers(refused: str, value: str) -> bool:
        """See WordReader.covers."""
        return refused == value


def _make_marker(place: int) -> str:
    """Return an invented word that is unique for the index ``place``."""
    first, second = divmod(place, 26)
    return f"qz{chr(97 + first)}{chr(97 + second)}o"


@dataclass(frozen=True, kw_only=True)
class WrittenQuestion(InterviewQuestion):
    """A prepared question whose answers name options or other known things.

    Attributes:
        words: Finds what an answer names.
        embedder: Sentence embeddings that tell what an answer refuses.
    """

    words: WordReader
    embedder: Embedder

    def parse_answer(self, said: str, before: ParsedAnswer | None = None, adds: bool = False) -> ParsedAnswer:
        """See InterviewQuestion.parse_answer."""
        if whole := parse_whole_rule(said):
            return whole
        if before is not None and is_reversal(said):
            others = tuple(option for option in self.options if option not in before.wanted)
            wanted = before.unwanted or (others if len(self.options) == 2 else ())
            return self._make_answer("", wanted, before.wanted if before.unwanted or not wanted else (), ())
        plain, left_out = split_conditions(said)
        try:
            named = replace_option_numbers(plain, self.options)
        except NoSuchOption as problem:
            raise AnswerNotUnderstood(str(problem)) from problem
        owned = remove_absent_things(named)
        wanted, unwanted = self._find_wanted_and_unwanted(named if owned is None else owned)
        all_the_same = is_indifferent(plain) and not unwanted and set(wanted) == set(self.options)
        if all_the_same or not (wanted or unwanted):
            return self._parse_no_wish(named, owned is not None, left_out)
        if before is not None:
            wanted, unwanted = self._merge_correction(before, wanted, unwanted, adds)
        return self._make_answer(named if before is None else "", wanted, unwanted, left_out)

    def _find_wanted_and_unwanted(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what a text wants and what it refuses."""
        liked, refused = split_wanted_refused(
            self.embedder, self.words.mark_phrases(normalize_negation(text)), self.words.topic_words
        )
        wanted = self.words.find_values(liked, wanted=True)
        return wanted, tuple(value for value in self.words.find_values(refused, wanted=False) if value not in wanted)

    def _parse_no_wish(self, said: str, missing: bool, left_out: Sequence[str]) -> ParsedAnswer:
        """Parse an answer that wants and refuses nothing: the person is indifferent or does not have the thing.

        Raises:
            AnswerNotUnderstood: Neither is the case.
        """
        if missing and self.words.find_values(self.words.mark_phrases(said), wanted=True):
            raise AnswerNotUnderstood("Say what you want instead.")
        if missing or is_indifferent(said):
            return ParsedAnswer(said)
        if is_rejection(said):
            raise AnswerNotUnderstood("Say what you want instead, or that you don't care.")
        if left_out:
            raise AnswerNotUnderstood(f'I cannot keep "{left_out[0]}" alone: a rule holds always, and for all of them.')
        raise AnswerNotUnderstood("I did not understand that.")

    def _merge_correction(
        self, before: ParsedAnswer, wanted: Sequence[str], unwanted: Sequence[str], adds: bool
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what is wanted and what is unwanted after a correction."""
        if wanted and not adds:
            kept = tuple(wanted)
        else:
            kept = (*before.wanted, *(value for value in wanted if value not in before.wanted))
            kept = tuple(value for value in kept if not any(self.words.covers(each, value) for each in unwanted))
        refused = dict.fromkeys((*before.unwanted, *unwanted))
        return kept, tuple(value for value in refused if value not in kept)

    def _make_answer(
        self, said: str, wanted: Sequence[str], unwanted: Sequence[str], left_out: Sequence[str]
    ) -> ParsedAnswer:
        if not wanted and not unwanted:
            raise AnswerNotUnderstood("Nothing would be left of the rule.")
        rule = make_rule(self.name, wanted, unwanted)
        answer = said or ", then ".join(wanted) + (f"; not {', '.join(unwanted)}" if unwanted else "")
        return ParsedAnswer(answer, (rule,), rule.preferred, rule.avoided, tuple(left_out))


class WrittenInterview(Interview):
    """Asks prepared questions in order."""

    def __init__(self, questions: Sequence[WrittenQuestion]) -> None:
        self._questions = tuple(questions)

    def next_question(
        self, dialogue: Sequence[DialogueTurn], skipped: Collection[str], left: int
    ) -> InterviewQuestion | None:
        """See Interview.next_question."""
        open_ = self._open_questions(dialogue, skipped) if left > 0 else []
        return open_[0] if open_ else None

    def count_open_questions(self, dialogue: Sequence[DialogueTurn]) -> int | None:
        """See Interview.count_open_questions."""
        return len(self._open_questions(dialogue))

    def _open_questions(self, dialogue: Sequence[DialogueTurn], skipped: Collection[str] = ()) -> list[WrittenQuestion]:
        asked = {*skipped, *(exchange.question for exchange in dialogue)}
        return [each for each in self._questions if each.text not in asked]


def kitchen_interview(embedder: Embedder) -> WrittenInterview:
    """Return the interview about the kitchen."""
    return WrittenInterview(
        [
            WrittenQuestion(
                text=choice.question,
                name=name,
                options=tuple(choice.options),
                example=example_answer(tuple(choice.options)),
                words=OptionVocabulary(choice.options, choice.things),
                embedder=embedder,
            )
            for name, choice in read_model(QUESTIONS, QuestionFile).kitchen.items()
        ]
    )


def example_answer(options: Sequence[str]) -> str:
    """Return an answer as an example, from the options of a question."""
    return f"{options[0]}, never {options[-1]}" if len(options) > 2 else options[-1]


@dataclass(frozen=True, kw_only=True)
class ModelQuestion(InterviewQuestion):
    """A question asked by a language model, which also writes the rules.

    Attributes:
        model: Performs the language steps.
        examples: Situations that the model reads.
    """

    model: Interviewer
    examples: tuple[Situation, ...]

    def parse_answer(self, said: str, before: ParsedAnswer | None = None, adds: bool = False) -> ParsedAnswer:
        """See InterviewQuestion.parse_answer. Takes one call of the model."""
        answer = f"{before.answer}; {said}" if before is not None and adds else said
        rules = self.model.synthesize(self.examples, [DialogueTurn(self.text, answer)])
        if not rules and not (is_indifferent(said) or remove_absent_things(said) is not None):
            raise AnswerNotUnderstood("The model could not write a rule from that.")
        return ParsedAnswer(answer, rules)


class ModelInterview(Interview):
    """Asks the questions of a language model."""

    def __init__(self, model: Interviewer, examples: Sequence[Situation]) -> None:
        self._model, self._examples = model, tuple(examples)

    def next_question(
        self, dialogue: Sequence[DialogueTurn], skipped: Collection[str], left: int
    ) -> InterviewQuestion | None:
        """Return the question that Algorithm 1 asks next, with one call of the model; see Interview.next_question."""
        passed = [*dialogue, *(DialogueTurn(question, "") for question in skipped)]
        asked = next(elicit(self._model, self._examples, len(passed) + left, passed), None)
        if not isinstance(asked, AskPerson):
            return None
        return ModelQuestion(text=asked.question.text, model=self._model, examples=self._examples)
