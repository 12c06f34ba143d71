"""Events and states in records of BASIS sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from housewise.core.record import Count, Event, Frozen, Usage, Words


class BasisInitialState(Frozen):
    """The initial state of a session.

    Attributes:
        variant: Name of the variant.
        seed: Seed of the scenario.
        split: Whether the scenario is for training or for tests.
        mission: The goal as the person reads it.
        subgoals: Names of the subgoals, in order.
    """

    variant: str
    seed: Count
    split: str
    mission: Words
    subgoals: list[str]


class LabActionEvent(Event):
    """An action of the person, speech included.

    Attributes:
        attempt: Number of the attempt, from 1.
        number: Number of the action in its attempt, from 1.
        thought: Why, as the person thinks.
        verb: What was done.
        argument: Id of a thing, name of a room, an amount, or the spoken text.
        status: Status of the outcome.
        message: Result or reason of failure.
        is_parsed: Whether a model's reply could be read.
        room: Room of the person after the action.
        subgoals: Names of subgoals that were reached by it.
        usage: Tokens of the model that plays the person; None without one.
    """

    type: ClassVar[str] = "lab_action"
    attempt: Count = 1
    number: Count = 0
    thought: Words = ""
    verb: str
    argument: Words = ""
    status: str
    message: Words = ""
    is_parsed: bool = True
    room: str = ""
    subgoals: tuple[str, ...] = ()
    usage: Usage | None = None


class GuidanceEvent(Event):
    """A turn of the assistant.

    Attributes:
        thought: Why.
        speech: What it said; empty if it was silent.
        is_parsed: Whether a model's reply could be read.
        usage: Tokens of the model; None without one.
        oracle_speech: What the scripted oracle would have said; empty if it would have been silent, None if the
            assistant is the oracle.
    """

    type: ClassVar[str] = "guidance"
    thought: Words = ""
    speech: Words = ""
    is_parsed: bool = True
    usage: Usage | None = None
    oracle_speech: Words | None = None


class BasisFinalState(Frozen):
    """The final state of a session: whether each attempt succeeded, and the subgoals that it reached."""

    attempts: list[list[str]]
    successes: list[bool]


EVENTS: Sequence[type[Event]] = (LabActionEvent, GuidanceEvent)
