"""Notes of people as events of an episode, so that a record tells what was learned when."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from housewise.core.record import Event, Record
from housewise.people.memory import Note


class NoteEvent(Event):
    """Something was learned of the person.

    Attributes:
        note: what.
    """

    type: ClassVar[str] = "note"
    note: Note


def notes_of(record: Record) -> Iterable[Note]:
    """What was learned in an episode, in order."""
    return (event.note for event in record.of_type(NoteEvent))
