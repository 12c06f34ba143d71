"""What became of everything: what was used, what came together in which order, what was made, where it was served.

A thing of the scene is the *source* of all that is poured from it or made of it. Whoever judges a breakfast reads the
``Trace`` (ADAPT, arXiv 2504.04040, section 3: object usage, additions, order and final placement are followed through
every change).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from housewise.worlds.kitchen.state import State

Sources = frozenset[str]


class Layer(NamedTuple):
    """Something that was added to a dish.

    Attributes:
        order: a number that grows with every addition; what was added together has the same.
        sources: the things of the scene that it stems from.
    """

    order: int
    sources: Sources


@dataclass(frozen=True)
class DishSnapshot:
    """What one dish held after a step.

    Attributes:
        step: counted from 1.
        root: the container, or the food that other food lies on.
        in_container: whether the root is a container.
        on_appliance: whether it stood on or in a cooking appliance, or is one.
        layers: what it held, in the order of adding.
        foods: the ids of what it held.
    """

    step: int
    root: str
    in_container: bool
    on_appliance: bool
    layers: tuple[Layer, ...]
    foods: tuple[str, ...] = ()

    @property
    def sources(self) -> Sources:
        return frozenset().union(*(layer.sources for layer in self.layers))


@dataclass(frozen=True)
class PreparedFood:
    """A result: of what, by which verb, and whether that cooked it."""

    step: int
    id: str
    verb: str
    sources: Sources
    cooked: bool
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Serving:
    """Food came to a place where one dines."""

    step: int
    place: str
    sources: Sources


@dataclass
class Trace:
    """All that happened in one episode, step by step.

    Attributes:
        start: the scene at the start.
        states: the state after each executed step.
        actions: the executed actions in words.
        used: when each thing of the scene was used first: moved, poured from, heated, turned into something, or had
            food put into it.
        cooked: when each source was cooked first.
        made: the results of mixing, cooking, chopping and open verbs, in order.
        portions: what was poured or taken from a packet, by id, with its packet.
        shots: each dish after each step that changed it.
        servings: what came to which dining place, in order.
        sources: the things of the scene that each entity stems from, those that were used up included.
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
        """How many steps were executed."""
        return len(self.actions)

    @property
    def state(self) -> State:
        """How things stand now."""
        return self.states[-1] if self.states else self.start

    @property
    def available(self) -> frozenset[str]:
        """What was there at the start."""
        return frozenset(self.start.entities)

    def sources_of(self, id: str) -> Sources:
        """What an entity stems from; a thing of the scene stems from itself."""
        return self.sources.get(id) or frozenset({id})

    def prepared_foods(self) -> list[str]:
        """What the robot made, portioned or cooked and still exists."""
        state = self.state
        cooked = [id for id in self.cooked if id in state and state[id].can("edible")]
        return cooked + [id for id in self.sources if id in state]

    def cut_at(self, step: int) -> Trace:
        """The episode as it was after a step (0: at its start)."""
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
            snapshots=[shot for shot in self.snapshots if shot.step <= step],
            servings=[serving for serving in self.servings if serving.step <= step],
            sources={id: sources for id, sources in self.sources.items() if id in there},
        )

    def copy(self) -> Trace:
        """The same so far; what happens to the one does not happen to the other."""
        return Trace(
            self.start,
            list(self.states),
            list(self.actions),
            dict(self.used),
            dict(self.cooked),
            list(self.made),
            dict(self.portions),
            list(self.snapshots),
            list(self.servings),
            dict(self.sources),
        )

    def descendants(self, id: str) -> list[str]:
        """All that a thing of the scene turned into, in order, what was used up included."""
        return [other for other, sources in self.sources.items() if id in sources and other != id]

    def record_use(self, ids: Iterable[str], step: int) -> None:
        for id in ids:
            for source in self.sources_of(id):
                self.used.setdefault(source, step)

    def record_cooking(self, ids: Iterable[str], step: int) -> None:
        for id in ids:
            for source in self.sources_of(id):
                self.cooked.setdefault(source, step)
