"""The state of a lab: what is where, in which state, and where the person stands."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal

Flag = Literal[
    "open", "broken", "on", "hot", "cold", "eaten", "infected", "large", "carrot", "floating", "fed", "fired", "water",
    "milk", "coffee",
]  # fmt: skip
"""A state of a thing that may hold or not. A thing is filled if it has water, milk or coffee."""

ROOMS = (
    "break room", "main office", "manager's office", "warehouse", "reception", "robotics lab", "quantum lab",
)  # fmt: skip
"""The seven rooms (paper, section 4.1). The corridor between them is no target of an action."""

CIRCUITS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "break room": ("break room",),
        "manager's office": ("manager's office", "main office", "reception"),
        "warehouse": ("warehouse", "robotics lab", "quantum lab"),
    }
)
"""The rooms of each power circuit, by the room of its fuse box. The paper leaves it open; three boxes are Arena's."""
CIRCUIT_OF: Mapping[str, str] = MappingProxyType({room: name for name, rooms in CIRCUITS.items() for room in rooms})
"""The circuit of each room."""


@dataclass(frozen=True)
class Thing:
    """A thing or device.

    Attributes:
        id: Unique name, such as ``"coffee_mug_3"``.
        kind: Key of its kind.
        color: Its colour now.
        flags: States that hold.
        room: Its room.
        container: Id of the thing that it lies on, in or at. None on the floor, at a wall, or in the hand.
        spot: Number of the free place on the container.
        original: Kind that it had before it became a carrot.
    """

    id: str
    kind: str
    color: str
    flags: frozenset[Flag] = frozenset()
    room: str = ""
    container: str | None = None
    spot: int = 0
    original: str | None = None

    def with_flags(self, *added: Flag, without: tuple[Flag, ...] = ()) -> Thing:
        """Return the thing with states added and removed."""
        return replace(self, flags=(self.flags - set(without)) | set(added))


@dataclass(frozen=True)
class Body:
    """Where the person stands and looks.

    Attributes:
        x: Position, metres.
        z: Position, metres.
        heading: Direction of view, degrees: 0 is north (negative z), 90 east.
        pitch: Degrees above the horizon; negative looks down.
    """

    x: float = 0.0
    z: float = 0.0
    heading: float = 0.0
    pitch: float = 0.0


@dataclass(frozen=True)
class LabState:
    """The state of a lab. States are immutable and can be compared, hashed and kept.

    Attributes:
        things: All things and devices, sorted by id.
        powered: Circuits that have power.
        room: Room of the person.
        body: Where the person stands.
        near: Ids of the things that the person went to last; without a geometry these are within reach.
        held: Id of the thing in the hand.
        blocked: Rooms in which a big box stands before everything but the robotic arm.
        ended: Why the task ended early, such as ``"hurt"``; empty otherwise.
    """

    things: tuple[Thing, ...]
    powered: frozenset[str] = frozenset(CIRCUITS)
    room: str = ROOMS[0]
    body: Body = Body()
    near: frozenset[str] = frozenset()
    held: str | None = None
    blocked: frozenset[str] = frozenset()
    ended: str = ""

    @cached_property
    def by_id(self) -> Mapping[str, Thing]:
        """Things by id."""
        # No MappingProxyType here and in contents, which can neither be copied nor pickled.
        return {thing.id: thing for thing in self.things}

    @cached_property
    def contents(self) -> Mapping[str, tuple[Thing, ...]]:
        """Things that lie directly on, in or at each thing, by its id."""
        found: dict[str, tuple[Thing, ...]] = {}
        for thing in self.things:
            if thing.container is not None:
                found[thing.container] = (*found.get(thing.container, ()), thing)
        return found

    def __getitem__(self, id: str) -> Thing:
        return self.by_id[id]

    def free_spot(self, id: str) -> int:
        """Return the first number of a free place on a thing."""
        return first_free({each.spot for each in self.contents.get(id, ())})

    def has_power(self, room: str) -> bool:
        """Return whether a room has power. The corridor and a hand are on no circuit and lack none."""
        return room not in CIRCUIT_OF or CIRCUIT_OF[room] in self.powered

    def with_thing(self, *changed: Thing) -> LabState:
        """Return the state with things replaced by id."""
        new = {thing.id: thing for thing in changed}
        return replace(self, things=tuple(new.get(thing.id, thing) for thing in self.things))


def first_free(taken: Collection[int]) -> int:
    """Return the first number from 0 that is not taken."""
    return next(number for number in range(len(taken) + 1) if number not in taken)
