"""The steps of CLIPR and its baselines that need language, behind one interface.

A chat model does them by prompts (:mod:`agent.clipr.chat`), or components of ours without a language model
(:mod:`agent.clipr.local`). Tables say which; the two are not mixed in one row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from housewise.agent.clipr.rules import Rule
from housewise.language.base import Reply
from housewise.worlds.choices.scenario import Situation


@dataclass
class MethodUsage:
    """What a method has used so far.

    Attributes:
        calls: of the language model; with local components, steps that would be one.
        prompt_tokens: tokens read, 0 without a language model.
        completion_tokens: tokens written, 0 without a language model.
        questions: asked of the person.
        finish_reasons: why replies ended, see housewise.core.record.Usage.
        malformed: blocks of replies that could not be read at first.
        unreadable: those that could not be read when asked again either, and count as wrong.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    questions: int = 0
    finish_reasons: Counter[str] = field(default_factory=Counter)
    malformed: int = 0
    unreadable: int = 0

    def add(self, replies: Sequence[Reply]) -> None:
        """Count replies of the language model, a call each."""
        self.calls += len(replies)
        self.prompt_tokens += sum(reply.prompt_tokens for reply in replies)
        self.completion_tokens += sum(reply.completion_tokens for reply in replies)
        self.finish_reasons.update(reply.finish_reason for reply in replies)


@dataclass(frozen=True)
class DialogueTurn:
    """A question and what the person said."""

    question: str
    answer: str


@dataclass(frozen=True)
class Dimension:
    """An attribute in which actions of the examples differ and of which the dialogue does not say how it is wanted.

    Attributes:
        name: what differs.
        values: how.
        examples: ids of the examples in which it does.
    """

    name: str
    values: tuple[str, ...]
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Inquiry:
    """One turn of elicitation: what is unresolved, and the question to ask; None when enough is known."""

    unresolved: tuple[Dimension, ...]
    question: str | None


@dataclass(frozen=True)
class LabelledExample:
    """An example with its right action."""

    situation: Situation
    action: int


@dataclass(frozen=True)
class Guidance:
    """What a choice may rest on beside the request; what a method is not given stays empty.

    Attributes:
        rules: of the person.
        examples: situations without answers.
        answers: situations with answers.
        transcript: a dialogue in place of rules.
        notes: sentences, such as an aggregated preference or rationales.
    """

    rules: tuple[Rule, ...] = ()
    examples: tuple[Situation, ...] = ()
    answers: tuple[LabelledExample, ...] = ()
    transcript: tuple[DialogueTurn, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ActionChoice:
    """One reply to one situation; ``action`` counts from 0 in the order shown, None where the reply can't be read."""

    action: int | None
    reasoning: str = ""
    confidence: int | None = None


@dataclass(frozen=True)
class JudgedChoice:
    """A choice that turned out right or wrong, as the critic may see it."""

    situation: Situation
    action: int | None
    right: bool
    reasoning: str = ""


class Interviewer(Protocol):
    """Does the steps of algorithm 1; each is one call.

    Attributes:
        name: the model or the components.
        usage: counted by the steps themselves.
    """

    name: str
    usage: MethodUsage

    def inquire(self, examples: Sequence[Situation], dialogue: Sequence[DialogueTurn], left: int) -> Inquiry:
        """AnalyzeExamples, IsSufficient and GenerateQuestionForUser of algorithm 1, with ``left`` questions to go."""
        ...

    def synthesize(self, examples: Sequence[Situation], dialogue: Sequence[DialogueTurn]) -> tuple[Rule, ...]:
        """Rules from dialogue and examples."""
        ...


class LanguageSteps(Interviewer, Protocol):
    """Does all language steps; every method below is one call unless it says otherwise."""

    def choose(self, situations: Sequence[Situation], guidance: Guidance) -> list[ActionChoice]:
        """One choice for each situation, all of them in one call."""
        ...

    def investigate(self, correct: int, total: int) -> bool:
        """Algorithm 2, line 11: whether to look into the failures, from the batch's aggregate accuracy alone."""
        ...

    def feedback_question(self, rules: Sequence[Rule], decisions: Sequence[JudgedChoice]) -> str | None:
        """Algorithm 2, line 12: one question to the person, or None where none is needed."""
        ...

    def should_update(self, rules: Sequence[Rule], exchange: DialogueTurn) -> bool:
        """Algorithm 2, line 14."""
        ...

    def update(
        self, rules: Sequence[Rule], exchange: DialogueTurn, decisions: Sequence[JudgedChoice]
    ) -> tuple[Rule, ...]:
        """The complete new list, unchanged rules included."""
        ...

    def open_question(self, dialogue: Sequence[DialogueTurn], left: int) -> str | None:
        """GATE: an open question, breadth before depth."""
        ...

    def summarize(self, answers: Sequence[LabelledExample]) -> tuple[Rule, ...]:
        """TidyBot: general rules from examples with answers."""
        ...

    def aggregate(self, preferences: Sequence[str]) -> str:
        """CIPHER: several induced preferences in two or three sentences."""
        ...

    def induce(self, situation: Situation, chosen: int | None, right: int) -> str:
        """CIPHER: a preference of one sentence from what was chosen and what was right."""
        ...

    def rationalize(self, example: LabelledExample) -> str:
        """Introspective Planning: why the answer of an example is right, after the fact; two calls."""
        ...
