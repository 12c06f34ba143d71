"""Notes of people as events of an episode, so that a record tells what was learned when."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from housewise.core.record import Event, EventWriter, Record
from housewise.people.memory import Note


class NoteEvent(Event):
    """Something was learned of the person.

    Attributes:
        note: what.
    """

    type: ClassVar[str] = "note"
    note: Note


class NoteDroppingWriter:
    """Writes everything but notes: what is learned of one person is not another's.

    Args:
        writer: takes the rest.
    """

    def __init__(self, writer: EventWriter) -> None:
        self._writer = writer

    def write(self, event: Event) -> None:
        """See Writer."""
        if not isinstance(event, NoteEvent):
            self._writer.write(event)


def learned_notes(record: Record) -> Iterable[Note]:
    """What was learned in an episode, in order."""
    return (event.note for event in record.of_type(NoteEvent))
