"""Notes about people as events of a record, which state what was learned and when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from housewise.core.record import Event, EventWriter, Record
from housewise.people.memory import Memory, Note


class NoteEvent(Event):
    """A note about the person was learned.

    Attributes:
        note: The note.
    """

    type: ClassVar[str] = "note"
    note: Note

    def apply(self, memory: Memory) -> None:
        """Add the note to a memory."""
        memory.add(self.note)


class NoteForgottenEvent(Event):
    """A note that was recalled for the episode no longer holds and is forgotten, with what was derived from it.

    Attributes:
        note: The note.
    """

    type: ClassVar[str] = "note_forgotten"
    note: Note

    def apply(self, memory: Memory) -> None:
        """Forget the note, unless the memory no longer has it."""
        if self.note.id in memory:
            memory.forget(self.note.id)


MemoryChange = NoteEvent | NoteForgottenEvent
NOTE_EVENTS: Mapping[str, type[Event]] = {NoteEvent.type: NoteEvent, NoteForgottenEvent.type: NoteForgottenEvent}
"""Events of all systems that change the memory of a person, by type."""


class NoteDroppingWriter:
    """Writes all events except those that change a memory, for episodes whose notes belong to another person's memory.

    Args:
        writer: Writer that receives the other events.
    """

    def __init__(self, writer: EventWriter) -> None:
        self._writer = writer

    def write(self, event: Event) -> None:
        """See `EventWriter.write`."""
        if not isinstance(event, MemoryChange):
            self._writer.write(event)


def learned_notes(record: Record) -> Iterable[Note]:
    """Return the notes that were learned in an episode, in order."""
    return (event.note for event in record.of_type(NoteEvent))


def memory_changes(record: Record) -> list[MemoryChange]:
    """Return the events of an episode that change the memory of the person, in order."""
    return [event for event in record.events if isinstance(event, MemoryChange)]
