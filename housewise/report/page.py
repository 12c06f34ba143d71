"""Puts a report together: an index of all episodes and a page for each, or one file with everything in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from housewise.core.errors import UserError
from housewise.core.files import write_text
from housewise.core.record import Header
from housewise.report.figures import Rows, overall, rows, stale
from housewise.report.pages import Options, Page, Progress, chapter_of, link, make_pages, pages
from housewise.report.pictures import data_uri
from housewise.report.rendering import render
from housewise.report.sources import Entry, finished, read_entries
from housewise.report.views import KeepFilm, Shown
from housewise.rollout.compare import Comparison, compare
from housewise.rollout.experiment import Experiment, names
from housewise.rollout.scores import cut_replies, summary

MOST_IN_ONE = 12
"""How many episodes one file shows with pictures, unless it is told otherwise."""

_TOLD = ("planner", "model", "adapter", "prompt", "preferences of", "simulator")


@dataclass(frozen=True)
class Line:
    """An episode in the index.

    Attributes:
        entry: the episode.
        href: its page; empty where there is none.
        agent: who played.
        trouble: what went wrong, in words.
        keys: for each filter, the numbers of the options that it falls under.
    """

    entry: Entry
    href: str
    agent: str
    trouble: str
    keys: str


def write_report(
    folder: Path,
    out: Path | None = None,
    options: Options | None = None,
    *,
    against: Path | None = None,
    fresh: bool = False,
    workers: int = 1,
    progress: Progress | None = None,
) -> Path:
    """Make an index of a run, and a page for each of its episodes in a folder beside it.

    Pages that are up to date are not made again, and what is made is kept and linked when an interrupt ends it.

    Args:
        folder: it has the records in ``episodes/``; or the folder of several such runs.
        out: the index, ``<folder>/report.html`` by default; the pages' folder is called as it is, without the ending.
        options: how pages are made.
        against: the folder of another run to compare with.
        fresh: whether to make all pages, those that are up to date as well.
        workers: how many processes make pages.
        progress: told of each page that is made.

    Returns:
        Where the index is.

    Raises:
        UserError: when there is nothing to show or a page cannot be written.
    """
    index = out or folder / "report.html"
    entries, notes = read_entries(folder)
    comparisons = _against(folder, entries, against)
    name = folder.resolve().name
    wanted = pages(entries, index.with_suffix(""), index, name, options or Options())

    def settle() -> None:
        link(wanted)
        hrefs = [quote(page.file.relative_to(index.parent).as_posix()) if page.is_there else "" for page in wanted]
        missing = hrefs.count("")
        limit = f"{missing} of {len(hrefs)} pages are still to be made: housewise report {folder}" if missing else ""
        _write_index(index, folder, entries, notes, hrefs, comparisons, {"limit": limit, "beside": True})

    settle()
    try:
        make_pages([page for page in wanted if fresh or not page.is_current], workers, progress or _silent)
    finally:
        settle()
    return index


def write_single(
    folder: Path,
    out: Path | None = None,
    options: Options | None = None,
    *,
    against: Path | None = None,
    most: int = MOST_IN_ONE,
    progress: Progress | None = None,
) -> Path:
    """Make one self-contained file of a run.

    Args:
        folder, out, options, against, progress: see write_report.
        most: how many episodes are shown with pictures, the worst ones; the others are in the tables.

    Raises:
        UserError: see write_report.
    """
    index, options, tell = out or folder / "report.html", options or Options(), progress or _silent
    entries, notes = read_entries(folder)
    comparisons = _against(folder, entries, against)
    shown = [place for place, entry in enumerate(entries) if entry.result][:most]
    chapters: list[Shown] = []
    for done, place in enumerate(shown):
        tell(done, len(shown))
        keep = (lambda film: data_uri(film.data)) if options.film else None
        chapters.append(_shown(done + 1, entries[place], options, keep))
    tell(len(shown), len(shown))
    hrefs = [f"#e{shown.index(place) + 1}" if place in shown else "" for place in range(len(entries))]
    limit = f"{len(shown)} of {len(entries)} episodes are shown below with pictures, the worst first."
    more = {"limit": limit if len(shown) < len(entries) else "", "beside": False, "chapters": chapters}
    _write_index(index, folder, entries, notes, hrefs, comparisons, more)
    return index


def _shown(number: int, entry: Entry, options: Options, keep: KeepFilm | None) -> Shown:
    return chapter_of(number, entry, options, keep)


def _write_index(
    index: Path,
    folder: Path,
    entries: Sequence[Entry],
    notes: Sequence[str],
    hrefs: Sequence[str],
    comparisons: Sequence[Comparison],
    more: dict[str, Any],
) -> None:
    episodes = finished(entries)
    figures = rows(episodes)
    agents = names([entry.experiment for entry in entries if entry.header])
    filters = _filters(entries, agents)
    failed = sum(entry.result is None for entry in entries)
    told = [f"{failed} of {len(entries)} episodes failed and are in no mean."] if failed else []
    if cut := cut_replies(summary([result for _, result in episodes], ())):
        told.append(f"{cut}.")
    facts: dict[str, Any] = {
        "made": "",
        "name": folder.resolve().name,
        "facts": _facts(entries, figures),
        "details": _details(entries, figures),
        "notes": [*told, *notes, *filter(None, [stale(folder, episodes) if episodes else ""])],
        "overall": overall(episodes),
        "view": entries[0].view,
        "rows": figures,
        "comparisons": [*comparisons, *figures.comparisons],
        "lines": [_line(entry, href, agents, filters) for entry, href in zip(entries, hrefs, strict=True)],
        "filters": {what: list(options) for what, options in filters.items()},
        "several_agents": len(agents) > 1,
        "several_runs": len({entry.run for entry in entries}) > 1,
        "chapters": [],
    }
    write_text(index, render("index.html", {**facts, **more}))


def _against(folder: Path, entries: Sequence[Entry], other: Path | None) -> list[Comparison]:
    """Each experiment of a folder against the one of another folder."""
    if other is None:
        return []
    theirs = rows_by_experiment(read_entries(other)[0])
    if len(theirs) != 1:
        raise UserError(f"{other}: holds {len(theirs)} experiments; name the folder of one run to compare with")
    ours, called = rows_by_experiment(entries), names([*rows_by_experiment(entries)])
    (members,) = theirs.values()
    return [
        compare(members, episodes, (other.name, f"{folder.resolve().name} · {called[experiment]}"))
        for experiment, episodes in ours.items()
    ]


def rows_by_experiment(entries: Sequence[Entry]) -> dict[Experiment, list[Any]]:
    """Finished episodes by the experiment that they belong to."""
    groups: dict[Experiment, list[Any]] = {}
    for entry in entries:
        if entry.finished:
            groups.setdefault(entry.experiment, []).append(entry.finished)
    return groups


def _filters(entries: Sequence[Entry], agents: dict[Experiment, str]) -> dict[str, dict[str, None]]:
    """The options of each filter by its name; those among which there is nothing to choose are left out."""
    found = {what: dict.fromkeys(sorted(options)) for what, options in _kinds(entries, agents).items()}
    return {what: options for what, options in found.items() if len(options) > 1 or (what == "went wrong" and options)}


def _kinds(entries: Sequence[Entry], agents: dict[Experiment, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for entry in entries:
        for what, values in _falls_under(entry, agents).items():
            found.setdefault(what, set()).update(values)
    return found


def _falls_under(entry: Entry, agents: dict[Experiment, str]) -> dict[str, list[str]]:
    header = entry.header
    state = "all in place" if entry.in_place else "not all in place"
    return {
        "played by": [agents[entry.experiment]] if header else [],
        "scene": [header.group.partition("/")[0]] if header else [],
        "person": [header.person] if header else [],
        "state": [state if entry.result else "failed"],
        "ended": [entry.ended],
        "went wrong": entry.troubles,
    }


def _line(entry: Entry, href: str, agents: dict[Experiment, str], filters: dict[str, dict[str, None]]) -> Line:
    under = _falls_under(entry, agents)
    keys = [" ".join(str(list(options).index(value)) for value in under[what]) for what, options in filters.items()]
    trouble = " · ".join(f"{count} {what}" for what, count in entry.faults.items()) or entry.failure or "–"
    return Line(entry, href, agents.get(entry.experiment, ""), trouble, ",".join(keys))


def _facts(entries: Sequence[Entry], figures: Rows) -> dict[str, str]:
    """What all episodes have in common, by what it is; of the rest, several values are listed."""
    headers = [entry.header for entry in entries if entry.header]
    facts: dict[str, list[Any]] = {
        "system": [header.system for header in headers],
        "seed": [_tasks(header).get("seed", header.seed) for header in headers],
        "started": [header.started.replace("T", " ")[:16] for header in headers[:1]],
    }
    told = {name: ", ".join(dict.fromkeys(str(value) for value in values if value)) for name, values in facts.items()}
    first = {key: value for key, value in figures.common.items() if key in _TOLD}
    return first | {name: text for name, text in told.items() if text}


def _tasks(header: Header) -> dict[str, Any]:
    tasks = header.settings.get("tasks")
    return tasks if isinstance(tasks, dict) else {}


def _details(entries: Sequence[Entry], figures: Rows) -> dict[str, str]:
    """The rest of the common settings, and the programs that played the first episode."""
    rest = [f"{key} {value}" for key, value in figures.common.items() if key not in _TOLD]
    software = next((entry.header.software for entry in entries if entry.header), {})
    told = {"settings": rest, "software": [f"{name} {version}" for name, version in software.items()]}
    return {name: " · ".join(values) for name, values in told.items() if values}


def _silent(done: int, total: int) -> None:
    """Progress that nobody is told of."""


__all__ = ["MOST_IN_ONE", "Options", "Page", "Progress", "write_report", "write_single"]
