"""The symbolic state of a household: entities, their places and their tags.

A ``State`` is immutable. Every change returns a new one, so that planners can store, hash and compare states. Entities
have fixed properties (kind, description, affordances); places and tags change. A planner that changes only a few things
hashes ``state.substate(ids)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

Relation = Literal["in", "on"]

HAND = "hand"
"""Id of the robot's gripper, in worlds that have one. A held thing is ``in`` it."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing, a piece of furniture, a room or a hand.

    Attributes:
        id: Unique in its state, such as ``milk_1``.
        kind: Its kind, such as ``milk``. Things of one kind count once where kinds are counted.
        description: Free words, such as "carton of oat milk".
        affords: Its affordances, such as ``container``, ``openable`` or ``grabbable``. The data files of a world define
            them.
        contents: Name of the contents of a packet, such as ``oat_milk``, which never run out.
    """

    id: str
    kind: str
    description: str = ""
    affords: frozenset[str] = frozenset()
    contents: str | None = None

    def can(self, affordance: str) -> bool:
        """Whether it has an affordance."""
        return affordance in self.affords


class Place(NamedTuple):
    """The place of a thing: in or on its holder."""

    holder: str
    relation: Relation = "in"


@dataclass(frozen=True)
class State:
    """All entities, places and tags at one moment.

    Attributes:
        entities: All entities, by id.
        places: The place of each, in the order of placing. Rooms and hands have none.
        tags: The tags of each, such as ``open``, ``on``, ``hot`` or ``dirty``. Entities without tags are left out.
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
            ValueError: An id is repeated, a place or tag refers to something unknown, or things contain each other.
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

    # Queries

    def has_tag(self, id: str, tag: str) -> bool:
        """Whether ``id`` has a tag."""
        return tag in self.tags.get(id, ())

    def place(self, id: str) -> Place | None:
        """Return the place of ``id``, or None."""
        return self.places.get(id)

    def holder(self, id: str) -> str | None:
        """Return what ``id`` is directly in or on, or None."""
        place = self.places.get(id)
        return place.holder if place else None

    @cached_property
    def _inside(self) -> Mapping[str, list[str]]:
        inside: dict[str, list[str]] = {}
        for child, place in self.places.items():
            inside.setdefault(place.holder, []).append(child)
        return inside

    def inside(self, id: str) -> list[str]:
        """Return what is directly in or on ``id``, in the order of placing."""
        return list(self._inside.get(id, ()))

    def descendants(self, id: str) -> list[str]:
        """Return all that is in or on ``id`` at any depth."""
        found = self.inside(id)
        for child in found:  # Grows during the loop.
            found += self._inside.get(child, ())
        return found

    def holders(self, id: str) -> Iterator[str]:
        """Yield the holder of ``id``, the holder of that, and so on."""
        place = self.places.get(id)
        while place is not None:
            yield place.holder
            place = self.places.get(place.holder)

    def is_within(self, id: str, holder: str) -> bool:
        """Whether ``id`` is in or on ``holder`` at any depth."""
        return holder in self.holders(id)

    def is_shut_away(self, id: str) -> bool:
        """Whether a holder of ``id`` is closed, so that a hand cannot reach it."""
        return any(self[holder].can("openable") and not self.has_tag(holder, "open") for holder in self.holders(id))

    @property
    def held_thing(self) -> str | None:
        """Id of what the robot's hand holds, or None."""
        inside = self.inside(HAND)
        return inside[0] if inside else None

    def substate(self, ids: Iterable[str]) -> frozenset[tuple[str, Place | None, frozenset[str]]]:
        """Return places and tags of some things, for a planner that changes nothing else."""
        return frozenset((id, self.places.get(id), self.tags.get(id, frozenset())) for id in ids)

    # Changes

    def put(self, id: str, holder: str, relation: Relation = "in") -> State:
        """Place ``id``, with all that is in or on it, in or on ``holder``.

        Raises:
            ValueError: ``holder`` is ``id`` or within it.
        """
        if id == holder or self.is_within(holder, id):
            raise ValueError(f"{id} cannot be within itself")
        places = {child: place for child, place in self.places.items() if child != id}
        places[id] = Place(holder, relation)
        return replace(self, places=places)

    def with_tags(self, id: str, *tags: str, without: Iterable[str] = ()) -> State:
        """Add tags to ``id`` and remove others."""
        now = (self.tags.get(id, frozenset()) | frozenset(tags)) - frozenset(without)
        kept = {other: words for other, words in self.tags.items() if other != id}
        if now:
            kept[id] = now
        return replace(self, tags=kept)

    def with_entity(self, entity: Entity, place: Place, tags: Iterable[str] = ()) -> State:
        """Add a new entity.

        Raises:
            ValueError: Its id is taken or its holder unknown.
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
        """Remove entities.

        Raises:
            ValueError: Something else is in or on one of them.
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
        """Check that the state does not contradict itself.

        Raises:
            ValueError: A place or tag refers to something unknown, or things contain each other.
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
