"""Time that it takes to recall something from a memory of many notes."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from housewise.experiments.measured_values import MeasuredValue
from housewise.language.embedder import Embedder, MiniLM, Vectors
from housewise.people.memory import About, Memory, Note

_MAX_RESULTS = 10
_SEED = 0


def time_recall(
    things: int, places: int, notes: int, questions: int, by_meaning: bool = False
) -> Iterator[MeasuredValue]:
    """Measure recall, and a scan of all notes in turns with it.

    The first question is apart: it builds the index, and embeds the notes.

    Args:
        things: Number of kinds of things that notes are about.
        places: Number of places that notes are about.
        notes: Number of notes.
        questions: Number of questions, with one to three fields.
        by_meaning: Whether notes of similar meaning are recalled if fewer match by key; takes MiniLM.
    """
    memory, embedder = make_memory(notes, things, places), MiniLM() if by_meaning else None
    rng = random.Random(_SEED)
    asked = [_leave_open(rng.choice(memory.notes).about, rng) for _ in range(questions)]

    def recall(about: About) -> Any:
        return memory.recall(about, _MAX_RESULTS, embedder=embedder, min_similarity=-1)

    def scan(about: About) -> Any:
        return scan_notes(memory.notes, about, vectors, embedder)

    first = _milliseconds(recall, About(things=("unheard of",)))
    vectors = embedder.embed([note.about.phrase for note in memory.notes]) if embedder else None
    if embedder is not None:
        # The time that the network takes to read a question is not measured.
        embedder.embed([about.phrase for about in asked])
    yield MeasuredValue("first", 0, "first_ms", first)
    total = [0.0, 0.0]
    for number, about in enumerate(asked):
        times = [_milliseconds(recall, about), _milliseconds(scan, about)]
        yield MeasuredValue(f"question {number}", 0, "ms", times[0])
        yield MeasuredValue(f"question {number}", 0, "scan_ms", times[1])
        total = [sum(pair) for pair in zip(total, times, strict=True)]
    yield MeasuredValue("all", 0, "times_faster", total[1] / total[0])


def make_memory(count: int, things: int, places: int) -> Memory:
    """Return a memory of reactions, many of which contradict each other."""
    rng = random.Random(_SEED)

    def draw(number: int) -> Note:
        about = About(
            things=(f"thing {rng.randrange(things)}",),
            room=f"room {rng.randrange(8)}",
            receptacle=f"place {rng.randrange(places)}",
        )
        time = f"2026-11-23T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
        value = rng.choice((1.0, -1.0))
        return Note(person="ada", kind="reaction", text=f"reaction {number}", about=about, value=value, time=time)

    return Memory("ada", tuple(map(draw, range(count))))


def scan_notes(
    notes: Sequence[Note], about: About, vectors: Vectors | None = None, embedder: Embedder | None = None
) -> list[Note]:
    """Return the notes that match a question as ``Memory.recall`` says, without an index and without conflicts."""
    asked = about.model_dump(exclude_none=True)
    scores = [_agreement(note.about, asked) for note in notes]
    best = sorted((n for n, score in enumerate(scores) if score > 0), key=lambda n: (scores[n], n), reverse=True)
    if vectors is not None and embedder is not None and len(best) < _MAX_RESULTS:
        best += np.argsort(-(vectors @ embedder.embed([about.phrase])[0]), kind="stable").tolist()
    return [notes[n] for n in best[:_MAX_RESULTS]]


def _agreement(about: About, asked: dict[str, Any]) -> int:
    """Return the number of fields that agree with a question, or -1 if one disagrees."""
    agreed = 0
    for name, value in asked.items():
        stated = getattr(about, name)
        if stated:
            same = not set(stated).isdisjoint(value) if name == "things" else stated == value
            if not same:
                return -1
            agreed += 1
    return agreed


def _leave_open(about: About, rng: random.Random) -> About:
    """Return a question about the same, mostly with fewer fields."""
    if rng.random() < 0.4:
        return about
    return About(things=about.things, receptacle=rng.choice((None, about.receptacle)))


def _milliseconds(work: Callable[[About], Any], about: About) -> float:
    start = time.perf_counter()
    work(about)
    return 1000 * (time.perf_counter() - start)
