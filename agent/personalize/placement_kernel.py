"""The placement kernel: how much a person's notes speak for a kind of object on a receptacle, without a language model.

Kernel regression over notes (Nadaraya, Watson 1964): the value of a placement is the mean value of all notes about
placements, weighted by the similarity of their things and of their places in meaning, and shrunk towards a prior.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from housewise.language.embedder import Embedder, cosine
from housewise.people.memory import Note
from housewise.worlds.house.spoken_names import SpokenPlace

_CONDITIONS = {"task", "subtask", "situation", "question"}
"""Fields of a note's subject without which it holds always."""


@dataclass(frozen=True)
class KernelConstants:
    """Constants of the kernel.

    They were chosen by training tasks of two scenes and generated houses, with few and many notes, with those of
    another scene and with notes about unlike things alone, of which they do harm in none. ``housewise experiment
    kernel_constants`` compares them with others.

    Attributes:
        thing_width: Fall of the cosine of two things at which the weight of a note is divided by e.
        place_width: The same of two places.
        min_similarity: Cosine from which two things are alike.
        max_unlike: Largest weight of all notes about unlike things together, in notes about the placement itself.
        prior: Value of a placement that no note bears on. Most placements are wrong, so it is negative.
        prior_weight: Number of notes about the placement itself that the prior weighs as much as.
        margin: How much more the value of another place has to be, for an object to be moved there.
    """

    thing_width: float = 0.4
    place_width: float = 0.15
    min_similarity: float = 0.4
    max_unlike: float = 1.0
    prior: float = -0.7
    prior_weight: float = 1.0
    margin: float = 0.5


KERNEL = KernelConstants()


class PlacementNote(NamedTuple):
    """What a note says about placements.

    Attributes:
        things: Kinds of objects. Empty for all.
        receptacle: Kind of receptacle. Empty for all.
        room: Kind of room. Empty for all.
        value: From -1, not wanted, to 1, wanted.
    """

    things: tuple[str, ...]
    receptacle: str
    room: str
    value: float


class PlacementOpinion(NamedTuple):
    """Values of placements from another source than the notes, such as a language model.

    Attributes:
        values: A value for each placement, from -1 to 1.
        weight: Number of notes about the placement itself that it weighs as much as.
    """

    values: Sequence[float]
    weight: float


def placement_value(note: Note) -> float | None:
    """Return the value of the placement that a note is about, from -1 to 1.

    None if it names neither a room nor a receptacle, does not hold in every situation, or has no number as its value.
    """
    about = note.about
    is_placed = about.room is not None or about.receptacle is not None
    if not is_placed or _CONDITIONS & about.stated_fields.keys() or not isinstance(note.value, float):
        return None
    return min(max(note.value, -1.0), 1.0)


def placement_notes(notes: Iterable[Note]) -> list[PlacementNote]:
    """Return what notes say about placements; of notes about the same subject only the newest counts.

    Args:
        notes: Notes, oldest first; see placement_value.
    """
    found: dict[tuple[tuple[str, ...], str, str], float] = {}
    for note in notes:
        about = note.about
        if (value := placement_value(note)) is not None:
            found[about.things, about.receptacle or "", about.room or ""] = value
    return [PlacementNote(*key, value) for key, value in found.items()]


class PlacementKernel:
    """Estimates the value of placements from notes.

    Args:
        notes: What the notes say; see placement_notes.
        embedder: Compares things and places.
        constants: Constants other than the chosen ones.
    """

    def __init__(self, notes: Sequence[PlacementNote], embedder: Embedder, constants: KernelConstants = KERNEL) -> None:
        self._embedder, self._constants = embedder, constants
        self._things = sorted({note.things for note in notes})
        self._named = sorted({name for things in self._things for name in things})
        self._places = sorted({(note.receptacle, note.room) for note in notes})
        shape = len(self._things), len(self._places)
        self._counts, self._values = np.zeros(shape), np.zeros(shape)
        rows = {things: row for row, things in enumerate(self._things)}
        columns = {place: column for column, place in enumerate(self._places)}
        for note in notes:
            cell = rows[note.things], columns[note.receptacle, note.room]
            self._counts[cell] += 1
            self._values[cell] += note.value

    def values(
        self, kind: str, places: Sequence[SpokenPlace], opinion: PlacementOpinion | None = None
    ) -> NDArray[np.float64]:
        """Return the value of a kind of object on each of some receptacles, from -1 to 1.

        Args:
            kind: Kind of object, such as ``"mug"``.
            places: The receptacles.
            opinion: Values of these placements from another source, beside the prior.
        """
        weights = np.full(len(places), self._constants.prior_weight)
        sums = weights * self._constants.prior
        if opinion is not None:
            weights, sums = weights + opinion.weight, sums + opinion.weight * np.asarray(opinion.values)
        if self._things and places:
            nearby = self._place_weights(places)
            for things, limit in self._thing_weights(kind):
                total = nearby @ (things @ self._counts)
                share = np.minimum(1.0, limit / np.maximum(total, 1e-12))
                weights, sums = weights + share * total, sums + share * (nearby @ (things @ self._values))
        return np.asarray(sums / weights)

    def _thing_weights(self, kind: str) -> Iterator[tuple[NDArray[np.float64], float]]:
        """Yield the weights of the notes about each group of things, shape (groups,), and their limit for one place.

        Notes about like things come first, without a limit, then those about unlike things.
        """
        constants = self._constants
        cosines = cosine(self._embedder, [kind], self._named)[0] if self._named else ()
        alike = dict(zip(self._named, cosines, strict=True))
        best = np.array([max((alike[name] for name in things), default=1.0) for things in self._things])
        weights, is_like = np.exp((best - 1) / constants.thing_width), best >= constants.min_similarity
        yield np.where(is_like, weights, 0.0), np.inf
        yield np.where(is_like, 0.0, weights), constants.max_unlike

    def _place_weights(self, places: Sequence[SpokenPlace]) -> NDArray[np.float64]:
        """Return the weight of the notes about each place for some receptacles, shape (receptacles, places).

        What a note leaves open, the receptacle or the room, does not count.
        """
        receptacles = self._compare([place.receptacle for place in places], [place[0] for place in self._places])
        rooms = self._compare([place.room or "" for place in places], [place[1] for place in self._places])
        stated = np.array([[bool(part) for part in place] for place in self._places], float)
        mean = (receptacles * stated[:, 0] + rooms * stated[:, 1]) / stated.sum(1)
        return np.asarray(np.exp((mean - 1) / self._constants.place_width))

    def _compare(self, names: Sequence[str], others: Sequence[str]) -> NDArray[np.float64]:
        """Return the cosines of some names with others, shape (names, others); 0 where one is empty."""
        found = np.zeros((len(names), len(others)))
        rows, columns = [i for i, name in enumerate(names) if name], [j for j, name in enumerate(others) if name]
        if rows and columns:
            found[np.ix_(rows, columns)] = cosine(
                self._embedder, [names[i] for i in rows], [others[j] for j in columns]
            )
        return found
