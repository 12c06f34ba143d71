"""Placement candidates: where each object may belong, from recalled preferences and similar kinds of objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from housewise.agent.personalize.judgement_text import objects_to_judge
from housewise.agent.personalize.placement_kernel import KERNEL
from housewise.agent.personalize.planner import listed_receptacles, untried_places
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.worlds.house.scene_graph import SceneGraph

_MAX_SIMILAR_IN_PROMPT = 2
"""Similar kinds of objects that a prompt names."""
_MAX_SIMILAR = 5
"""Similar kinds of objects that decide where an object belongs."""


@dataclass(frozen=True)
class KnownPlacements:
    """What is known about the placement of one object.

    Attributes:
        wanted_here: Whether it is wanted on its present receptacle. None if unknown or if the robot holds it.
        wanted: Other receptacles on which it is wanted, those in its room first.
        similar_kinds: If no correct receptacle is known: similar kinds, each with a receptacle where it is wanted.
    """

    wanted_here: bool | None
    wanted: tuple[str, ...]
    similar_kinds: tuple[tuple[str, str], ...] = ()


def known_placements(graph: SceneGraph, thing: str, knowledge: PreferenceKnowledge) -> KnownPlacements:
    """Return what is known about an object's placement on the receptacles that the robot has seen."""
    here = None if thing == graph.holding else graph.container_of(thing)
    room = graph.container_of(here) if here else None
    wanted = [place for place in listed_receptacles(graph) if place != here and knowledge.wants(thing, place)]
    ordered = sorted(wanted, key=lambda place: graph.container_of(place) != room)
    wanted_here = knowledge.wants(thing, here) if here else None
    similar = (
        []
        if wanted_here or ordered
        else knowledge.similar_kinds(thing, listed_receptacles(graph), _MAX_SIMILAR_IN_PROMPT)
    )
    return KnownPlacements(wanted_here, tuple(ordered), tuple(similar))


class LikelyPlaces(Protocol):
    """Says where an object may belong although no note names a receptacle for it."""

    def __call__(
        self, graph: SceneGraph, thing: str, knowledge: PreferenceKnowledge, failed: Mapping[str, int], /
    ) -> tuple[str, ...]:
        """Return receptacles, the present one alone if the object stays there. Empty if nothing is known.

        Args:
            graph: Scene graph of the robot.
            thing: Name of an object without a known correct receptacle.
            knowledge: What is known about the person.
            failed: Failed placements; see count_failures.
        """


def placements_of_similar_kinds(
    graph: SceneGraph, thing: str, knowledge: PreferenceKnowledge, failed: Mapping[str, int]
) -> tuple[str, ...]:
    """Return receptacles where an object may belong because similar kinds are wanted there; see LikelyPlaces.

    The object belongs on its present receptacle, or the one it was taken from, if a similar kind is wanted there and
    the object is not known to be unwanted. Otherwise it belongs on the correct receptacles of the most similar kind
    that has any left.
    """
    places, here = listed_receptacles(graph), graph.origin if thing == graph.holding else graph.container_of(thing)
    kinds = [kind for kind, _ in knowledge.similar_kinds(thing, places, _MAX_SIMILAR)]
    open_to = [place for place in untried_places(thing, places, failed) if knowledge.wants(thing, place) is not False]
    if here in open_to and not knowledge.wants(thing, here) and any(knowledge.wants(kind, here) for kind in kinds):
        return (here,)
    open_to = [place for place in open_to if place != here]
    right = (tuple(place for place in open_to if knowledge.wants(kind, place)) for kind in kinds)
    return next(filter(None, right), ())


def placements_by_kernel(
    graph: SceneGraph, thing: str, knowledge: PreferenceKnowledge, failed: Mapping[str, int]
) -> tuple[str, ...]:
    """Return receptacles where an object may belong because notes of similar placements do; see LikelyPlaces.

    The object belongs on the receptacle with the highest value if it exceeds the value of its present one, or the one
    it was taken from, by the kernel's margin; otherwise on that one, if notes speak for it. An object that is known to
    be unwanted where it is goes there in any case. See PlacementKernel.
    """
    here = graph.origin if thing == graph.holding else graph.container_of(thing)
    places = untried_places(thing, listed_receptacles(graph), failed)
    others = [place for place in places if place != here and knowledge.wants(thing, place) is None]
    value_here, *values = knowledge.placement_values(thing, [here or "", *others])
    is_unwanted = here is not None and knowledge.wants(thing, here) is False
    best = max(values, default=-1.0)
    if is_unwanted or best >= value_here + KERNEL.margin:
        return tuple(place for place, value in zip(others, values, strict=True) if value == best)
    return (here,) if here in places and value_here > 0 else ()


@dataclass(frozen=True)
class PlacementCandidates:
    """The placements among which a judge chooses for one object.

    Attributes:
        here: Its present receptacle. None if the robot holds it.
        places: Receptacles where it may belong. The present one, or the one that a held object was taken from, is the
            first if the object may belong there. A decided object has exactly one.
        elsewhere: Whether it may belong on a receptacle that has not been seen.
        is_decided: Whether the placement is decided without the judge: by notes about its kind, or by similar kinds.
        is_unwanted: Whether it is known to be unwanted on its present receptacle.
        has_similar: Whether placements of similar kinds are known.
        origin: For a held object, the receptacle that it was taken from, if it may be put back there.
    """

    here: str | None
    places: tuple[str, ...]
    elsewhere: bool = True
    is_decided: bool = False
    is_unwanted: bool = False
    has_similar: bool = False
    origin: str | None = None

    @property
    def default_place(self) -> str | None:
        """The receptacle it is on or was taken from. None if it cannot be put back there."""
        return self.here if self.here is not None else self.origin


CandidatesByObject = Mapping[str, PlacementCandidates]


def find_candidates(
    graph: SceneGraph, knowledge: PreferenceKnowledge, failed: Mapping[str, int], use_similar: bool = False
) -> dict[str, PlacementCandidates]:
    """Return the placement candidates of every object to judge.

    An object that is known to be wanted on its present receptacle has only that candidate. An object with known correct
    receptacles has only the first of them. All other objects may belong on any receptacle not known to be wrong.

    Args:
        graph: Scene graph of the robot.
        knowledge: What is known about the person.
        failed: Failed placements, such as ``"mug 1 on shelf 2"``; see count_failures.
        use_similar: Whether similar kinds decide where nothing else is known; see placements_of_similar_kinds.

    Returns:
        Candidates by object, in the order of prompts.
    """
    return {thing: _candidates_of(graph, thing, knowledge, failed, use_similar) for thing in objects_to_judge(graph)}


def _candidates_of(
    graph: SceneGraph, thing: str, knowledge: PreferenceKnowledge, failed: Mapping[str, int], use_similar: bool
) -> PlacementCandidates:
    here = None if thing == graph.holding else graph.container_of(thing)
    known = known_placements(graph, thing, knowledge)
    if here is not None and known.wanted_here:
        return PlacementCandidates(here, (here,), elsewhere=False, is_decided=True)
    unwanted = known.wanted_here is False
    wanted = untried_places(thing, known.wanted, failed)
    if wanted:
        return PlacementCandidates(here, (wanted[0],), elsewhere=False, is_decided=True, is_unwanted=unwanted)
    if use_similar and not known.wanted and (likely := placements_of_similar_kinds(graph, thing, knowledge, failed)):
        return PlacementCandidates(here, (likely[0],), elsewhere=False, is_decided=True, is_unwanted=unwanted)
    open_to = [
        place
        for place in untried_places(thing, listed_receptacles(graph), failed)
        if knowledge.wants(thing, place) is None
    ]
    origin = graph.origin if here is None and graph.origin in open_to else None
    first = [place for place in (here, origin) if place is not None and not unwanted]
    places = (*first, *(place for place in open_to if place not in (here, origin)))
    return PlacementCandidates(here, places, is_unwanted=unwanted, has_similar=bool(known.similar_kinds), origin=origin)
