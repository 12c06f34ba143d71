"""How long it takes to recall something from a memory of many notes."""

from __future__ import annotations

import random
import statistics
import time
from pathlib import Path
from typing import Annotated

import typer

from housewise.core.console import Console
from housewise.core.exit_codes import run_cli
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.language.embedder import Embedder, MiniLM
from housewise.people.memory import About, Memory, Note

_MOST = 10
_LAYOUTS = {"a few of each kind": (150, 120), "all different": (2000, 1000), "all about one thing": (1, 12)}
"""Kinds of things and of places that notes are about."""


def contradictory_memory(count: int, things: int, places: int, seed: int) -> Memory:
    """A memory of reactions, of which many contradict each other."""
    draw = random.Random(seed)
    return Memory(
        "ada",
        (
            Note(
                person="ada",
                kind="reaction",
                text=f"reaction {number}",
                about=About(
                    things=(f"thing {draw.randrange(things)}",),
                    room=f"room {draw.randrange(8)}",
                    receptacle=f"place {draw.randrange(places)}",
                ),
                value=draw.choice((1.0, -1.0)),
                time=f"2026-11-23T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z",
            )
            for number in range(count)
        ),
    )


def recall_times(memory: Memory, queries: int, seed: int, embedder: Embedder | None = None) -> dict[str, float]:
    """Milliseconds a recall takes, of questions with one to three fields.

    The first question is not counted: it sorts the notes, and embeds what they say.
    """
    draw = random.Random(seed)
    asked = [draw.choice(memory.notes).about for _ in range(queries)]
    partly = [
        about if draw.random() < 0.4 else About(things=about.things, receptacle=draw.choice((None, about.receptacle)))
        for about in asked
    ]
    begun = time.perf_counter()
    memory.recall(About(things=("unheard of",)), _MOST, embedder=embedder, min_similarity=-1)
    first = 1000 * (time.perf_counter() - begun)
    if embedder is not None:
        # What a network takes to read a question is another matter.
        embedder.embed([about.phrase for about in partly])
    times = []
    for about in partly:
        begun = time.perf_counter()
        memory.recall(about, _MOST, embedder=embedder, min_similarity=-1)
        times.append(1000 * (time.perf_counter() - begun))
    times.sort()
    return {
        "mean_ms": statistics.fmean(times),
        "median_ms": statistics.median(times),
        "p99_ms": times[int(0.99 * (len(times) - 1))],
        "first_ms": first,
        **_after_copying(memory, embedder),
    }


def _after_copying(memory: Memory, embedder: Embedder | None) -> dict[str, float]:
    """Milliseconds until a copy has recalled something, and until it has once more after a note was added to it."""
    nothing, begun = About(things=("unheard of",)), time.perf_counter()
    copy = memory.copy()
    copy.recall(nothing, _MOST, embedder=embedder, min_similarity=-1)
    copied = time.perf_counter()
    about, later = memory.notes[0].about, "2026-11-25T00:00:00Z"
    copy.add(Note(person="ada", kind="reaction", text="another", about=about, value=1.0, time=later))
    copy.recall(nothing, _MOST, embedder=embedder, min_similarity=-1)
    return {"copied_ms": 1000 * (copied - begun), "added_to_copy_ms": 1000 * (time.perf_counter() - copied)}


def main(
    notes: Annotated[int, typer.Option(min=1, help="In each memory.")] = 10_000,
    queries: Annotated[int, typer.Option(min=1, help="Questions asked of each.")] = 500,
    seed: Annotated[int, typer.Option(help="Of notes and questions.")] = 0,
    meaning: Annotated[bool, typer.Option("--meaning", help="By meaning as well; takes MiniLM.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the figures there.")
    ] = None,
) -> None:
    """Time recall: ten notes or fewer of many, by key, and with --meaning by meaning of what is not found by key.

    Examples:

      python -m housewise.experiments.bench.recall_speed --json recall_speed.json
    """
    embedder = MiniLM() if meaning else None
    figures = {}
    for name, (things, places) in _LAYOUTS.items():
        memory = contradictory_memory(notes, things, places, seed)
        figures[name] = {"by key": recall_times(memory, queries, seed)}
        if embedder is not None:
            figures[name]["by key, then meaning"] = recall_times(memory, queries, seed, embedder)
        for way, found in figures[name].items():
            Console().print(
                f"{notes} notes, {name}, {way}: {found['mean_ms']:.3f} ms on average, {found['median_ms']:.3f} in the "
                f"median, {found['p99_ms']:.3f} at the 99th percentile; {found['first_ms']:.0f} ms the first time",
                highlight=False,
                soft_wrap=True,
            )
    if json_file is not None:
        content = {"notes": notes, "queries": queries, "seed": seed, "most": _MOST, "recall": figures}
        write_json(json_file, {**content, **provenance()})


if __name__ == "__main__":
    run_cli(lambda: typer.run(main))
