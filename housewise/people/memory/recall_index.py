"""Searches the notes of a memory by key, over arrays, and by similarity, over vectors.

Every note is examined in a few passes over arrays. A search by key in 10,000 notes takes a fraction of a millisecond.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from housewise.people.memory.conflicting_notes import Claim
from housewise.people.memory.note import About, Note

if TYPE_CHECKING:
    from housewise.language.embedder import Embedder, Vectors

_NAME_FIELDS = ("room", "receptacle", "task", "subtask", "situation", "question")
_OPEN, _UNKNOWN = 0, -1
_AGE_BITS = 40
"""Low bits of a score, which order notes by age; the bits above say how well a note fits."""


class RecallIndex:
    """The claims of a memory with the arrays for searching them.

    Args:
        notes: The notes, oldest first.

    Attributes:
        claims: The claims. Searches return indices into this list.
    """

    def __init__(self, notes: Iterable[Note]) -> None:
        self.claims: list[Claim] = []
        self._rows: dict[tuple[str, About, str | None], int] = {}
        self._kinds, self._stated, self._newest = array("b"), array("b"), array("q")
        self._columns = {field: array("i") for field in _NAME_FIELDS}
        self._codes: dict[str, dict[str, int]] = {field: {} for field in (*_NAME_FIELDS, "kind")}
        self._things: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        self._has_things = array("b")
        self._vectors: dict[str, Vectors] = {}
        self._changed: dict[str, set[int]] = {}
        # Episodes that are played at once may share a memory.
        self._vectors_lock = Lock()
        self._count = 0
        for note in notes:
            self.add(note)

    def copy(self) -> RecallIndex:
        """Return an index of the same notes, in a tenth of the time that building one takes."""
        other = RecallIndex(())
        other.claims, other._rows = [claim.copy() for claim in self.claims], self._rows.copy()
        other._kinds, other._stated, other._newest = self._kinds[:], self._stated[:], self._newest[:]
        other._columns = {field: column[:] for field, column in self._columns.items()}
        other._codes = {field: codes.copy() for field, codes in self._codes.items()}
        other._things.update((thing, rows[:]) for thing, rows in self._things.items())
        other._has_things, other._count = self._has_things[:], self._count
        with self._vectors_lock:
            # Arrays of vectors are replaced and never changed, so both can share them.
            other._vectors = self._vectors.copy()
            other._changed = {name: rows.copy() for name, rows in self._changed.items()}
        return other

    def add(self, note: Note) -> None:
        """Add a note that is newer than all others."""
        key = (note.kind, note.about, note.text if note.value is None else None)
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = self._new_row(note)
        self.claims[row].add(note)
        self._count += 1
        self._newest[row] = self._count
        for changed in self._changed.values():
            changed.add(row)

    def search_by_key(self, about: About, max_results: int, kinds: Collection[str] | None = None) -> list[int]:
        """Return the claims that agree with a question, the best match first; see ``Memory.recall``."""
        agree = np.zeros(len(self.claims), np.int64)
        fits = self._of_kinds(kinds)
        for field in _NAME_FIELDS:
            if (name := getattr(about, field)) is not None:
                column = _view(self._columns[field], np.int32)
                same = column == self._codes[field].get(name, _UNKNOWN)
                fits &= same | (column == _OPEN)
                agree += same
        if about.things:
            same = np.zeros(len(self.claims), bool)
            for thing in about.things:
                if thing in self._things:
                    same[_view(self._things[thing], np.int32)] = True
            fits &= same | (_view(self._has_things, np.int8) == 0)
            agree += same
        stated = _view(self._stated, np.int8)
        if about:
            fits &= (agree > 0) | (stated == 0)
        left_open = stated - agree
        scores = ((agree * 8 - left_open) << _AGE_BITS) + _view(self._newest, np.int64)
        return _best(np.flatnonzero(fits), scores, max_results)

    def search_by_similarity(
        self,
        about: About,
        max_results: int,
        kinds: Collection[str] | None,
        embedder: Embedder,
        min_similarity: float,
        exclude: Collection[int] = (),
    ) -> list[tuple[int, float]]:
        """Return the claims most similar to a question with their cosine; see ``Memory.recall``.

        Args:
            about: The question.
            max_results: Greatest number of results.
            kinds: Kinds of notes; None for all.
            embedder: Sentence embeddings.
            min_similarity: Smallest cosine of a result.
            exclude: Claims to leave out.
        """
        if not about or not self.claims:
            return []
        scores = self._claim_vectors(embedder) @ embedder.embed([about.phrase])[0]
        fits = self._of_kinds(kinds) & (scores >= min_similarity)
        fits[list(exclude)] = False
        return [(row, float(scores[row])) for row in _best(np.flatnonzero(fits), scores, max_results)]

    def _new_row(self, note: Note) -> int:
        row = len(self.claims)
        self.claims.append(Claim())
        self._kinds.append(self._code("kind", note.kind))
        self._stated.append(len(note.about.stated_fields))
        self._newest.append(0)
        for field in _NAME_FIELDS:
            name = getattr(note.about, field)
            self._columns[field].append(_OPEN if name is None else self._code(field, name))
        self._has_things.append(bool(note.about.things))
        for thing in note.about.things:
            self._things[thing].append(row)
        return row

    def _code(self, field: str, name: str) -> int:
        return self._codes[field].setdefault(name, len(self._codes[field]) + 1)

    def _of_kinds(self, kinds: Collection[str] | None) -> NDArray[np.bool_]:
        if kinds is None:
            return np.ones(len(self.claims), bool)
        return np.isin(_view(self._kinds, np.int8), [self._codes["kind"].get(kind, _UNKNOWN) for kind in kinds])

    def _claim_vectors(self, embedder: Embedder) -> Vectors:
        """Return a vector for each claim. Only those of new or changed claims are computed."""
        with self._vectors_lock:
            rows = self._changed.setdefault(embedder.name, set(range(len(self.claims))))
            known = self._vectors.get(embedder.name)
            if rows or known is None:
                order = sorted(rows)
                new = embedder.embed([_note_text(self.claims[row].resolution[0]) for row in order])
                vectors = np.zeros((len(self.claims), new.shape[1]), np.float32)
                if known is not None:
                    vectors[: len(known)] = known
                vectors[order] = new
                self._vectors[embedder.name] = vectors
                rows.clear()
            return self._vectors[embedder.name]


def _note_text(note: Note) -> str:
    return ": ".join(filter(None, (note.about.phrase, note.text or str(note.value))))


def _view(numbers: array[int], dtype: Any) -> NDArray[Any]:
    return np.frombuffer(numbers, dtype)


def _best(rows: NDArray[np.intp], scores: NDArray[Any], max_results: int) -> list[int]:
    """Return the rows with the highest scores, highest first. Of equal ones the earliest comes first."""
    if len(rows) > max_results > 0:
        rows = rows[scores[rows] >= np.partition(scores[rows], -max_results)[-max_results]]
    return [int(row) for row in rows[np.lexsort((rows, -scores[rows]))][:max_results]]
