"""Notes about people as events of a record, which state what was learned and when."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from housewise.core.record import Event, EventWriter, Record
from housewise.people.memory import Note


class NoteEvent(Event):
    """A note about the person was learned.

    Attributes:
        note: The note.
    """

    type: ClassVar[str] = "note"
    note: Note


class NoteDroppingWriter:
    """Writes all events except notes, for episodes whose notes belong to another person's memory.

    Args:
        writer: Writer that receives the other events.
    """

    def __init__(self, writer: EventWriter) -> None:
        self._writer = writer

    def write(self, event: Event) -> None:
        """See `EventWriter.write`."""
        if not isinstance(event, NoteEvent):
            self._writer.write(event)


def learned_notes(record: Record) -> Iterable[Note]:
    """Return the notes that were learned in an episode, in order."""
    return (event.note for event in record.of_type(NoteEvent))
