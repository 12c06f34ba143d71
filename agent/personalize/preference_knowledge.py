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


class PreferenceKnowledge(Protocol):
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

    def __init__(self, knowledge: PreferenceKnowledge, failed: Mapping[str, int]) -> None:
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
