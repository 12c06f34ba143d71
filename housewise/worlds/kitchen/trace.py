"""The trace of an episode in the text kitchen: what was used, combined, prepared and served, and in which order.

A thing of the scene is the *source* of all that is poured from it or made of it. Judges of a breakfast read the
``Trace``. Source: ADAPT (arXiv 2504.04040), section 3, where usage, additions, order and final place of objects are
followed through every change.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from typing import NamedTuple

from housewise.worlds.kitchen.state import State

Sources = frozenset[str]
"""Ids of things of the scene."""


class Layer(NamedTuple):
    """An addition to a dish.

    Attributes:
        order: A number that grows with every addition. Things that are added together have the same number.
        sources: The things of the scene from which it comes.
    """

    order: int
    sources: Sources


@dataclass(frozen=True)
class DishSnapshot:
    """The contents of one dish after a step.

    Attributes:
        step: Number of the step, from 1.
        root: The container, or the food on which other food lies.
        in_container: Whether the root is a container.
        on_appliance: Whether the root is a cooking appliance, or is in or on one.
        layers: Its layers in the order of adding.
        foods: Ids of its food.
    """

    step: int
    root: str
    in_container: bool
    on_appliance: bool
    layers: tuple[Layer, ...]
    foods: tuple[str, ...] = ()

    @property
    def sources(self) -> Sources:
        """The sources of all layers."""
        return frozenset().union(*(layer.sources for layer in self.layers))


@dataclass(frozen=True)
class PreparedFood:
    """A food that the robot prepared.

    Attributes:
        step: Number of the step, from 1.
        id: Id of the food.
        verb: Verb of the action.
        sources: The things of the scene from which it comes.
        cooked: Whether the verb cooked it.
        parts: Ids of the food of which it was made.
    """

    step: int
    id: str
    verb: str
    sources: Sources
    cooked: bool
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Serving:
    """Food that came to a dining place."""

    step: int
    place: str
    sources: Sources


@dataclass
class Trace:
    """All that happened in one episode.

    Attributes:
        start: The scene at the start.
        states: The state after each executed step.
        actions: The texts of the executed actions.
        used: The step in which each thing of the scene was first used: moved, poured from, heated, made into something,
            or filled with food.
        cooked: The step in which each source was first cooked.
        made: All prepared food, in order.
        portions: The packet of each portion that was poured or taken from one, by the id of the portion.
        snapshots: Each dish after each step that changed it.
        servings: What came to which dining place, in order.
        sources: The sources of each portion and prepared food, including those that were used up.
    """

    start: State
    states: list[State] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    used: dict[str, int] = field(default_factory=dict)
    cooked: dict[str, int] = field(default_factory=dict)
    made: list[PreparedFood] = field(default_factory=list)
    portions: dict[str, str] = field(default_factory=dict)
    snapshots: list[DishSnapshot] = field(default_factory=list)
    servings: list[Serving] = field(default_factory=list)
    sources: dict[str, Sources] = field(default_factory=dict)

    @property
    def step(self) -> int:
        """Number of executed steps."""
        return len(self.actions)

    @property
    def state(self) -> State:
        """The current state."""
        return self.states[-1] if self.states else self.start

    @property
    def available(self) -> frozenset[str]:
        """Ids of all entities at the start."""
        return frozenset(self.start.entities)

    def sources_of(self, id: str) -> Sources:
        """Return the sources of an entity. A thing of the scene is its own source."""
        return self.sources.get(id) or frozenset({id})

    def prepared_foods(self) -> list[str]:
        """Return the food that the robot prepared, portioned or cooked and that still exists."""
        state = self.state
        cooked = [id for id in self.cooked if id in state and state[id].can("edible")]
        return cooked + [id for id in self.sources if id in state]

    def cut_at(self, step: int) -> Trace:
        """Return the trace as it was after a step, or at the start for 0."""
        made = [result for result in self.made if result.step <= step]
        there = set().union(self.start.entities, *(state.entities for state in self.states[:step]))
        return Trace(
            start=self.start,
            states=self.states[:step],
            actions=self.actions[:step],
            used={id: when for id, when in self.used.items() if when <= step},
            cooked={id: when for id, when in self.cooked.items() if when <= step},
            made=made,
            portions={id: packet for id, packet in self.portions.items() if id in there},
            snapshots=[dish for dish in self.snapshots if dish.step <= step],
            servings=[serving for serving in self.servings if serving.step <= step],
            sources={id: sources for id, sources in self.sources.items() if id in there},
        )

    def copy(self) -> Trace:
        """Return an independent copy."""
        return Trace(self.start, **{name: copy(value) for name, value in vars(self).items() if name != "start"})

    def record_use(self, ids: Iterable[str], step: int) -> None:
        """Record that the sources of some entities were used in a step."""
        for id in ids:
            for source in self.sources_of(id):
                self.used.setdefault(source, step)

    def record_cooking(self, ids: Iterable[str], step: int) -> None:
        """Record that the sources of some entities were cooked in a step."""
        for id in ids:
            for source in self.sources_of(id):
                self.cooked.setdefault(source, step)
