"""A STARS task: the room as it is found, and where the user wants each object (STARS, tables 4 to 8)."""

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
    """An object that has to be put away.

    Attributes:
        thing: The perceived thing.
        relation: Relation to its place, such as ``in`` or ``on``.
        place: Piece of furniture where it is found.
        wanted: Names of the fixtures that the user accepts for it.
        subtask: What the robot does with the objects of that place: clear, store or unload.
        plural: Whether its noun takes "are".
    """

    thing: PerceivedThing
    relation: Relation
    place: str
    wanted: tuple[str, ...]
    subtask: str = ""
    plural: bool = False

    @property
    def description(self) -> str:
        """The object with its place, without articles: "mug in dish rack"."""
        return f"{self.thing.noun} {self.relation} {self.place}"


@dataclass(frozen=True)
class TaskCompletion:
    """How much of what the user wants is achieved.

    Attributes:
        in_place: Number of objects where they are wanted.
        objects: Number of objects.
        closed: Number of fixtures that are closed as required.
        fixtures: Number of fixtures that have to be closed.
    """

    in_place: int
    objects: int
    closed: int
    fixtures: int

    @property
    def percent(self) -> float:
        """Share of assertions that hold, in percent (STARS, task completion)."""
        return 100 * (self.in_place + self.closed) / max(1, self.objects + self.fixtures)


@dataclass(frozen=True)
class StarsTask:
    """A room and what is wanted in it.

    Args:
        name: Name that the user says, for example "tidy kitchen".
        room: The room as a thing that can be referred to.
        fixtures: Furniture with unique names.
        objects: Objects in the order in which the robot takes them.
        closed: Fixtures that have to be closed in the end.
        open: Fixtures that are open in the beginning.
        instructions: What the user says for the task and its subtasks, independent of the condition.
        source: File name for error messages.

    Raises:
        DataError: Names repeat, or an object's place or wanted fixture does not exist.
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
            raise DataError(f"{self.source}: {twice[0]} appears twice; add a number to the second one")
        known = {fixture.name for fixture in self.fixtures}
        for found in self.objects:
            if not found.place or not found.wanted:
                field = "wanted" if found.place else "place"
                raise DataError(f"{self.source}: object {found.thing.name} has no {field}; name a fixture of the task")
            for name in (found.place, *found.wanted):
                if name not in known:
                    raise DataError(
                        f"{self.source}: object {found.thing.name} names {name}, which is not a fixture of the task"
                    )
        for name in (*self.closed, *self.open):
            if name not in known:
                raise DataError(f"{self.source}: {name} is listed as open or closed but is not a fixture of the task")

    @cached_property
    def situation(self) -> PerceivedScene:
        """Everything that can be referred to. The robot sees the whole room and remembers what it has put away."""
        return PerceivedScene((*self.fixtures, *(found.thing for found in self.objects), self.room))

    def __getitem__(self, name: str) -> TaskObject:
        for found in self.objects:
            if found.thing.name == name:
                return found
        raise DataError(f"{self.source}: task {self.name} has no object {name}")

    def start(self) -> State:
        """Return the initial state of the room."""
        places = {fixture.name: Place(self.room.name, "in") for fixture in self.fixtures}
        places |= {found.thing.name: Place(found.place, found.relation) for found in self.objects}
        entities = [Entity(thing.name, thing.noun, affords=thing.affordances) for thing in self.situation.things]
        return State.create([*entities, create_hand()], places, {name: [OPEN_TAG] for name in self.open})

    def completion(self, state: State, objects: Iterable[TaskObject] | None = None) -> TaskCompletion:
        """Return how much of the task is done.

        Args:
            state: Current state of the room.
            objects: Objects to count. Defaults to all.
        """
        counted = list(self.objects if objects is None else objects)
        return TaskCompletion(
            in_place=sum(state.holder(found.thing.name) in found.wanted for found in counted),
            objects=len(counted),
            closed=sum(not state.has_tag(name, OPEN_TAG) for name in self.closed),
            fixtures=len(self.closed),
        )
