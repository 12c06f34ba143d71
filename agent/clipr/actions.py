"""What methods do, see and report: a method is a generator that yields actions and receives observations.

A method yields an action and is sent the observation that follows. It yields a report (``NewRules``, ``Review``) to say
what it has concluded; whoever drives the method records it and sends the last observation again.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from housewise.agent.clipr.language_steps import ActionChoice, DialogueTurn, Dimension
from housewise.agent.clipr.rules import Rule
from housewise.people.respondent import Question
from housewise.worlds.choices.scenario import Situation

T = TypeVar("T")
Origin = Literal["memory", "interview", "review", "examples", "contradiction"]
"""Where rules come from."""
ReviewOutcome = Literal[
    "gate closed", "not worth it", "no question", "left", "no update", "unchanged", "rejected", "accepted"
]


@dataclass(frozen=True)
class ScoredChoice:
    """A choice compared with the scenario's labels.

    Attributes:
        scenario: Id of the scenario.
        action: Index of the chosen candidate, or None if no reply could be parsed.
        right: Whether the chosen action is the preferred one.
        satisfies: Whether the chosen action does what the request says.
        reasoning: Reason that the model gave.
        confidence: Confidence that the model stated, from 1 to 10, or None.
    """

    scenario: str
    action: int | None
    right: bool
    satisfies: bool
    reasoning: str = ""
    confidence: int | None = None


def accuracy(decisions: Sequence[ScoredChoice]) -> float:
    """Return the share of preferred actions; 0 for no choices."""
    return sum(decision.right for decision in decisions) / len(decisions) if decisions else 0.0


@dataclass(frozen=True)
class CliprObservation:
    """What a method observes. The person's preferences are never included.

    Attributes:
        examples: Situations that the method may read beforehand.
        batch: Situations to choose in next; empty at the end.
        answer: Answer to the last question. None if nothing was asked or the person has left.
        decisions: Scores of the last choices or replayed choices, for methods that learn from them.
        correction: Index of the preferred action, after a correction was asked for.
    """

    examples: tuple[Situation, ...]
    batch: tuple[Situation, ...]
    answer: str | None = None
    decisions: tuple[ScoredChoice, ...] = ()
    correction: int | None = None


@dataclass(frozen=True)
class AskPerson:
    """Ask the person a question.

    Attributes:
        question: The question.
        during: Whether it is asked before the first choice or in a review of the rules.
        unresolved: The preference dimensions that are open.
    """

    question: Question
    during: Literal["interview", "review"] = "interview"
    unresolved: tuple[Dimension, ...] = ()


@dataclass(frozen=True)
class ChooseActions:
    """Choose in the observed batch.

    Attributes:
        choices: One choice per situation.
        calls: Number of calls of the language model that the choices took.
        version: Version of the rules.
        deciding: Number of the rule that decided each choice, from 1, or None if the reasoning does not say.
    """

    choices: tuple[ActionChoice, ...]
    calls: int = 0
    version: int = 0
    deciding: tuple[int | None, ...] = ()


@dataclass(frozen=True)
class ReplayChoices:
    """Choose again in past situations to evaluate other rules. These choices do not count in the scores.

    Attributes:
        places: Indices of the situations, from 0.
        choices: One choice per situation.
    """

    places: tuple[int, ...]
    choices: tuple[ActionChoice, ...]


@dataclass(frozen=True)
class AskCorrection:
    """Ask the person which action they had preferred. Counts as a question.

    Attributes:
        place: Index of the past situation, from 0.
    """

    place: int


@dataclass(frozen=True)
class NewRules:
    """A report: these rules are in force from now on."""

    rules: tuple[Rule, ...]
    origin: Origin


@dataclass(frozen=True)
class Review:
    """A report: the result of considering feedback once.

    Attributes:
        processed: Scenarios processed so far.
        accuracy: Accuracy of the last batch.
        outcome: Step at which the review ended.
        exchange: Question and answer, if a question was asked.
        proposed: Proposed rules; empty if there were none.
        before: Accuracy on the replayed scenarios with the current rules, or None without a replay.
        after: Accuracy on the replayed scenarios with the proposed rules, or None without a replay.
    """

    processed: int
    accuracy: float
    outcome: ReviewOutcome
    exchange: DialogueTurn | None = None
    proposed: tuple[Rule, ...] = ()
    before: float | None = None
    after: float | None = None


CliprAction = AskPerson | ChooseActions | ReplayChoices | AskCorrection
Report = NewRules | Review
Play = Generator[CliprAction | Report, CliprObservation, T]
"""A method, or a part of one that returns something."""
