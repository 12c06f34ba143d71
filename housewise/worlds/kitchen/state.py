"""The symbolic state of a household: entities, what is in or on what, and the tags of each.

A ``State`` is immutable: every change returns a new one, so that a planner can keep, hash and compare states, and a
record can keep each step's. Entities say what a thing *is* (kind, description, what can be done with it) and never
change; places and tags say how things *stand* and do. Whoever plans over a few things only hashes ``state.part(ids)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

Relation = Literal["in", "on"]

HAND = "hand"  # the id of the robot's gripper, where a world has one: what is held is ``in`` it


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing, a piece of furniture, a room or a hand.

    Attributes:
        id: unique in its state, such as ``milk_1``.
        kind: what sort of thing it is, such as ``milk``: things of one kind are the same to a person who counts.
        description: free words, such as "carton of oat milk".
        affords: what can be done with it or in it, such as ``container``, ``openable``, ``grabbable``; a world's data
            files decide which there are.
        contents: the name of what a packet is full of, such as ``oat_milk``; it never runs out.
    """

    id: str
    kind: str
    description: str = ""
    affords: frozenset[str] = frozenset()
    contents: str | None = None

    def can(self, affordance: str) -> bool:
        return affordance in self.affords


class Place(NamedTuple):
    """In or on what a thing is."""

    holder: str
    relation: Relation = "in"


@dataclass(frozen=True)
class State:
    """How things stand at one moment.

    Attributes:
        entities: all that exist, by id.
        places: where each is; what has no place (a room, a hand) stands for itself. In the order of placing, so that
            the contents of a thing are listed in the order in which they were added.
        tags: what else is true of each: ``open``, ``on``, ``hot``, ``dirty``; only entities that have any are listed.
    """

    entities: Mapping[str, Entity]
    places: Mapping[str, Place]
    tags: Mapping[str, frozenset[str]]

    @classmethod
    def create(
        cls,
        entities: Iterable[Entity],
        places: Mapping[str, Place],
        tags: Mapping[str, Iterable[str]] | None = None,
    ) -> State:
        """Build a state and check it.

        Raises:
            ValueError: an id twice, a place for or at something unknown, or things inside each other.
        """
        by_id: dict[str, Entity] = {}
        for entity in entities:
            if entity.id in by_id:
                raise ValueError(f"{entity.id!r} is there twice")
            by_id[entity.id] = entity
        kept = {id: frozenset(words) for id, words in (tags or {}).items() if words}
        state = cls(by_id, dict(places), kept)
        state.check()
        return state

    def __contains__(self, id: object) -> bool:
        return id in self.entities

    def __getitem__(self, id: str) -> Entity:
        return self.entities[id]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return self.places == other.places and self.tags == other.tags and self.entities == other.entities

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((frozenset(self.entities), frozenset(self.places.items()), frozenset(self.tags.items())))

    # What is true

    def has_tag(self, id: str, tag: str) -> bool:
        return tag in self.tags.get(id, ())

    def place(self, id: str) -> Place | None:
        return self.places.get(id)

    def holder(self, id: str) -> str | None:
        place = self.places.get(id)
        return place.holder if place else None

    @cached_property
    def _inside(self) -> Mapping[str, list[str]]:
        inside: dict[str, list[str]] = {}
        for child, place in self.places.items():
            inside.setdefault(place.holder, []).append(child)
        return inside

    def inside(self, id: str) -> list[str]:
        """What is directly in or on ``id``, in the order in which it was put there."""
        return list(self._inside.get(id, ()))

    def descendants(self, id: str) -> list[str]:
        """All that is in or on ``id`` at any depth."""
        found = self.inside(id)
        for child in found:  # grows while it is gone through
            found += self._inside.get(child, ())
        return found

    def holders(self, id: str) -> Iterator[str]:
        """What ``id`` is in or on, what that is in or on, and so on, nearest first."""
        place = self.places.get(id)
        while place is not None:
            yield place.holder
            place = self.places.get(place.holder)

    def is_within(self, id: str, holder: str) -> bool:
        """Whether ``id`` is in or on ``holder`` at any depth."""
        return holder in self.holders(id)

    def room(self, id: str) -> str:
        """The outermost holder of ``id``, itself if it has none."""
        return [id, *self.holders(id)][-1]

    def is_shut_away(self, id: str) -> bool:
        """Whether something closable around ``id`` is not open, so that a hand cannot reach it."""
        return any(self[holder].can("openable") and not self.has_tag(holder, "open") for holder in self.holders(id))

    @property
    def held_thing(self) -> str | None:
        """What the robot's hand holds."""
        inside = self.inside(HAND)
        return inside[0] if inside else None

    def substate(self, ids: Iterable[str]) -> frozenset[tuple[str, Place | None, frozenset[str]]]:
        """Places and tags of a few things, to hash and compare by a planner that changes nothing else."""
        return frozenset((id, self.places.get(id), self.tags.get(id, frozenset())) for id in ids)

    # What changes

    def put(self, id: str, holder: str, relation: Relation = "in") -> State:
        """``id``, with all that is in or on it, is in or on ``holder`` from now on.

        Raises:
            ValueError: when it would be within itself.
        """
        if id == holder or self.is_within(holder, id):
            raise ValueError(f"{id} cannot be within itself")
        places = {child: place for child, place in self.places.items() if child != id}
        places[id] = Place(holder, relation)
        return replace(self, places=places)

    def with_tags(self, id: str, *tags: str, without: Iterable[str] = ()) -> State:
        """``id`` has these tags from now on, and not the others."""
        now = (self.tags.get(id, frozenset()) | frozenset(tags)) - frozenset(without)
        kept = {other: words for other, words in self.tags.items() if other != id}
        if now:
            kept[id] = now
        return replace(self, tags=kept)

    def with_entity(self, entity: Entity, place: Place, tags: Iterable[str] = ()) -> State:
        """A new thing comes to be.

        Raises:
            ValueError: when its id is taken or its holder unknown.
        """
        if entity.id in self.entities:
            raise ValueError(f"{entity.id!r} is there already")
        if place.holder not in self.entities:
            raise ValueError(f"{entity.id!r} would be in or on {place.holder!r}, which is not there")
        words = frozenset(tags)
        return State(
            {**self.entities, entity.id: entity},
            {**self.places, entity.id: place},
            {**self.tags, entity.id: words} if words else self.tags,
        )

    def without_entities(self, ids: Iterable[str]) -> State:
        """Things cease to be; nothing may be left in or on them.

        Raises:
            ValueError: when something would be left without a place.
        """
        gone = frozenset(ids)
        for child, place in self.places.items():
            if place.holder in gone and child not in gone:
                raise ValueError(f"{child} is still in or on {place.holder}")
        return State(
            {id: entity for id, entity in self.entities.items() if id not in gone},
            {id: place for id, place in self.places.items() if id not in gone},
            {id: words for id, words in self.tags.items() if id not in gone},
        )

    def check(self) -> None:
        """Raise where the state contradicts itself.

        Raises:
            ValueError: a place or tag of or at something unknown, or things inside each other.
        """
        for id, place in self.places.items():
            for known in (id, place.holder):
                if known not in self.entities:
                    raise ValueError(f"{id!r} is {place.relation} {place.holder!r}, but {known!r} does not exist")
        for id in self.tags:
            if id not in self.entities:
                raise ValueError(f"{id!r} has tags, but does not exist")
        for id in self.places:
            seen = {id}
            for holder in self.holders(id):
                if holder in seen:
                    raise ValueError(f"{id!r} is within itself")
                seen.add(holder)
