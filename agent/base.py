"""What every agent offers: a decision for what it knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from housewise.core.record import Event, Usage
from housewise.language.base import Reply
from housewise.worlds.base import Step

A = TypeVar("A", covariant=True)
O = TypeVar("O")  # noqa: E741 - observations, as the field writes them


@dataclass(frozen=True)
class Decision(Generic[A]):
    """What to do next.

    Attributes:
        actions: in order.
        events: what is recorded of how it was come to; they precede those of the actions.
        done: whether the agent takes the task as done after them.
        usage: what models read and wrote for it.
    """

    actions: Sequence[A]
    events: tuple[Event, ...] = ()
    done: bool = False
    usage: Usage = field(default_factory=Usage)


@dataclass
class History(Generic[O]):
    """What has happened in an episode so far.

    Attributes:
        decisions: how many have been made.
        steps: what came of each action, oldest first.
        cost: how many of the world's own steps they took.
    """

    decisions: int = 0
    steps: list[Step[O]] = field(default_factory=list)
    cost: int = 0


def total_usage(replies: Iterable[Reply]) -> Usage:
    """What models read and wrote for some replies, and how these ended."""
    replies = list(replies)
    return Usage(
        prompt_tokens=sum(reply.prompt_tokens for reply in replies),
        completion_tokens=sum(reply.completion_tokens for reply in replies),
        finish_reasons=dict(Counter(reply.finish_reason for reply in replies)),
    )


class Agent(Protocol[O, A]):
    """Decides.

    Attributes:
        name: what records call it.
    """

    name: str

    def decide(self, observation: O, history: History[O]) -> Decision[A]:
        """The next few actions.

        Args:
            observation: what the agent knows.
            past: what has happened so far.

        Raises:
            UserError: when a model or a person cannot be asked.
        """
        ...
