"""Resolves conflicts between notes about the same subject: which note is valid, and which ones contradict it."""

from __future__ import annotations

from collections import Counter

from housewise.people.memory.note import Note


class Claim:
    """Notes of one kind about the same subject. Notes without a value also have the same text.

    Attributes:
        notes: The notes, oldest first.
    """

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self._resolution: tuple[Note, int, tuple[Note, ...]] | None = None

    def copy(self) -> Claim:
        """Return a claim with the same notes."""
        other = Claim()
        other.notes, other._resolution = self.notes.copy(), self._resolution
        return other

    def add(self, note: Note) -> None:
        """Add a note that is newer than the others."""
        self.notes.append(note)
        self._resolution = None

    @property
    def resolution(self) -> tuple[Note, int, tuple[Note, ...]]:
        """The valid note, the number of notes with its value, and the contradicting notes, newest first.

        The newest note is valid. Of several equally new ones it is the one whose value more notes have.
        """
        if self._resolution is None:
            counts = Counter(note.value for note in self.notes)
            latest = [note for note in self.notes if note.time == self.notes[-1].time]
            valid = max(latest, key=lambda note: (counts[note.value], note.sort_key))
            others = tuple(note for note in reversed(self.notes) if note.value != valid.value)
            self._resolution = valid, counts[valid.value], others
        return self._resolution
