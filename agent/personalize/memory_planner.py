"""The memory planner: places objects by recalled preferences, by similar kinds, or at random, without a model."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from housewise.agent.personalize.judgement_text import objects_to_judge
from housewise.agent.personalize.placement_candidates import LikelyPlaces
from housewise.agent.personalize.planner import (
    Attempt,
    Plan,
    count_failures,
    listed_receptacles,
    placed_objects,
    untried_places,
)
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.scripted_planner import ScriptedPlanner, WantsFunction
from housewise.worlds.house.scene_graph import SceneGraph


@dataclass(frozen=True)
class PlacementGuesser:
    """Guesses where objects belong that have no known correct receptacle in this house.

    An object is not guessed about if it stands correctly or a known correct receptacle may have room. The other objects
    go where they are likely to belong. If no receptacle is likely, an object goes to a random one if there is a random
    seed; otherwise a held object is put back. Receptacles that are known to be wrong, or where placing the object has
    failed, are never guessed. Each object is guessed about until it has been placed once.

    Attributes:
        knowledge: What is recalled about the person.
        likely: Generalises from what is known. None for no generalisation.
        random_seed: Seed of random placements, or None for no random placements.
    """

    knowledge: PreferenceKnowledge
    likely: LikelyPlaces | None = None
    random_seed: int | None = None

    def is_known_wanted(self, thing: str, place: str) -> bool:
        """Whether an object is known to be wanted on a receptacle."""
        return self.knowledge.wants(thing, place) is True

    def guess_places(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> dict[str, tuple[str, ...]]:
        """Return the receptacles on which each object may belong, for objects with a guess.

        Args:
            graph: Scene graph of the robot.
            attempts: Everything that was tried in this episode.
        """
        placed, failed = placed_objects(attempts), count_failures(attempts)
        unsettled = [thing for thing in objects_to_judge(graph) if thing not in placed]
        guesses = {thing: self._guess_places(graph, thing, failed) for thing in unsettled}
        return {thing: places for thing, places in guesses.items() if places}

    def _guess_places(self, graph: SceneGraph, thing: str, failed: dict[str, int]) -> tuple[str, ...]:
        places = untried_places(thing, listed_receptacles(graph), failed)
        if any(self.is_known_wanted(thing, place) for place in places):
            return ()
        held = thing == graph.holding
        here = None if held else graph.container_of(thing)
        if self.likely is not None and (likely := self.likely(graph, thing, self.knowledge, failed)):
            return () if likely == (here,) else likely
        possible = [place for place in places if place != here and self.knowledge.wants(thing, place) is not False]
        if self.random_seed is None or not possible:
            return (graph.origin,) if held and graph.origin in possible else ()
        rng = np.random.default_rng([self.random_seed, zlib.crc32(thing.encode())])
        return (possible[rng.integers(len(possible))],)


class MemoryPlanner:
    """Places objects by known preferences first, then by guesses.

    Args:
        name: Name in records.
        guesser: Knows and guesses placements.
        scripted: Makes the planner that executes placements, given a WantsFunction and whether it is thorough.
    """

    def __init__(
        self, name: str, guesser: PlacementGuesser, scripted: Callable[[WantsFunction, bool], ScriptedPlanner]
    ) -> None:
        self.name = name
        self._guesser = guesser
        self._guessed_places: dict[str, tuple[str, ...]] = {}
        self._known_planner, self._guess_planner = scripted(guesser.is_known_wanted, False), scripted(self._wants, True)

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        if graph.holding is None:
            plan = self._known_planner.plan(graph, attempts)
            if not plan.complete:
                return plan
        self._guessed_places = self._guesser.guess_places(graph, attempts)
        return self._guess_planner.plan(graph, attempts)

    def _wants(self, thing: str, place: str) -> bool:
        return self._guesser.is_known_wanted(thing, place) or place in self._guessed_places.get(thing, ())
