"""Puts a report together: from the folder of a run to one HTML file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from experiments.report.chapter import make_chapter
from experiments.report.figures import overall, planner_of, rows, stale
from experiments.report.replay import FilmedSimulator
from experiments.report.topdown import stage_gradient
from household.errors import UserError
from household.simulator import SimulatorName
from selftrain.record import EpisodeRecord, read_record

Progress = Callable[[int, int], None]
"""Called before the first episode and after each, with how many are done and how many there are."""


def write_report(
    run_folder: Path,
    out: Path | None = None,
    film: bool = True,
    most_episodes: int = 12,
    progress: Progress | None = None,
    simulator: SimulatorName = "raycast",
) -> Path:
    """Make one self-contained page of a run.

    Args:
        run_folder: it has the records in ``episodes/``; or the folder of several such runs.
        out: the page, ``<run_folder>/report.html`` by default.
        film: whether to film the episodes (a few seconds and about 1 MB each).
        most_episodes: how many are shown with pictures; the others are in the tables.
        progress: told of each episode.
        simulator: which takes the pictures.

    Returns:
        Where the page is.

    Raises:
        UserError: when there is nothing to show or the page cannot be written.
    """
    records, notes = _read(run_folder)
    shown = _chosen(records, most_episodes)
    tell = progress or (lambda done, total: None)
    camera = FilmedSimulator(name=simulator)
    chapters = []
    for done, place in enumerate(shown):
        tell(done, len(shown))
        chapters.append(make_chapter(done + 1, records[place], camera, film))
    camera.close()
    tell(len(shown), len(shown))
    notes += [note for note in [stale(run_folder, records)] if note]
    page = _template().render(
        name=run_folder.resolve().name,
        style=Markup((resources.files("experiments.report") / "report.css").read_text(encoding="utf-8")),
        gradient=stage_gradient(),
        facts=_facts(records),
        notes=notes,
        overall=overall(records),
        rows=rows(records),
        records=records,
        chapters=chapters,
        numbers={place: number for number, place in enumerate(shown, start=1)},
        planner_of=planner_of,
        several_planners=len({planner_of(record) for record in records}) > 1,
    )
    return _write(out or run_folder / "report.html", page)


def _read(folder: Path) -> tuple[list[EpisodeRecord], list[str]]:
    """The records that can be read, and a note for each that cannot."""
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; name the folder of a run (it has episodes/ in it)")
    if (folder / "summary.json").exists():
        runs = sorted(path.parent.relative_to(folder) for path in folder.glob("*/evaluation/*/episodes"))
        named = f", such as {folder / runs[-1]}" if runs else ""
        raise UserError(f"{folder}: is a self-training, with many runs in it; name one of them{named}")
    paths = sorted(folder.glob("episodes/*.jsonl")) or sorted(folder.glob("*/episodes/*.jsonl"))
    records, notes = [], []
    for path in paths:
        try:
            records.append(read_record(path))
        except UserError as error:
            notes.append(f"Left out: {error}")
    if not records:
        more = f" ({notes[0]})" if notes else ""
        raise UserError(f"{folder}: no finished episodes in it; play some with housewise run --out {folder}{more}")
    return records, notes


def _chosen(records: Sequence[EpisodeRecord], most: int) -> list[int]:
    """Places of those to show in full: every episode once before any is shown twice."""
    times: dict[tuple[str, tuple[str, int]], int] = {}
    turns = []
    for place, record in enumerate(records):
        key = (planner_of(record), record.episode.task)
        times[key] = times.get(key, 0) + 1
        turns.append((times[key], place))
    return sorted(place for _, place in sorted(turns)[:most])


def _facts(records: Sequence[EpisodeRecord]) -> dict[str, str]:
    """What ran, by what it is; several values of one kind are listed."""
    headers = [record.episode for record in records]
    configs = [header.config for header in headers]
    facts: dict[str, list[Any]] = {
        "planner": [planner_of(record) for record in records],
        "houses": ["Housekeep data" if config.get("data") else "generated" for config in configs],
        "preferences of": [config.get("person", "") for config in configs],
        "simulator": [header.simulator for header in headers],
        "seed": [config.get("seed", header.seed) for header, config in zip(headers, configs, strict=True)],
        "started": [header.started.replace("T", " ")[:16] for header in headers[:1]],
        "software": [f"{name} {version}" for name, version in headers[0].software.items()],
    }
    told = {
        name: ", ".join(dict.fromkeys(str(value) for value in values if value != "")) for name, values in facts.items()
    }
    return {name: text for name, text in told.items() if text}


def _template() -> Any:
    environment = Environment(
        loader=PackageLoader("experiments.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("template.html")


def _write(path: Path, page: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror}); make room or choose another file") from error
    return path
