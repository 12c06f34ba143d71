"""Turns reactions of a house's user into notes for their memory."""

from __future__ import annotations

from housewise.people.memory import About, Note
from housewise.people.memory.note import current_time
from housewise.worlds.house.spoken_names import SpokenPlace, kind_from_name


def reaction_note(person: str, thing: str, place: SpokenPlace, wanted: bool, time: str | None = None) -> Note:
    """Return the note of the kind ``reaction`` about where a user wants a thing, or does not want it.

    Args:
        person: The person in whose memory the note is stored.
        thing: Name of the thing, with or without its number.
        place: Where it is or was.
        wanted: Whether the user wants it there.
        time: Time of the note; the current time by default.
    """
    kind = kind_from_name(thing)
    where = f"the {place.receptacle}" + (f" in the {place.room}" if place.room else "")
    return Note(
        person=person,
        kind="reaction",
        text=f"The {kind} {'belongs' if wanted else 'does not belong'} on {where}.",
        about=About(things=(kind,), receptacle=place.receptacle, room=place.room),
        value=1.0 if wanted else -1.0,
        time=time or current_time(),
    )
