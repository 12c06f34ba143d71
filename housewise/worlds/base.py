"""The interface of all worlds: reset, step, scores and the final state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from housewise.core.record import Event, Usage

O = TypeVar("O")  # noqa: E741 - the usual symbol of observations
A_contra = TypeVar("A_contra", contravariant=True)

OUT_OF_STEPS = "out of steps"
"""Why a world ends an episode, if it gives no other reason."""


@dataclass(frozen=True)
class Step(Generic[O]):
    """The result of an action.

    Attributes:
        observation: Observation after the action.
        events: Events to record.
        cost: Number of the world's own steps that the action took.
        blocked: Whether the action failed, so that the remaining actions of the same decision are dropped.
        over: Whether the world ends the episode.
        end_reason: Why it ends it. Defaults to its steps having run out.
        usage: Tokens and times of models that are part of the world, such as a model that plays a person.
    """

    observation: O
    events: tuple[Event, ...] = ()
    cost: int = 1
    blocked: bool = False
    over: bool = False
    end_reason: str = OUT_OF_STEPS
    usage: Usage = field(default_factory=Usage)


class World(Protocol[O, A_contra]):
    """The place in which an episode is played. Each world defines its own types of observations and actions.

    A class need not inherit from it; one that does gets the defaults.
    """

    def reset(self) -> O:
        """Start the episode and return the first observation."""
        ...

    def step(self, action: A_contra) -> Step[O]:
        """Carry out an action."""
        ...

    def scores(self) -> Mapping[str, float]:
        """Return the scores of the episode so far, by the names that its system declares. Defaults to none.

        They are finite numbers. ``plans``, ``complete``, tokens and seconds are measured of every episode; ``steps``
        are too, unless they are among the scores.
        """
        return {}

    def final(self) -> Mapping[str, Any]:
        """Return the current state as JSON values, for the last line of the record. Defaults to nothing."""
        return {}
