"""Where a planner without a model puts things of which no right place is known: as similar things, or by chance."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from housewise.agent.personalize.placement_candidates import placements_of_similar_kinds
from housewise.agent.personalize.placement_judgement import objects_to_judge
from housewise.agent.personalize.planner import Attempt, Plan, count_failures, untried_places
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.scripted_planner import ScriptedPlanner, WantsFunction
from housewise.worlds.house.actions import ActionKind
from housewise.worlds.house.scene_graph import SceneGraph


@dataclass(frozen=True)
class PlacementGuesser:
    """Guesses where things belong of which no right place is known in this house.

    A thing that is known to be right where it is, or of which a right place is known that may have room, is not guessed
    about. The others belong where the kind nearest in meaning is known to be wanted, or the next one if that has no
    place left; but they stay where one of the nearest kinds is wanted. What the nearest kinds tell nothing of is put by
    chance, if that is asked for, or else, from the hand, back to where it was. Places that are known to be wrong for
    the thing itself, or where placing it has failed, are left out, and each thing is guessed about until it has been
    placed once.

    Attributes:
        knowledge: of the person.
        similar: whether similar kinds are asked.
        chance: seed of the draws where nothing tells; None leaves things where they are.
    """

    knowledge: PreferenceKnowledge
    similar: bool = False
    chance: int | None = None

    def knows(self, thing: str, place: str) -> bool:
        """Whether a thing is known to be wanted on a receptacle, both by name."""
        return self.knowledge.wants(thing, place) is True

    def guesses(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> dict[str, tuple[str, ...]]:
        """Receptacles on which each thing may belong that there is a guess for, by name.

        Args:
            graph: what the robot knows of the house.
            attempts: everything tried in this episode.
        """
        placed = {each.action.target for each in attempts if each.succeeded and each.action.kind == ActionKind.PLACE}
        unsettled = [thing for thing in objects_to_judge(graph) if thing not in placed]
        found = {thing: self._guess(graph, thing, count_failures(attempts)) for thing in unsettled}
        return {thing: places for thing, places in found.items() if places}

    def _guess(self, graph: SceneGraph, thing: str, failed: dict[str, int]) -> tuple[str, ...]:
        places = untried_places(thing, [place for inside in graph.tree.values() for place in inside], failed)
        if any(self.knows(thing, place) for place in places):
            return ()
        held = thing == graph.holding
        here = None if held else graph.place_of(thing)
        if self.similar and (likely := placements_of_similar_kinds(graph, thing, self.knowledge, failed)):
            return () if likely == (here,) else likely
        open_to = [place for place in places if place != here and self.knowledge.wants(thing, place) is not False]
        if self.chance is None or not open_to:
            return (graph.origin,) if held and graph.origin in open_to else ()
        rng = np.random.default_rng([self.chance, zlib.crc32(thing.encode())])
        return (open_to[rng.integers(len(open_to))],)


class MemoryPlanner:
    """Does what is known to be wanted; when nothing of that is left in the rooms of the house, what is guessed.

    Args:
        name: what records call it.
        guesser: knows and guesses.
        scripted: makes the planner that carries out what is wanted, given that and whether it is thorough.
    """

    def __init__(
        self, name: str, guesser: PlacementGuesser, scripted: Callable[[WantsFunction, bool], ScriptedPlanner]
    ) -> None:
        self.name = name
        self._guesser = guesser
        self._guesses: dict[str, tuple[str, ...]] = {}
        self._knowing, self._guessing = scripted(guesser.knows, False), scripted(self._wants, True)

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        if graph.holding is None:
            plan = self._knowing.plan(graph, attempts)
            if not plan.complete:
                return plan
        self._guesses = self._guesser.guesses(graph, attempts)
        return self._guessing.plan(graph, attempts)

    def _wants(self, thing: str, place: str) -> bool:
        return self._guesser.knows(thing, place) or place in self._guesses.get(thing, ())
