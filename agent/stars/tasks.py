"""A task: the room as it is found, and where the user wants each object (STARS, tables 4 to 8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from housewise.agent.stars.situation import PerceivedScene, PerceivedThing
from housewise.core.errors import DataError
from housewise.worlds.kitchen.manipulation import OPEN_TAG, create_hand
from housewise.worlds.kitchen.state import Entity, Place, Relation, State


@dataclass(frozen=True)
class TaskObject:
    """An object that has to be put where it belongs.

    Attributes:
        thing: what is perceived of it.
        relation: how it is at its place.
        place: the piece of furniture where it is found.
        wanted: furniture that the user accepts for it, by name.
        subtask: what the robot does with the objects of that place: clear, store, unload.
        plural: whether one says "are" of it.
    """

    thing: PerceivedThing
    relation: Relation
    place: str
    wanted: tuple[str, ...]
    subtask: str = ""
    plural: bool = False

    @property
    def seen(self) -> str:
        """The object with its place, without articles: "mug in dish rack"."""
        return f"{self.thing.noun} {self.relation} {self.place}"


@dataclass(frozen=True)
class TaskCompletion:
    """How much of what the user wants is so.

    Attributes:
        in_place: objects that are where they are wanted, of ``objects``.
        closed: fixtures that are closed as they should be, of ``fixtures``.
    """

    in_place: int
    objects: int
    closed: int
    fixtures: int

    @property
    def percent(self) -> float:
        """Assertions that hold, in percent of all (STARS, task completion)."""
        return 100 * (self.in_place + self.closed) / max(1, self.objects + self.fixtures)


@dataclass(frozen=True)
class StarsTask:
    """What there is and what is wanted.

    Args:
        name: what the user says, for example "tidy kitchen".
        room: the room as a thing that can be spoken of.
        fixtures: furniture; names tell them apart.
        objects: in the order in which the robot takes them.
        closed: fixtures that have to be closed in the end.
        open: fixtures that are open in the beginning.
        instructions: what the user says for the task and its subtasks, whatever the condition.
        source: the file, for errors.

    Raises:
        DataError: when names repeat, or an object's place or wanted fixture does not exist.
    """

    name: str
    room: PerceivedThing
    fixtures: tuple[PerceivedThing, ...]
    objects: tuple[TaskObject, ...]
    closed: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()
    source: str = "task"

    def __post_init__(self) -> None:
        names = [thing.name for thing in self.situation.things]
        if twice := [name for name in names if names.count(name) > 1]:
            raise DataError(f"{self.source}: {twice[0]} is there twice; number the second one")
        known = {fixture.name for fixture in self.fixtures}
        for found in self.objects:
            if not found.place or not found.wanted:
                field = "wanted" if found.place else "place"
                raise DataError(f"{self.source}: object {found.thing.name} has no {field}; name a fixture of the task")
            for name in (found.place, *found.wanted):
                if name not in known:
                    raise DataError(f"{self.source}: object {found.thing.name} names {name}, which is no fixture here")
        for name in (*self.closed, *self.open):
            if name not in known:
                raise DataError(f"{self.source}: {name} should be open or closed and is no fixture here")

    @cached_property
    def situation(self) -> PerceivedScene:
        """All that can be spoken of; the robot sees the whole room and remembers what it puts away."""
        return PerceivedScene((*self.fixtures, *(found.thing for found in self.objects), self.room))

    def __getitem__(self, name: str) -> TaskObject:
        for found in self.objects:
            if found.thing.name == name:
                return found
        raise DataError(f"{self.source}: task {self.name} has no object {name}")

    def start(self) -> State:
        """How the room is found."""
        places = {fixture.name: Place(self.room.name, "in") for fixture in self.fixtures}
        places |= {found.thing.name: Place(found.place, found.relation) for found in self.objects}
        entities = [Entity(thing.name, thing.noun, affords=thing.affordances) for thing in self.situation.things]
        return State.create([*entities, create_hand()], places, {name: [OPEN_TAG] for name in self.open})

    def completion(self, state: State, objects: Iterable[TaskObject] | None = None) -> TaskCompletion:
        """How much of the task is done.

        Args:
            state: how the room is now.
            objects: those that count; None for all.
        """
        counted = list(self.objects if objects is None else objects)
        return TaskCompletion(
            in_place=sum(state.holder(found.thing.name) in found.wanted for found in counted),
            objects=len(counted),
            closed=sum(not state.has_tag(name, OPEN_TAG) for name in self.closed),
            fixtures=len(self.closed),
        )
