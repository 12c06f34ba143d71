"""The notes of one person: recall, editing, forgetting and merging."""

from __future__ import annotations

import hashlib
from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from housewise.core.errors import UserError
from housewise.core.migrations.code_names import rename_arguments
from housewise.core.printable_text import excerpt
from housewise.people.memory.note import About, Kind, Note, is_future, later_time, parse_note

if TYPE_CHECKING:
    from housewise.language.embedder import Embedder
    from housewise.people.memory.recall_index import RecallIndex

MIN_ID_CHARACTERS = 4
"""Least length of the beginning of an id that identifies a note."""
MIN_SIMILARITY = 0.3
"""Cosine below which two texts count as unrelated."""


@dataclass(frozen=True)
class RecalledNote:
    """A recalled note, after contradictions were resolved.

    Attributes:
        note: The valid note: the newest, and of several equally new ones the one whose value more notes have.
        value: The value of that note.
        count: The number of notes with this value.
        contradicted: Notes of the same kind about the same subject with other values, newest first.
        similarity: 1 for a match by key, otherwise the cosine of note and question, in [-1, 1].
    """

    note: Note
    value: float | str | None
    count: int
    contradicted: tuple[Note, ...] = ()
    similarity: float = 1.0


class _SharedIndex:
    """Holds the index of some notes, once it was built. Copies of a memory share it until one of them changes."""

    def __init__(self, index: RecallIndex | None = None) -> None:
        self.index = index


class Memory:
    """The notes of one person.

    Memories can be merged in any order and any number of times: the result has the notes of both, except for those that
    either has forgotten. Of a forgotten note only the id remains.

    Args:
        person: Name of the person.
        notes: Notes about that person.
        forgotten: Ids of forgotten notes.
    """

    def __init__(self, person: str, notes: Iterable[Note] = (), forgotten: Iterable[str] = ()) -> None:
        self.person = person
        self._forgotten = set(forgotten)
        self._by_id: dict[str, Note] = {}
        for note in notes:
            self._check_person(note)
            self._by_id[note.id] = note
        self._sorted: list[Note] = []
        self._indexed, self._shares_index = _SharedIndex(), False
        self._update()

    def __len__(self) -> int:
        return len(self._sorted)

    def __contains__(self, id: str) -> bool:
        return id in self._by_id

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: everything except the index, which is quickly rebuilt."""
        return {**self.__dict__, "_indexed": _SharedIndex(), "_shares_index": False}

    @property
    def notes(self) -> tuple[Note, ...]:
        """All notes, oldest first."""
        return tuple(self._sorted)

    @property
    def forgotten_ids(self) -> frozenset[str]:
        """Ids of the notes that were forgotten or replaced by edited ones."""
        return frozenset(self._forgotten)

    @property
    def digest(self) -> str:
        """SHA-256 of all notes in order, in hexadecimal."""
        return hashlib.sha256("".join(f"{note.canonical_json}\n" for note in self._sorted).encode()).hexdigest()

    def __getitem__(self, id: str) -> Note:
        """Return a note by its id, by the id of its first version, or by an unambiguous beginning of either.

        Raises:
            UserError: There is no such note, or there are several.
        """
        if id in self._by_id:
            return self._by_id[id]
        ids = ((note.id, note.original_id) for note in self._sorted) if len(id) >= MIN_ID_CHARACTERS else ()
        found = [self._by_id[own] for own, original in ids if own.startswith(id) or original.startswith(id)]
        if len(found) == 1:
            return found[0]
        if len({note.original_id for note in found}) == 1:
            versions = ", ".join(note.id for note in found)
            raise UserError(f"{excerpt(id)} was corrected in several places; name one of its versions: {versions}")
        many = f"{len(found)} notes whose ids begin with" if found else "no note"
        raise UserError(
            f"the memory of {self.person} has {many} {excerpt(id)}; `housewise memory show {self.person}` lists them"
        )

    def copy(self) -> Memory:
        """Return another memory with the same notes."""
        other = Memory(self.person)
        other._by_id, other._sorted, other._forgotten = self._by_id.copy(), self._sorted.copy(), self._forgotten.copy()
        other._indexed, other._shares_index = self._indexed, True
        self._shares_index = True
        return other

    def add(self, note: Note) -> Note:
        """Add a note and return it. Adding a known note has no effect, and a forgotten note stays forgotten.

        Raises:
            UserError: The note is about another person, or is new and dated in the future.
        """
        self._check_person(note)
        if note.id not in self._by_id:
            _check_time(note)
        if note.id in self._forgotten or not self._forgotten.isdisjoint(note.derived_from):
            self._forgotten.add(note.id)
            return note
        if note.id not in self._by_id:
            self._by_id[note.id] = note
            newest = not self._sorted or self._sorted[-1].sort_key < note.sort_key
            insort(self._sorted, note, key=lambda each: each.sort_key)
            if newest:
                self._add_to_index(note)
            else:
                self._drop_index()
        return note

    @rename_arguments(most="max_results", least_similar="min_similarity")
    def recall(
        self,
        about: About,
        max_results: int,
        kinds: Collection[Kind] | None = None,
        embedder: Embedder | None = None,
        min_similarity: float = MIN_SIMILARITY,
    ) -> list[RecalledNote]:
        """Return the notes that match a question, the best match first.

        By key: a note matches if it agrees with the question in at least one field and disagrees in none. Fields that
        are open in either are ignored, and ``things`` agree if they have one in common. A note about nothing in
        particular matches every question, and every note matches an empty question. Notes that agree in more fields
        come first, then those that state fewer other fields, then newer ones.

        By similarity, with an embedder: if fewer notes match by key, the most similar others are added.

        Args:
            about: The question.
            max_results: Greatest number of results.
            kinds: Kinds of notes; None for all.
            embedder: Sentence embeddings, or None to search by key only.
            min_similarity: Smallest cosine of a match by similarity.
        """
        index = self._index()
        rows = index.search_by_key(about, max(max_results, 0), kinds)
        found = [(row, 1.0) for row in rows]
        if embedder is not None and len(rows) < max_results:
            found += index.search_by_similarity(about, max_results - len(rows), kinds, embedder, min_similarity, rows)
        recalled = []
        for row, similarity in found:
            note, count, contradicted = index.claims[row].resolution
            recalled.append(RecalledNote(note, note.value, count, contradicted, similarity))
        return recalled

    def edit(self, id: str, /, **changes: Any) -> Note:
        """Replace a note by a corrected one, and forget what was derived from it.

        Unless the changes say otherwise, the corrected note is the newest of all, has no source and is derived from
        nothing. The id of its first version still identifies it.

        Args:
            id: Id of the note, or an unambiguous beginning.
            **changes: New values of fields of ``Note``.

        Raises:
            UserError: There is no such note, or the changes are invalid.
        """
        return self.edit_all({id: changes})[0]

    def edit_all(self, changes: Mapping[str, Mapping[str, Any]]) -> list[Note]:
        """Edit several notes, all or none. Some of them may be derived from others; see ``edit``.

        Args:
            changes: New values of fields, by id.

        Raises:
            UserError: See ``edit``.
        """
        pairs = [(self[id], self._edited_note(self[id], each)) for id, each in changes.items()]
        self.forget_ids(old.id for old, new in pairs if new.id != old.id)
        return [self.add(new) for _, new in pairs]

    def _edited_note(self, old: Note, changes: Mapping[str, Any]) -> Note:
        if "id" in changes or changes.get("person", self.person) != self.person:
            raise UserError(f"note {old.id}: the person and the id of a note cannot be changed")
        fields = {**old.fields(), "source": None, "derived_from": (), **changes}
        if "time" not in changes:
            fields["time"] = later_time(self._sorted[-1].time)
        new = parse_note(fields, f"note {old.id}")
        if new.id != old.id and new.version_of is None:
            new = parse_note({**new.fields(), "version_of": old.id}, f"note {old.id}")
        _check_time(new)
        if new.id in self._forgotten:
            raise UserError(f"note {old.id}: the corrected note was forgotten before; leave out its time")
        return new

    def forget(self, what: str | About) -> list[Note]:
        """Forget notes, with everything that was derived from them.

        Args:
            what: Id of a note, or an unambiguous beginning. Or a subject: all notes that state at least its fields are
                forgotten.

        Returns:
            The forgotten notes.

        Raises:
            UserError: There is no note with this id.
        """
        if isinstance(what, str):
            return self.forget_ids([self[what].id])
        return self.forget_ids([note.id for note in self._sorted if what.covers(note.about)])

    def merge(self, other: Memory) -> Memory:
        """Return a memory with the notes of both, except for those that either has forgotten.

        Raises:
            UserError: The other memory is about another person.
        """
        return Memory(self.person, [*self._sorted, *other.notes], self._forgotten | other.forgotten_ids)

    def forget_ids(self, ids: Iterable[str]) -> list[Note]:
        """Forget notes by their whole ids, with everything that was derived from them, and return the forgotten notes.

        An id of no note in this memory is kept as well, so that the note stays out if it is added later.
        """
        before = self._sorted
        self._forgotten.update(ids)
        self._update()
        return [note for note in before if note.id in self._forgotten]

    def _update(self) -> None:
        """Remove forgotten notes with all that was derived from them, and sort the rest."""
        derived: defaultdict[str, list[str]] = defaultdict(list)
        for note in self._by_id.values():
            for origin in note.derived_from:
                derived[origin].append(note.id)
        waiting = [id for id in self._forgotten if id in derived]
        while waiting:
            for id in derived.pop(waiting.pop(), ()):
                self._forgotten.add(id)
                if id in derived:
                    waiting.append(id)
        self._by_id = {id: note for id, note in self._by_id.items() if id not in self._forgotten}
        self._sorted = sorted(self._by_id.values(), key=lambda note: note.sort_key)
        self._drop_index()

    def _index(self) -> RecallIndex:
        if self._indexed.index is None:
            # Programs that only read notes do not need numpy.
            from housewise.people.memory.recall_index import RecallIndex

            self._indexed.index = RecallIndex(self._sorted)
        return self._indexed.index

    def _drop_index(self) -> None:
        self._indexed, self._shares_index = _SharedIndex(), False

    def _add_to_index(self, note: Note) -> None:
        index = self._indexed.index
        if self._shares_index:
            index = index and index.copy()
            self._indexed, self._shares_index = _SharedIndex(index), False
        if index is not None:
            index.add(note)

    def _check_person(self, note: Note) -> None:
        if note.person != self.person:
            raise UserError(f"note {note.id} is about {note.person}, but this is the memory of {self.person}")


def _check_time(note: Note) -> None:
    if is_future(note.time):
        raise UserError(
            f"the note {excerpt(note.text or note.value)!r} is dated {note.time}, in the future; correct its time, or "
            "leave the time out"
        )
