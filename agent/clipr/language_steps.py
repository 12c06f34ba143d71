"""Interface of all steps of CLIPR and its baselines that need language, and the data they exchange.

:mod:`housewise.agent.clipr.chat_steps` implements the steps by prompts to a chat model, as the paper does.
:mod:`housewise.agent.clipr.local_steps` implements them without a language model. Result tables name the
implementation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from housewise.agent.base import total_usage
from housewise.agent.clipr.rules import Rule, parse_rule
from housewise.core.record import Usage
from housewise.language.base import Reply
from housewise.worlds.choices.scenario import Situation


@dataclass
class MethodUsage:
    """Counts what a method has used so far.

    Attributes:
        calls: Calls of the language model. Local components count each step that would be a call.
        tokens: Tokens of the language model since this was last set, and why its replies ended. Zero without one.
        unreadable: Reply blocks that could not be parsed at the second attempt either. They count as wrong.
    """

    calls: int = 0
    tokens: Usage = field(default_factory=Usage)
    unreadable: int = 0

    def add(self, replies: Sequence[Reply]) -> None:
        """Add replies of the language model, one call each."""
        self.calls += len(replies)
        self.tokens = self.tokens.plus(total_usage(replies))


@dataclass(frozen=True)
class DialogueTurn:
    """A question and the person's answer. An empty answer means that the person said nothing."""

    question: str
    answer: str


@dataclass(frozen=True)
class Dimension:
    """An attribute in which the actions of the examples differ and that the dialogue has not settled.

    Attributes:
        name: Name of the attribute.
        values: Its values in the examples.
    """

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Inquiry:
    """One turn of elicitation: the unresolved dimensions and the next question, or None if enough is known."""

    unresolved: tuple[Dimension, ...]
    question: str | None


@dataclass(frozen=True)
class LabelledExample:
    """A situation and the index of its correct action."""

    situation: Situation
    action: int


@dataclass(frozen=True)
class Guidance:
    """Information for a choice besides the request. A method leaves empty what it does not use.

    Attributes:
        rules: Rules of the person.
        examples: Situations without their correct actions.
        answers: Situations with their correct actions.
        transcript: Dialogue with the person, used in place of rules.
        notes: Sentences, such as an aggregated preference or rationales.
    """

    rules: tuple[Rule, ...] = ()
    examples: tuple[Situation, ...] = ()
    answers: tuple[LabelledExample, ...] = ()
    transcript: tuple[DialogueTurn, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def all_rules(self) -> list[Rule]:
        """The rules, and the lines of the notes as further rules."""
        lines = [line for note in self.notes for line in note.splitlines() if line.strip()]
        return [*self.rules, *map(parse_rule, lines)]


@dataclass(frozen=True)
class ActionChoice:
    """The choice in one situation.

    Attributes:
        action: Index of the action in the order shown, from 0. None if the reply could not be parsed.
        reasoning: Reason that was given.
        confidence: Confidence from 1 to 10, or None.
    """

    action: int | None
    reasoning: str = ""
    confidence: int | None = None


@dataclass(frozen=True)
class JudgedChoice:
    """A choice and whether it was right. This is all that the critic sees: the correct action is not included."""

    situation: Situation
    action: int | None
    right: bool
    reasoning: str = ""


class Interviewer(Protocol):
    """The language steps of Algorithm 1. Each method is one call.

    Attributes:
        name: Name of the model or of the components.
        usage: Counts that the steps update themselves.
    """

    name: str
    usage: MethodUsage

    def inquire(self, examples: Sequence[Situation], dialogue: Sequence[DialogueTurn], left: int) -> Inquiry:
        """Return the unresolved dimensions and the next question.

        Combines AnalyzeExamples, IsSufficient and GenerateQuestionForUser of Algorithm 1.

        Args:
            examples: Situations without their correct actions.
            dialogue: Questions and answers so far.
            left: Number of questions that may still be asked.
        """

    def synthesize(self, examples: Sequence[Situation], dialogue: Sequence[DialogueTurn]) -> tuple[Rule, ...]:
        """Write rules from the dialogue and the examples."""


class LanguageSteps(Interviewer, Protocol):
    """All language steps of CLIPR and its baselines. Each method is one call unless its docstring says otherwise."""

    def choose(self, situations: Sequence[Situation], guidance: Guidance) -> list[ActionChoice]:
        """Choose one action in each situation, with a single call for all of them."""

    def investigate(self, correct: int, total: int) -> bool:
        """Return whether to look into the failures, given only the batch's accuracy (Algorithm 2, line 11)."""

    def feedback_question(self, rules: Sequence[Rule], decisions: Sequence[JudgedChoice]) -> str | None:
        """Return one question to the person about the failures, or None if none is needed (Algorithm 2, line 12)."""

    def should_update(self, rules: Sequence[Rule], exchange: DialogueTurn) -> bool:
        """Return whether the answer is a reason to change the rules (Algorithm 2, line 14)."""

    def update(
        self, rules: Sequence[Rule], exchange: DialogueTurn, decisions: Sequence[JudgedChoice]
    ) -> tuple[Rule, ...]:
        """Return the complete revised list of rules, including unchanged ones."""

    def open_question(self, dialogue: Sequence[DialogueTurn], left: int) -> str | None:
        """Return GATE's next open question, breadth before depth, or None to stop."""

    def summarize(self, answers: Sequence[LabelledExample]) -> tuple[Rule, ...]:
        """Summarize labelled examples into general rules (TidyBot)."""

    def aggregate(self, preferences: Sequence[str]) -> str:
        """Combine induced preferences into two or three sentences (CIPHER)."""

    def induce(self, situation: Situation, chosen: int | None, right: int) -> str:
        """Describe in one sentence the preference that explains why ``right`` is better than ``chosen`` (CIPHER)."""

    def rationalize(self, example: LabelledExample) -> str:
        """Explain why the correct action of an example is right (Introspective Planning). Takes two calls."""
