"""The Agent protocol: a decision from an observation and the history of the episode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Generic, Protocol, TypeVar

from housewise.core.migrations.code_names import find_former_name
from housewise.core.record import Event, Usage
from housewise.language.base import Reply
from housewise.worlds.base import Step

A = TypeVar("A", covariant=True)
O = TypeVar("O")  # noqa: E741 - O is the usual name for observations


@dataclass(frozen=True)
class Decision(Generic[A]):
    """The next actions of an agent.

    Attributes:
        actions: Actions in order.
        events: Events to record before those of the actions, such as prompts and replies.
        done: Whether the agent considers the task complete after the actions.
        usage: Tokens and times of the models.
    """

    actions: Sequence[A]
    events: tuple[Event, ...] = ()
    done: bool = False
    usage: Usage = field(default_factory=Usage)


@dataclass
class History(Generic[O]):
    """The episode so far.

    Attributes:
        decisions: Number of decisions.
        steps: Result of each action, oldest first.
        cost: Number of the world's own steps that the actions took.
    """

    decisions: int = 0
    steps: list[Step[O]] = field(default_factory=list)
    cost: int = 0


def total_usage(replies: Iterable[Reply]) -> Usage:
    """Sum the tokens of replies and count their finish reasons."""
    return reduce(Usage.plus, (reply.usage for reply in replies), Usage())


class Agent(Protocol[O, A]):
    """Chooses actions."""

    def decide(self, observation: O, history: History[O]) -> Decision[A]:
        """Choose the next actions.

        Args:
            observation: What the agent knows.
            history: The episode so far.

        Raises:
            UserError: If a model or a person cannot be asked.
        """


Decide = Callable[[O, History[O]], Decision[A]]
"""A function like ``Agent.decide``."""


def __getattr__(name: str) -> Any:
    return find_former_name(__name__, name)
