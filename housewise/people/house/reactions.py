"""Turns reactions of a house's user into notes for their memory."""

from __future__ import annotations

from dataclasses import dataclass

from housewise.people.memory import About, Note, Source
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.spoken_names import kind_from_name


@dataclass(frozen=True)
class SpokenPlace:
    """A receptacle as people speak of it.

    Attributes:
        receptacle: Kind of receptacle, such as ``"shelf"``.
        room: Kind of the room in which it stands, or None.
    """

    receptacle: str
    room: str | None = None


def spoken_places(scene: Scene) -> dict[str, SpokenPlace]:
    """Return the receptacles of a house, by name, as people speak of them."""
    rooms = {room.name: room.kind for room in scene.rooms}
    return {
        place.name: SpokenPlace(place.kind, rooms[place.room] if place.room else None) for place in scene.receptacles
    }


@dataclass(frozen=True)
class ReactingUser:
    """A user whose reactions to placements become notes of the kind ``reaction``.

    Attributes:
        name: The person in whose memory the notes are stored.
    """

    name: str

    def react_to_placement(self, thing: str, place: SpokenPlace, reward: float, source: Source | None = None) -> Note:
        """Return the note about a thing that was placed somewhere.

        Args:
            thing: Name of the thing, with or without its number.
            place: Where it was placed.
            reward: The reward of the placement: +1 if the user wants the thing there, otherwise 0.
            source: Episode record and line.
        """
        return self._note(thing, place, reward > 0, source)

    def react_to_removal(self, thing: str, place: SpokenPlace, reward: float, source: Source | None = None) -> Note:
        """Return the note about a thing that was taken away.

        Args:
            thing: Name of the thing, with or without its number.
            place: Where it was before.
            reward: The reward of the removal: -1 if the user wanted the thing there, otherwise 0.
            source: Episode record and line.
        """
        return self._note(thing, place, reward < 0, source)

    def react_to_demonstration(
        self, thing: str, place: SpokenPlace, wanted: bool, source: Source | None = None
    ) -> Note:
        """Return the note about a thing that the user points out without moving it.

        Args:
            thing: Name of the thing, with or without its number.
            place: Where it is.
            wanted: Whether the user wants it there.
            source: Episode record and line.
        """
        return self._note(thing, place, wanted, source)

    def _note(self, thing: str, place: SpokenPlace, wanted: bool, source: Source | None) -> Note:
        kind = kind_from_name(thing)
        where = f"the {place.receptacle}" + (f" in the {place.room}" if place.room else "")
        return Note(
            person=self.name,
            kind="reaction",
            text=f"The {kind} {'belongs' if wanted else 'does not belong'} on {where}.",
            about=About(things=(kind,), receptacle=place.receptacle, room=place.room),
            value=1.0 if wanted else -1.0,
            source=source,
        )
