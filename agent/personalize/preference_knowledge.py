"""Preference knowledge: whether a person wants an object on a receptacle, as recalled from the person's notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from types import MappingProxyType

from housewise.agent.clipr.memory_notes import marks_end
from housewise.agent.personalize.placement_kernel import (
    KERNEL,
    PlacementKernel,
    PlacementOpinion,
    placement_notes,
    placement_value,
)
from housewise.agent.personalize.planner import untried_places
from housewise.language.embedder import Embedder, cosine
from housewise.people.memory import About, Memory, Note
from housewise.worlds.house.spoken_names import SpokenPlace, kind_from_name

_MIN_SIMILARITY = 0.4
"""Cosine similarity of two kinds of objects below which one says little about the other."""
_MAX_RECALLED = 20
"""Notes read per question, the most relevant first."""
_MAX_ALIKE = 3
"""Notes quoted about each similar kind of object."""


@dataclass(frozen=True)
class RelevantNote:
    """A note that bears on an object in sight.

    Attributes:
        note: The note.
        thing: Kind of the object.
        similarity: 1 for a note about this kind or about everything on its receptacle; otherwise the cosine of the kind
            that the note is about, or of the note and the object on its receptacle.
    """

    note: Note
    thing: str
    similarity: float


class PreferenceKnowledge:
    """What is known about the placements that a person wants in a house, as recalled from a memory.

    A note counts if it names a room or a receptacle, holds in every situation and has a number as its value. The object
    is wanted there if the value is above zero. The most specific note decides, and of contradicting notes the newest;
    see Memory.recall.

    Args:
        memory: Memory of the person. Notes that are added later are ignored. Without a memory nothing is known.
        places: Receptacles of the house, by name.
        embedder: Embeds kinds of objects to compare them. None treats no kinds as similar.

    Attributes:
        rules: Rules that a model concluded from the notes.
    """

    def __init__(
        self,
        memory: Memory | None = None,
        places: Mapping[str, SpokenPlace] = MappingProxyType({}),
        embedder: Embedder | None = None,
    ) -> None:
        self._memory = Memory("nobody") if memory is None else memory
        self._places, self._embedder = places, embedder
        self._known: dict[tuple[str, SpokenPlace], bool | None] = {}
        self._similar: dict[str, list[tuple[str, float]]] = {}
        # Copies without some placements share it.
        self._kernel = cache(self._make_kernel)
        self._failed: Mapping[str, int] = {}
        self.rules: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is known."""
        return not len(self._memory)

    def without_failures(self, failed: Mapping[str, int]) -> PreferenceKnowledge:
        """Return the same knowledge, in which receptacles without room for an object count as unknown.

        Args:
            failed: Failed placements, such as ``"mug 1 on shelf 2"``; see count_failures.
        """
        other = copy(self)
        other._failed = failed
        return other

    def wants(self, thing: str, place: str) -> bool | None:
        """Return whether the person wants an object on a receptacle, or None if unknown."""
        wanted = self._wants(thing, place)
        return None if wanted and not untried_places(thing, [place], self._failed) else wanted

    def similar_kinds(self, thing: str, places: Sequence[str], max_kinds: int) -> list[tuple[str, str]]:
        """Return other kinds of objects, most similar first, each with the first receptacle where it is wanted.

        Args:
            thing: Name of the object.
            places: Receptacles to choose from.
            max_kinds: Maximum number of kinds.
        """
        found: list[tuple[str, str]] = []
        open_to = untried_places(thing, places, self._failed)
        for kind, _ in self._similar_kinds(kind_from_name(thing)):
            if len(found) == max_kinds:
                break
            wanted = next((place for place in open_to if self._wants(kind, place)), None)
            if wanted is not None:
                found.append((kind, wanted))
        return found

    def placement_values(
        self, thing: str, places: Sequence[str], opinion: PlacementOpinion | None = None
    ) -> list[float]:
        """Return how much the notes speak for an object on each of some receptacles, from -1 to 1.

        See PlacementKernel. Without an embedder it is the opinion, or else the prior.

        Args:
            thing: Name of the object.
            places: Names of receptacles.
            opinion: Values of these placements from another source.
        """
        if self._embedder is None:
            return [KERNEL.prior] * len(places) if opinion is None else list(opinion.values)
        known = [self._places.get(name, SpokenPlace("")) for name in places]
        return list(map(float, self._kernel().values(kind_from_name(thing), known, opinion)))

    def noted_kinds(self, max_kinds: int) -> list[str]:
        """Return kinds of objects that notes about placements name, those of the newest notes first."""
        found: dict[str, None] = {}
        for note in reversed(self._memory.notes):
            if len(found) >= max_kinds:
                break
            # Of kinds that are known already nothing else is read: a memory may have thousands of notes about a few.
            if not found.keys() >= set(note.about.things) and placement_value(note) is not None:
                found.update(dict.fromkeys(note.about.things))
        return list(found)[:max_kinds]

    def relevant_notes(self, placements: Mapping[str, str | None], max_notes: int) -> list[RelevantNote]:
        """Return the notes that bear on some objects, the best of each object first; those with the same text are one.

        For each object the notes about its kind and similar kinds take turns with those about what is like the object
        in its place.

        Args:
            placements: Receptacle of each object, or None for the one in the hand.
            max_notes: Maximum number of notes.
        """
        rankings: list[list[RelevantNote]] = []
        for thing, name in placements.items():
            kind, place = kind_from_name(thing), self._places.get(name or "")
            rankings.append(self._notes_of_kinds(kind, max_notes))
            if place is not None:
                rankings.append(self._notes_of_place(kind, place, max_notes))
        found: dict[str, RelevantNote] = {}
        for row in zip_longest(*rankings):
            for each in row:
                if each is None or marks_end(each.note):
                    continue
                key = each.note.text or each.note.id
                if key in found or len(found) < max_notes:
                    found[key] = max(found.get(key, each), each, key=lambda note: note.similarity)
        return list(found.values())

    def general_notes(self, max_notes: int) -> list[Note]:
        """Return notes about everything: those about the most general subjects first, then the newest."""
        return [found.note for found in self._memory.recall(About(), max_notes) if not marks_end(found.note)]

    def _notes_of_kinds(self, kind: str, max_notes: int) -> list[RelevantNote]:
        """Return the notes about a kind of object, then some about similar kinds, those of unwanted places last."""
        found: list[RelevantNote] = []
        for other, score in [(kind, 1.0), *self._similar_kinds(kind)][:max_notes]:
            recalled = self._memory.recall(About(things=(other,)), max_notes)
            ordered = sorted(recalled, key=lambda each: isinstance(each.value, float) and each.value <= 0)
            most = max_notes if other == kind else _MAX_ALIKE
            found += [RelevantNote(each.note, kind, score) for each in ordered[:most]]
        return found

    def _notes_of_place(self, kind: str, place: SpokenPlace, max_notes: int) -> list[RelevantNote]:
        """Return the notes about a kind of object in a place, then those of similar meaning."""
        about = About(things=(kind,), receptacle=place.receptacle, room=place.room)
        recalled = self._memory.recall(about, max_notes, None, self._embedder, _MIN_SIMILARITY)
        return [RelevantNote(each.note, kind, each.similarity) for each in recalled]

    def _similar_kinds(self, kind: str) -> list[tuple[str, float]]:
        """Return the other kinds that have notes with their cosine, most similar first."""
        if self._embedder is None:
            return []
        if kind not in self._similar:
            others = sorted({each for note in self._memory.notes for each in note.about.things} - {kind})
            scores = cosine(self._embedder, [kind], others)[0] if others else ()
            ordered = sorted(zip(others, map(float, scores), strict=True), key=lambda pair: (-pair[1], pair[0]))
            self._similar[kind] = [(other, score) for other, score in ordered if score >= _MIN_SIMILARITY]
        return self._similar[kind]

    def _make_kernel(self) -> PlacementKernel:
        assert self._embedder is not None
        return PlacementKernel(placement_notes(self._memory.notes), self._embedder)

    def _wants(self, thing: str, place: str) -> bool | None:
        """Return whether an object is wanted on a receptacle, whether it has room or not."""
        if place not in self._places:
            return None
        key = kind_from_name(thing), self._places[place]
        if key not in self._known:
            self._known[key] = self._recall(*key)
        return self._known[key]

    def _recall(self, kind: str, place: SpokenPlace) -> bool | None:
        question = About(things=(kind,), receptacle=place.receptacle, room=place.room)
        for found in self._memory.recall(question, _MAX_RECALLED):
            if (value := placement_value(found.note)) is not None:
                return value > 0
        return None
