"""What every world offers an agent: a beginning, steps, and scores in the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from housewise.core.record import Event

O = TypeVar("O")  # noqa: E741 - observations, as the field writes them
A_contra = TypeVar("A_contra", contravariant=True)


@dataclass(frozen=True)
class Step(Generic[O]):
    """What came of an action.

    Attributes:
        observation: what the agent knows now.
        events: what is recorded of it.
        cost: how many of the world's own steps it took.
        blocked: it did not work, and what was decided together with it builds on it.
        over: the world ends the episode.
    """

    observation: O
    events: tuple[Event, ...] = ()
    cost: int = 1
    blocked: bool = False
    over: bool = False


class World(Protocol[O, A_contra]):
    """Where an episode takes place; observations and actions are each world's own."""

    def reset(self) -> O:
        """Begin the episode; what the agent knows then."""
        ...

    def step(self, action: A_contra) -> Step[O]:
        """Carry out an action."""
        ...

    def scores(self) -> Mapping[str, float]:
        """Figures of the episode so far, by the names that its system declares."""
        ...

    def final(self) -> Mapping[str, Any]:
        """How things are now, for the record's last line: JSON values."""
        ...
