"""What is known of where a person wants things: recalled from notes, copied into judgements, left open elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from housewise.agent.personalize.placement_judgement import objects_to_judge
from housewise.agent.personalize.planner import untried_places
from housewise.language.embedder import Embedder, cosine
from housewise.people.house.reactions import SpokenPlace
from housewise.people.memory import About, Memory
from housewise.worlds.house.names import kind_of
from housewise.worlds.house.scene_graph import SceneGraph

_MOST_ALIKE = 2
"""How many similar kinds a prompt names."""
_MOST_ASKED = 5
"""How many similar kinds are asked where one belongs."""
_LEAST_ALIKE = 0.4
"""Cosine of two kinds of things below which one tells little of the other."""
_MOST_RECALLED = 20
"""Notes that are looked at for one question: the most to the point come first."""


class Knowledge(Protocol):
    """Tells where things are wanted."""

    @property
    def empty(self) -> bool:
        """Whether nothing at all is known."""
        ...

    def wants(self, thing: str, place: str) -> bool | None:
        """Whether a thing is wanted on a receptacle, both by name; None where that is not known."""
        ...

    def alike(self, thing: str, places: Sequence[str], most: int) -> list[tuple[str, str]]:
        """Other kinds of things, the closest in meaning first, each with the first receptacle where it is wanted.

        Args:
            thing: by name.
            places: receptacles to choose from.
            most: how many kinds.
        """
        ...


class NoKnowledge:
    """Knows nothing."""

    empty = True

    def wants(self, thing: str, place: str) -> bool | None:
        """See Knowledge.wants."""
        return None

    def alike(self, thing: str, places: Sequence[str], most: int) -> list[tuple[str, str]]:
        """See Knowledge.alike."""
        return []


class ExcludeFailedPlacements:
    """What is known of where things are wanted, without the places that had no room for them.

    Args:
        knowledge: all of it.
        failed: how often placing a thing somewhere has failed (``"mug 1 on shelf 2"``).
    """

    def __init__(self, knowledge: Knowledge, failed: Mapping[str, int]) -> None:
        self._knowledge, self._failed = knowledge, failed

    @property
    def empty(self) -> bool:
        """See Knowledge.empty."""
        return self._knowledge.empty

    def wants(self, thing: str, place: str) -> bool | None:
        """See Knowledge.wants."""
        wanted = self._knowledge.wants(thing, place)
        return None if wanted and not untried_places(thing, [place], self._failed) else wanted

    def alike(self, thing: str, places: Sequence[str], most: int) -> list[tuple[str, str]]:
        """See Knowledge.alike."""
        return self._knowledge.alike(thing, untried_places(thing, places, self._failed), most)


class RecalledPreferences:
    """What a person's notes tell of a house.

    A note counts that names a room or a receptacle, holds in every situation and has a number for a value: it is wanted
    there where that is above zero. Of several notes that bear on the same the most to the point decides, and of those
    that contradict each other the newest; see Memory.recall.

    Args:
        memory: as it is now; what is added later is not looked at.
        places: of the house, by name.
        embedder: tells which kinds of things are alike; None where that is not asked.
    """

    def __init__(self, memory: Memory, places: Mapping[str, SpokenPlace], embedder: Embedder | None = None) -> None:
        self._memory, self._places, self._embedder = memory, places, embedder
        self._known: dict[tuple[str, SpokenPlace], bool | None] = {}
        self._near: dict[str, list[str]] = {}

    @property
    def empty(self) -> bool:
        """See Knowledge.empty."""
        return not len(self._memory)

    def wants(self, thing: str, place: str) -> bool | None:
        """See Knowledge.wants."""
        if place not in self._places:
            return None
        key = kind_of(thing), self._places[place]
        if key not in self._known:
            self._known[key] = self._recalled(*key)
        return self._known[key]

    def alike(self, thing: str, places: Sequence[str], most: int) -> list[tuple[str, str]]:
        """See Knowledge.alike."""
        found: list[tuple[str, str]] = []
        for kind in self._nearest(kind_of(thing)):
            if len(found) == most:
                break
            wanted = next((place for place in places if self.wants(kind, place)), None)
            if wanted is not None:
                found.append((kind, wanted))
        return found

    def _nearest(self, kind: str) -> list[str]:
        """Other kinds of which something is remembered, the closest in meaning first."""
        if self._embedder is None:
            return []
        if kind not in self._near:
            others = sorted({each for note in self._memory.notes for each in note.about.things} - {kind})
            scores = cosine(self._embedder, [kind], others)[0] if others else ()
            ordered = sorted(zip(scores, others, strict=True), key=lambda pair: (-pair[0], pair[1]))
            self._near[kind] = [other for score, other in ordered if score >= _LEAST_ALIKE]
        return self._near[kind]

    def _recalled(self, kind: str, place: SpokenPlace) -> bool | None:
        question = About(things=(kind,), receptacle=place.receptacle, room=place.room)
        for found in self._memory.recall(question, _MOST_RECALLED):
            about = found.note.about
            placed = about.room is not None or about.receptacle is not None
            if placed and about.task is None and about.situation is None and isinstance(found.value, float):
                return found.value > 0
        return None


@dataclass(frozen=True)
class KnownPlacements:
    """What is known of a thing in a house.

    Attributes:
        here: whether it is wanted where it is; None where that is not known, or it is in the hand.
        wanted: other receptacles on which it is wanted, those in its room first.
        alike: of a thing of which no right place is known, others like it, each with a receptacle where it is wanted.
    """

    here: bool | None
    wanted: tuple[str, ...]
    alike: tuple[tuple[str, str], ...] = ()


def known_placements(graph: SceneGraph, thing: str, knowledge: Knowledge) -> KnownPlacements:
    """What is known of where a thing belongs among the receptacles that the robot knows."""
    here = None if thing == graph.holding else graph.place_of(thing)
    room = graph.place_of(here) if here else None
    wanted = [place for place in _listed(graph) if place != here and knowledge.wants(thing, place)]
    ordered = sorted(wanted, key=lambda place: graph.place_of(place) != room)
    wanted_here = knowledge.wants(thing, here) if here else None
    alike = [] if wanted_here or ordered else knowledge.alike(thing, _listed(graph), _MOST_ALIKE)
    return KnownPlacements(wanted_here, tuple(ordered), tuple(alike))


def placements_of_similar_kinds(
    graph: SceneGraph, thing: str, knowledge: Knowledge, failed: Mapping[str, int]
) -> tuple[str, ...]:
    """Where a thing belongs as far as the kinds nearest to it in meaning tell.

    It belongs where it is, or was before it was picked up, unless that is known to be wrong, if one of them is wanted
    there; else on what is known to be right for the nearest of them, or for the next where nothing of that is left.

    Args:
        graph: what the robot knows of the house.
        thing: of which no right place is known.
        knowledge: of the person.
        failed: how often placing a thing somewhere has failed; see outlook.

    Returns:
        Receptacles by name; none where nothing is told.
    """
    places, here = _listed(graph), graph.origin if thing == graph.holding else graph.place_of(thing)
    kinds = [kind for kind, _ in knowledge.alike(thing, places, _MOST_ASKED)]
    open_to = [place for place in untried_places(thing, places, failed) if knowledge.wants(thing, place) is not False]
    if here in open_to and not knowledge.wants(thing, here) and any(knowledge.wants(kind, here) for kind in kinds):
        return (here,)
    open_to = [place for place in open_to if place != here]
    right = (tuple(place for place in open_to if knowledge.wants(kind, place)) for kind in kinds)
    return next(filter(None, right), ())


@dataclass(frozen=True)
class PlacementCandidates:
    """What may be judged of a thing.

    Attributes:
        here: the receptacle that it is on; None for what is in the hand.
        places: receptacles where it may belong, the one where it is among them.
        elsewhere: whether it may belong on none of those.
        known: whether that is recalled, of the thing or of similar ones, and nothing is left to judge.
        unwanted: whether it is known to be unwanted where it is.
        alike: whether it is known of others like it where they are wanted.
        origin: of what is in the hand, the receptacle of these from which it was taken.
    """

    here: str | None
    places: tuple[str, ...]
    elsewhere: bool = True
    known: bool = False
    unwanted: bool = False
    alike: bool = False
    origin: str | None = None

    @property
    def stays(self) -> str | None:
        """Where it is, or was before it was picked up; None for what may not be put back there."""
        return self.here if self.here is not None else self.origin


def find_candidates(
    graph: SceneGraph, knowledge: Knowledge, failed: Mapping[str, int], likeness: bool = False
) -> dict[str, PlacementCandidates]:
    """What is known of the things to judge, and what is left open.

    A thing that is known to be wanted where it is belongs there; else, where right places are known, on the first of
    them. Of the others nothing is known but where they are not wanted.

    Args:
        graph: what the robot knows of the house.
        knowledge: what it knows of the person.
        failed: how often placing a thing somewhere has failed (``"mug 1 on shelf 2"``).
        likeness: whether what similar things tell settles what nothing else does; see by_likeness.

    Returns:
        Options by thing, in the order in which prompts list them.
    """
    return {thing: _options(graph, thing, knowledge, failed, likeness) for thing in objects_to_judge(graph)}


def _options(
    graph: SceneGraph, thing: str, knowledge: Knowledge, failed: Mapping[str, int], likeness: bool
) -> PlacementCandidates:
    here = None if thing == graph.holding else graph.place_of(thing)
    known = known_placements(graph, thing, knowledge)
    if here is not None and known.here:
        return PlacementCandidates(here, (here,), elsewhere=False, known=True)
    unwanted = known.here is False
    wanted = untried_places(thing, known.wanted, failed)
    if wanted:
        return PlacementCandidates(here, (wanted[0],), elsewhere=False, known=True, unwanted=unwanted)
    if likeness and not known.wanted and (likely := placements_of_similar_kinds(graph, thing, knowledge, failed)):
        return PlacementCandidates(here, (likely[0],), elsewhere=False, known=True, unwanted=unwanted)
    open_to = [
        place for place in untried_places(thing, _listed(graph), failed) if knowledge.wants(thing, place) is None
    ]
    origin = graph.origin if here is None and graph.origin in open_to else None
    first = [place for place in (here, origin) if place is not None and not unwanted]
    places = (*first, *(place for place in open_to if place not in (here, origin)))
    return PlacementCandidates(here, places, unwanted=unwanted, alike=bool(known.alike), origin=origin)


def _listed(graph: SceneGraph) -> Sequence[str]:
    return [place for places in graph.tree.values() for place in places]
