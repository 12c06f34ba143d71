"""What rules ask about space: what is in view and in reach, and where a step leads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from housewise.worlds.lab.actions import LabAction
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.state import Body, LabState, Thing


@dataclass(frozen=True)
class Glimpse:
    """A thing in view.

    Attributes:
        id: Its id.
        distance: Metres from the person.
        bearing: Degrees to the right of the direction of view, -180 to 180.
        pixels: Visible pixels, or 0 without a picture.
    """

    id: str
    distance: float
    bearing: float = 0.0
    pixels: int = 0


class Surroundings(Protocol):
    """The space of a lab."""

    def glimpses(self, state: LabState) -> tuple[Glimpse, ...]:
        """Return what is in view, nearest first. Contents of closed things are not."""
        ...

    def in_reach(self, state: LabState, id: str) -> bool:
        """Return whether a thing is within 2 m of the person, and in view."""
        ...

    def is_in_danger(self, state: LabState) -> bool:
        """Return whether the person is too near to the active gravity flipper."""
        ...

    def move(self, state: LabState, action: LabAction) -> LabState | None:
        """Return the state after a low-level action, or None if something is in the way."""
        ...

    def go_to_room(self, state: LabState, room: str) -> LabState:
        """Return the state in another room. There is a way to every room."""
        ...

    def go_to_thing(self, state: LabState, id: str) -> LabState | None:
        """Return the state in front of a thing and looking at it, or None if there is no way."""
        ...


class OpenSpace:
    """A lab without a geometry: everything in the room is in view, and what one goes to is in reach."""

    def glimpses(self, state: LabState) -> tuple[Glimpse, ...]:
        """See Surroundings.glimpses."""
        return tuple(
            Glimpse(thing.id, 1.0 if thing.id in state.near else 3.0)
            for thing in state.things
            if thing.room == state.room and thing.id != state.held and not is_enclosed(state, thing.id)
        )

    def in_reach(self, state: LabState, id: str) -> bool:
        """See Surroundings.in_reach. What lies on or in a thing that is in reach is in reach too."""
        thing = state[id]
        return thing.room == state.room and not is_enclosed(state, id) and bool({id, thing.container} & state.near)

    def is_in_danger(self, state: LabState) -> bool:
        """See Surroundings.is_in_danger. Without a geometry only going to the flipper is dangerous."""
        return False

    def move(self, state: LabState, action: LabAction) -> LabState | None:
        """See Surroundings.move."""
        return state

    def go_to_room(self, state: LabState, room: str) -> LabState:
        """See Surroundings.go_to_room."""
        return replace(state, room=room, near=frozenset(), body=Body())

    def go_to_thing(self, state: LabState, id: str) -> LabState | None:
        """See Surroundings.go_to_thing."""
        thing = state[id]
        return replace(state, near=frozenset(filter(None, (id, thing.container)))) if thing.room == state.room else None


def is_enclosed(state: LabState, id: str) -> bool:
    """Return whether a thing is inside a closed one."""
    return any(closed_holders(state, id))


def closed_holders(state: LabState, id: str) -> Iterator[Thing]:
    """Yield the closed things that a thing is inside, the innermost first."""
    container = state[id].container
    while container is not None:
        holder = state[container]
        if "openable" in KINDS[holder.kind].properties and "open" not in holder.flags:
            yield holder
        container = holder.container
