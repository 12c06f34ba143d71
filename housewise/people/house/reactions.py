"""A person who lives in a house and reacts to where things are put: today's preferences, in notes."""

from __future__ import annotations

from dataclasses import dataclass

from housewise.people.memory import About, Note, Source
from housewise.worlds.house.names import kind_of
from housewise.worlds.house.scene import Scene


@dataclass(frozen=True)
class SpokenPlace:
    """Where a thing stood or was put, as the person speaks of it.

    Attributes:
        receptacle: its kind, such as ``"shelf"``.
        room: kind of the room that it stands in.
    """

    receptacle: str
    room: str | None = None


def spoken_places(scene: Scene) -> dict[str, SpokenPlace]:
    """The receptacles of a house by name, as people speak of them."""
    rooms = {room.name: room.kind for room in scene.rooms}
    return {place.name: SpokenPlace(place.kind, rooms[place.room] if place.room else None) for place in scene.receptacles}


@dataclass(frozen=True)
class ReactingUser:
    """Reacts, and is remembered under a name.

    Attributes:
        name: whose memory the notes go into.
    """

    name: str

    def react_to_placement(self, thing: str, place: SpokenPlace, reward: float, source: Source | None = None) -> Note:
        """What is learned when a thing is put somewhere: people are glad of it (+1) or say nothing (0).

        Args:
            thing: as spoken, with or without its number.
            place: where it was put.
            reward: what the person gave for that.
            source: record and line.
        """
        return self._note(thing, place, reward > 0, source)

    def react_to_removal(self, thing: str, place: SpokenPlace, reward: float, source: Source | None = None) -> Note:
        """What is learned when a thing is taken away: people mind (-1) where it belonged there; see on_placed."""
        return self._note(thing, place, reward < 0, source)

    def react_to_demonstration(self, thing: str, place: SpokenPlace, wanted: bool, source: Source | None = None) -> Note:
        """What is learned when the person shows how the house should be, of a thing that need not be moved for it.

        Args:
            thing, place, source: see on_placed.
            wanted: whether the person wants it there.
        """
        return self._note(thing, place, wanted, source)

    def _note(self, thing: str, place: SpokenPlace, wanted: bool, source: Source | None) -> Note:
        kind = kind_of(thing)
        where = f"the {place.receptacle}" + (f" in the {place.room}" if place.room else "")
        return Note(
            person=self.name,
            kind="reaction",
            text=f"The {kind} {'belongs' if wanted else 'does not belong'} on {where}.",
            about=About(things=(kind,), receptacle=place.receptacle, room=place.room),
            value=1.0 if wanted else -1.0,
            source=source,
        )
