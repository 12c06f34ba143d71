"""What is remembered of one person: recalled by what it is about, corrected, and forgotten with all that came of it."""

from __future__ import annotations

import hashlib
from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from housewise.core.errors import UserError, excerpt
from housewise.people.memory.note import About, Kind, Note, is_future, next_millisecond, parse_note, current_time

if TYPE_CHECKING:
    from housewise.language.embedder import Embedder
    from housewise.people.memory.recall_index import RecallIndex

MIN_ID_CHARACTERS = 4
"""So many characters of an id at least name a note."""
MIN_SIMILARITY = 0.3
"""Cosine below which two texts have little to do with each other."""


@dataclass(frozen=True)
class RecalledNote:
    """What is known, where notes that contradict each other have been settled.

    Attributes:
        note: to go by: the newest, and of equally new ones the one whose value more notes say.
        value: of that note.
        count: how many notes say so.
        contradicted: notes of the same kind about the same that say otherwise, the newest first.
        similarity: 1 where it was recalled by key; else the cosine of what it says with the question, in [-1, 1].
    """

    note: Note
    value: float | str | None
    count: int
    contradicted: tuple[Note, ...] = ()
    similarity: float = 1.0


class _Indexed:
    """The index of some notes, made when it is first asked for; copies of a memory share it until one changes."""

    def __init__(self, index: RecallIndex | None = None) -> None:
        self.index = index


class Memory:
    """Notes of one person.

    Memories can be merged in any order and any number of times: what either has is kept, what either has forgotten
    stays forgotten. Of what is forgotten nothing is left but its id.

    Args:
        person: whose.
        notes: of that person.
        forgotten: ids of notes that were forgotten.
    """

    def __init__(self, person: str, notes: Iterable[Note] = (), forgotten: Iterable[str] = ()) -> None:
        self.person = person
        self._forgotten = set(forgotten)
        self._by_id: dict[str, Note] = {}
        for note in notes:
            self._check_person(note)
            self._by_id[note.id] = note
        self._sorted: list[Note] = []
        self._indexed, self._shares_index = _Indexed(), False
        self._settle()

    def __len__(self) -> int:
        return len(self._sorted)

    def __contains__(self, id: str) -> bool:
        """Whether a note of this id is remembered."""
        return id in self._by_id

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: everything but the index, which is soon made again."""
        return {**self.__dict__, "_indexed": _Indexed(), "_shares_index": False}

    @property
    def notes(self) -> tuple[Note, ...]:
        """The oldest first."""
        return tuple(self._sorted)

    @property
    def forgotten_ids(self) -> frozenset[str]:
        """Ids of the notes that were forgotten, or replaced by edited ones."""
        return frozenset(self._forgotten)

    @property
    def digest(self) -> str:
        """SHA-256 of all notes in order, in hexadecimal."""
        return hashlib.sha256("".join(f"{note.canonical_json}\n" for note in self._sorted).encode()).hexdigest()

    def __getitem__(self, id: str) -> Note:
        """A note by its id, by the id of its first version, or by the beginning of either that no other has.

        Raises:
            UserError: when there is none, or several.
        """
        if id in self._by_id:
            return self._by_id[id]
        ids = ((note.id, note.original_id) for note in self._sorted) if len(id) >= MIN_ID_CHARACTERS else ()
        found = [self._by_id[own] for own, lasting in ids if own.startswith(id) or lasting.startswith(id)]
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
        """Another memory with the same notes."""
        other = Memory(self.person)
        other._by_id, other._sorted, other._forgotten = self._by_id.copy(), self._sorted.copy(), self._forgotten.copy()
        other._indexed, other._shares_index = self._indexed, True
        self._shares_index = True
        return other

    def add(self, note: Note) -> Note:
        """Remember a note; one that is remembered already is not remembered twice, and a forgotten one stays forgotten.

        Raises:
            UserError: when it is another person's, or new and dated in the future.
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

    def recall(
        self,
        about: About,
        max_results: int,
        kinds: Collection[Kind] | None = None,
        embedder: Embedder | None = None,
        min_similarity: float = MIN_SIMILARITY,
    ) -> list[RecalledNote]:
        """What is known that bears on a question, the most to the point first.

        By key: notes that agree with the question in at least one field and disagree in none, where fields that either
        leaves open do not count, and things agree where one is the same. Notes about nothing in particular bear on
        everything, and everything bears on an empty question. First come those that agree in more fields, then those
        that say less of what was not asked, then newer ones.

        By meaning, where an embedder is given: what else is close to the question, if fewer were found by key.

        Args:
            about: the question.
            most: how much is wanted.
            kinds: of notes; None for all.
            embedder: compares meanings.
            least_similar: the smallest cosine that counts as close.
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
        """Put a corrected note in the place of another; what was concluded from that one is forgotten.

        The corrected note is the newest of all, counts as told by hand, and is concluded from nothing, unless the
        changes say otherwise. It can still be named by the id of the first version.

        Args:
            id: of the note, or an unambiguous beginning.
            **changes: fields of Note.

        Raises:
            UserError: when there is no such note, or it cannot be changed so.
        """
        return self.edit_all({id: changes})[0]

    def edit_all(self, changes: Mapping[str, Mapping[str, Any]]) -> list[Note]:
        """Correct several notes at once, all or none, where some may be concluded from others; see edit.

        Args:
            changes: fields by id.

        Raises:
            UserError: see edit.
        """
        pairs = [(self[id], self._corrected(self[id], each)) for id, each in changes.items()]
        self._forget(old.id for old, new in pairs if new.id != old.id)
        return [self.add(new) for _, new in pairs]

    def _corrected(self, old: Note, changes: Mapping[str, Any]) -> Note:
        if "id" in changes or changes.get("person", self.person) != self.person:
            raise UserError(f"note {old.id}: a note keeps its person, and its id follows from the rest; change neither")
        fields = {**old.fields(), "source": None, "derived_from": (), **changes}
        if "time" not in changes:
            fields["time"] = max(current_time(), next_millisecond(self._sorted[-1].time))
        new = parse_note(fields, f"note {old.id}")
        if new.id != old.id and new.version_of is None:
            new = parse_note({**new.fields(), "version_of": old.id}, f"note {old.id}")
        _check_time(new)
        if new.id in self._forgotten:
            raise UserError(f"note {old.id}: what it would become was forgotten before; leave out its time")
        return new

    def forget(self, what: str | About) -> list[Note]:
        """Forget a note, or all that is about something, with everything that was concluded from it.

        Args:
            what: a note's id, or an unambiguous beginning; or what notes are about: those that say all of it, and may
                say more, are forgotten.

        Returns:
            What is forgotten.

        Raises:
            UserError: when there is no such note.
        """
        if isinstance(what, str):
            return self._forget([self[what].id])
        return self._forget([note.id for note in self._sorted if what.covers(note.about)])

    def merge(self, other: Memory) -> Memory:
        """A memory with the notes of both, but for what either has forgotten.

        Raises:
            UserError: when it is another person's.
        """
        return Memory(self.person, [*self._sorted, *other.notes], self._forgotten | other.forgotten_ids)

    def _forget(self, ids: Iterable[str]) -> list[Note]:
        before = self._sorted
        self._forgotten.update(ids)
        self._settle()
        return [note for note in before if note.id in self._forgotten]

    def _settle(self) -> None:
        """Leave out what is forgotten, with what was concluded from it, and put the rest in order."""
        concluded: defaultdict[str, list[str]] = defaultdict(list)
        for note in self._by_id.values():
            for origin in note.derived_from:
                concluded[origin].append(note.id)
        waiting = [id for id in self._forgotten if id in concluded]
        while waiting:
            for id in concluded.pop(waiting.pop(), ()):
                self._forgotten.add(id)
                if id in concluded:
                    waiting.append(id)
        self._by_id = {id: note for id, note in self._by_id.items() if id not in self._forgotten}
        self._sorted = sorted(self._by_id.values(), key=lambda note: note.sort_key)
        self._drop_index()

    def _index(self) -> RecallIndex:
        if self._indexed.index is None:
            # numpy is not for those who only look at notes.
            from housewise.people.memory.recall_index import RecallIndex

            self._indexed.index = RecallIndex(self._sorted)
        return self._indexed.index

    def _drop_index(self) -> None:
        self._indexed, self._shares_index = _Indexed(), False

    def _add_to_index(self, note: Note) -> None:
        index = self._indexed.index
        if self._shares_index:
            index = index and index.copy()
            self._indexed, self._shares_index = _Indexed(index), False
        if index is not None:
            index.add(note)

    def _check_person(self, note: Note) -> None:
        if note.person != self.person:
            raise UserError(f"note {note.id} is of {note.person}, and this is the memory of {self.person}")


def _check_time(note: Note) -> None:
    if is_future(note.time):
        raise UserError(
            f"the note {excerpt(note.text or note.value)!r} is dated {note.time}, in the future; correct its time, or "
            "leave the time out"
        )
