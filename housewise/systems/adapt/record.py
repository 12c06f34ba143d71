"""Events and states in records of ADAPT episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from housewise.core.record import Count, Event, Frozen, Words
from housewise.people.kitchen.preference_judge import PreferenceVerdict


class AdaptInitialState(Frozen):
    """The initial state of an episode.

    Attributes:
        task: The task in words.
        number: Number of the task.
        person: Name of the person.
        about: Description of the person.
        things: Ids of all objects.
        remembered_answers: Number of remembered answers.
    """

    task: str
    number: Count
    person: str
    about: Words = ""
    things: list[str]
    remembered_answers: Count = 0


class CookingActionEvent(Event):
    """An action of the robot. A question is an action, too.

    Attributes:
        text: The action in words.
        observation: Its result; empty for a question.
        failed: Whether it was impossible.
        prepared_food: What has been made so far, if that has changed.
    """

    type: ClassVar[str] = "action"
    text: Words
    observation: Words = ""
    failed: bool = False
    prepared_food: Words = ""


class ThoughtEvent(Event):
    """A model's thought before its next action."""

    type: ClassVar[str] = "thought"
    text: Words


class KitchenAnswerEvent(Event):
    """The person's answer. Records with answers are kept even if the episode is interrupted.

    Attributes:
        recalled: Whether the answer is from another day and the person was not asked again.
    """

    type: ClassVar[str] = "answer"
    question: Words
    text: Words
    recalled: bool = False


class VerdictLine(Frozen):
    """The verdict on one wish.

    Attributes:
        step: Number of actions after which the decision stayed the same.
        why: The deciding condition, or what was missing.
    """

    id: str
    text: Words
    category: str
    decision: Literal["satisfied", "violated", "inapplicable"]
    step: Count
    why: Words

    @classmethod
    def from_verdict(cls, verdict: PreferenceVerdict) -> VerdictLine:
        """Create the line of a verdict."""
        wish = verdict.preference
        return cls(
            id=wish.id,
            text=wish.text,
            category=wish.category,
            decision=verdict.decision,
            step=verdict.step or 0,
            why=verdict.why,
        )


class AdaptFinalState(Frozen):
    """The final state of an episode: verdicts on the wishes, and what has been made."""

    verdicts: list[VerdictLine]
    prepared_food: Words = ""


EVENTS: Sequence[type[Event]] = (CookingActionEvent, ThoughtEvent, KitchenAnswerEvent)
