"""What happens while a breakfast is made, as records tell it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from housewise.core.record import Count, Event, Frozen, Words
from housewise.people.kitchen.preference_judge import PreferenceVerdict


class AdaptInitialState(Frozen):
    """What an episode begins with.

    Attributes:
        task: in words.
        number: of the task.
        person, about: for whom.
        things: all objects that are there.
        told: answers of other days that are remembered.
    """

    task: str
    number: Count
    person: str
    about: Words = ""
    things: list[str]
    told: Count = 0


class CookingActionEvent(Event):
    """The robot does something; a question is an action as well.

    Attributes:
        said: in its words.
        observation: what came of it; empty for a question.
        failed: whether it was impossible.
        made: what has been made so far, where that is something else than before.
    """

    type: ClassVar[str] = "action"
    said: Words
    observation: Words = ""
    failed: bool = False
    made: Words = ""


class ThoughtEvent(Event):
    """What a model thought before its next action."""

    type: ClassVar[str] = "thought"
    text: Words


class KitchenAnswerEvent(Event):
    """What the person said. Records with answers are kept even where the episode was cut off.

    Attributes:
        recalled: whether they said it on another day, and were not asked again.
    """

    type: ClassVar[str] = "answer"
    question: Words
    text: Words
    recalled: bool = False


class VerdictLine(Frozen):
    """What became of one wish.

    Attributes:
        step: after how many actions it was so and stayed so.
        why: the condition that decided, or what was missing.
    """

    id: str
    text: Words
    category: str
    decision: Literal["satisfied", "violated", "inapplicable"]
    step: Count
    why: Words

    @classmethod
    def from_verdict(cls, verdict: PreferenceVerdict) -> VerdictLine:
        """A verdict with its step."""
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
    """How an episode ended: the wishes, and what there is to eat."""

    verdicts: list[VerdictLine]
    made: Words = ""


EVENTS: Sequence[type[Event]] = (CookingActionEvent, ThoughtEvent, KitchenAnswerEvent)
