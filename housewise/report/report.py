"""Writes reports: an index of all episodes with a page for each, or a single file with everything."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from housewise.core.errors import UserError
from housewise.core.files import write_text
from housewise.core.record import Header
from housewise.report.drawing.images import data_uri
from housewise.report.entries import EpisodeEntry, finished_episodes, read_entries
from housewise.report.episode_pages import (
    WORST,
    EpisodePage,
    PageWriter,
    Progress,
    ReportOptions,
    can_have_pictures,
    illustrate_command,
    link_neighbours,
    make_content,
    open_page_writer,
    plan_pages,
)
from housewise.report.experiment_tables import (
    ExperimentTables,
    find_stale_metrics,
    group_by_experiment,
    make_tables,
    overall_row,
)
from housewise.report.rendering import render
from housewise.report.side_by_side import plan_side_by_side, together_files
from housewise.report.views.base import EpisodeContent, ScoreCell
from housewise.rollout.comparison import Comparison, compare
from housewise.rollout.comparison_settings import Experiment, experiment_names
from housewise.rollout.scores import summarize, truncation_warning
from housewise.rollout.system import reply_limit_name

MAX_IN_ONE = 12
"""Default number of episodes that a single-file report shows with pictures."""

# Indexes of at most this many episodes show films.
_MAX_FILMS = 6
_HEADLINE_SETTINGS = ("planner", "model", "adapter", "prompt", "preferences of", "simulator")


@dataclass(frozen=True)
class IndexLink:
    """Links of an episode in the index; each is empty if there is no target.

    Attributes:
        page: URL of its page.
        film: URL of its film.
        poster: URL of the film's still picture.
        together: URL of the page that shows the episode beside others of its task.
    """

    page: str = ""
    film: str = ""
    poster: str = ""
    together: str = ""


@dataclass(frozen=True)
class IndexRow:
    """An episode in the index.

    Attributes:
        entry: The episode.
        link: Links of the episode.
        agent: Name of the agent.
        trouble: What went wrong, in words, or an empty text.
        filter_options: For each filter, separated by commas, the numbers of its options that apply to the episode.
    """

    entry: EpisodeEntry
    link: IndexLink
    agent: str
    trouble: str
    filter_options: str

    @cached_property
    def cells(self) -> list[ScoreCell]:
        """Further scores of the episode; empty for a failed one."""
        return [] if self.entry.result is None else self.entry.view.cells(self.entry.result)


def write_report(
    folder: Path,
    out: Path | None = None,
    options: ReportOptions | None = None,
    *,
    against: Path | None = None,
    fresh: bool = False,
    workers: int = 1,
    progress: Progress | None = None,
) -> Path:
    """Write an index of a run, and a page for each of its episodes in a folder beside it.

    The index is written first, then all pages from the records alone, then the pictures and films of the chosen
    episodes. Current pages are kept. After an interrupt, the pages that exist are kept and linked.

    Args:
        folder: Folder of a run (it has `episodes/`), or a folder with several runs.
        out: Path of the index, by default `<folder>/report.html`. The folder of the pages has its name without ending.
        options: How pages are written.
        against: Folder of another run to compare with.
        fresh: Whether pages are written again even if they are current.
        workers: Number of processes that write pages.
        progress: Called for each page.

    Returns:
        Path of the index.

    Raises:
        UserError: The folder has no episodes, or a page cannot be written.
    """
    index = out or folder / "report.html"
    entries, notes = read_entries(folder)
    comparisons = _compare_with(folder, entries, against)
    name = folder.resolve().name
    pages = index.with_suffix("")
    together = plan_side_by_side(entries, pages, index, name)
    wanted = plan_pages(entries, folder, pages, index, name, options or ReportOptions(), together_files(together))
    plain = [replace(page, has_pictures=False) for page in wanted]
    missing = [page for page in plain if fresh or not page.is_current]
    pictured = [page for page in wanted if page.has_pictures and (fresh or not page.is_current)]

    def update_index() -> None:
        """Write the index with links to the pages that exist now, and link neighbouring pages."""
        _write_index(
            index, folder, entries, notes, _links(index, wanted), comparisons, _completeness_notes(folder, wanted)
        )
        link_neighbours(wanted)

    update_index()
    try:
        with open_page_writer(min(workers, max(len(missing), len(pictured)))) as make:
            _make_all(make, missing, "pages", progress or _no_progress)
            for page in together:
                if fresh or not page.is_current:
                    page.write()
            if missing and pictured:
                update_index()
            _make_all(make, pictured, "pictures and films", progress or _no_progress)
    finally:
        update_index()
    return index


def _make_all(make: PageWriter, wanted: Sequence[EpisodePage], what: str, progress: Progress) -> None:
    progress(what, 0, len(wanted))
    for done, _ in enumerate(make(wanted), start=1):
        progress(what, done, len(wanted))


def _links(index: Path, all_pages: Sequence[EpisodePage]) -> list[IndexLink]:
    """Return the links of each episode in the index. Films are shown if there are few episodes."""

    def address(path: Path | None) -> str:
        return quote(path.relative_to(index.parent).as_posix()) if path and path.is_file() else ""

    has_films = len(all_pages) <= _MAX_FILMS
    return [
        IndexLink(
            address(page.file),
            address(page.film) if has_films else "",
            address(page.poster) if has_films else "",
            address(page.together),
        )
        for page in all_pages
    ]


def _completeness_notes(folder: Path, all_pages: Sequence[EpisodePage]) -> dict[str, Any]:
    """Return what the index says about missing pages and pictures, and the commands that create them."""
    missing = sum(not page.is_there for page in all_pages)
    command = shlex.join(["housewise", "report", str(folder)])
    limits = [f"{missing} of {len(all_pages)} pages are still to be made: {command}"] if missing else []
    count = sum(page.has_pictures for page in all_pages)
    possible = sum(can_have_pictures(page.entry) for page in all_pages)
    if count < possible:
        limits.append(
            f"{count} of {possible} episodes have camera pictures and films: the worst and those that are asked for. "
            f"For all: {illustrate_command(folder, 'all')}; for one, its record's name in place of all."
        )
    return {"limits": limits, "beside": True}


def write_single(
    folder: Path,
    out: Path | None = None,
    options: ReportOptions | None = None,
    *,
    against: Path | None = None,
    max_episodes: int = MAX_IN_ONE,
    progress: Progress | None = None,
) -> Path:
    """Write a self-contained file for a run.

    Args:
        folder: See `write_report`.
        out: See `write_report`.
        options: See `write_report`.
        against: See `write_report`.
        max_episodes: Maximum number of episodes that are shown: the worst ones and those that the options name. The
            tables have all episodes.
        progress: See `write_report`.

    Raises:
        UserError: See `write_report`.
    """
    index, options, tell = out or folder / "report.html", options or ReportOptions(), progress or _no_progress
    entries, notes = read_entries(folder)
    comparisons = _compare_with(folder, entries, against)
    pictured, named = options.choose_illustrated(entries), replace(options, worst=0).choose_illustrated(entries)
    # read_entries returns the worst episode first.
    played = [place for place, entry in enumerate(entries) if entry.result]
    shown = [place for rank, place in enumerate(played) if rank < max_episodes or entries[place].key in named]
    contents: list[EpisodeContent] = []
    for done, place in enumerate(shown):
        tell("episodes", done, len(shown))
        simulator = options.simulator if entries[place].key in pictured else None
        save_film = (lambda film: data_uri(film.data)) if options.film and simulator else None
        contents.append(make_content(done + 1, entries[place], simulator, save_film))
    tell("episodes", len(shown), len(shown))
    links = [IndexLink(f"#e{shown.index(place) + 1}" if place in shown else "") for place in range(len(entries))]
    with_pictures = sum(entries[place].key in pictured and can_have_pictures(entries[place]) for place in shown)
    how = f", {with_pictures} of them with pictures" if with_pictures else ""
    how = " with pictures" if with_pictures == len(shown) else how
    limit = f"{len(shown)} of {len(entries)} episodes are shown below{how}, the worst first."
    more = {"limits": [limit] if len(shown) < len(entries) else [], "beside": False, "contents": contents}
    _write_index(index, folder, entries, notes, links, comparisons, more)
    return index


def _write_index(
    index: Path,
    folder: Path,
    entries: Sequence[EpisodeEntry],
    notes: Sequence[str],
    links: Sequence[IndexLink],
    comparisons: Sequence[Comparison],
    more: dict[str, Any],
) -> None:
    episodes = finished_episodes(entries)
    figures = make_tables(episodes)
    agents = experiment_names([entry.experiment for entry in entries if entry.header])
    filters = _filters(entries, agents)
    failed = sum(entry.result is None for entry in entries)
    told = [f"{failed} of {len(entries)} episodes failed and are in no mean."] if failed else []
    limits = sorted({reply_limit_name(header.system) for header, _ in episodes})
    if cut := truncation_warning(summarize([result for _, result in episodes], ()), " or ".join(limits)):
        told.append(f"{cut}.")
    lines = [_index_row(entry, link, agents, filters) for entry, link in zip(entries, links, strict=True)]
    # An episode that failed while it was opened has no header, and sorts first.
    first = next((entry for entry in entries if entry.header), entries[0])
    view = first.view
    facts: dict[str, Any] = {
        "made": "",
        "name": folder.resolve().name,
        "facts": _facts(entries, figures),
        "details": _details(entries, figures),
        "notes": [*told, *notes, *filter(None, [find_stale_metrics(folder, episodes) if episodes else ""])],
        "overall": overall_row(episodes),
        "view": view,
        "main_score": first.main_score,
        "rows": figures,
        "comparisons": [*comparisons, *figures.comparisons],
        "lines": lines,
        "films": [line for line in lines if line.link.film and line.link.poster],
        "columns": [
            place
            for place in range(len(view.columns))
            if any(line.cells and line.cells[place].text != "–" for line in lines)
        ],
        "has_troubles": any(line.trouble for line in lines),
        "filters": {what: list(options) for what, options in filters.items()},
        "several_agents": len(agents) > 1,
        "several_runs": len({entry.run for entry in entries}) > 1,
        "contents": [],
        "command": "",
    }
    write_text(index, render("index.html", {**facts, **more}))


def _compare_with(folder: Path, entries: Sequence[EpisodeEntry], other: Path | None) -> list[Comparison]:
    """Compare each experiment of a folder with the experiment of another folder."""
    if other is None:
        return []
    theirs = group_by_experiment(finished_episodes(read_entries(other, figures_only=True)[0]))
    if len(theirs) != 1:
        raise UserError(f"{other}: holds {len(theirs)} experiments; name the folder of one run to compare with")
    (members,) = theirs.values()
    ours = group_by_experiment(finished_episodes(entries))
    called = experiment_names([*ours])
    return [
        compare(members, episodes, (other.name, f"{folder.resolve().name} · {called[experiment]}"))
        for experiment, episodes in ours.items()
    ]


def _filters(entries: Sequence[EpisodeEntry], agents: dict[Experiment, str]) -> dict[str, dict[str, None]]:
    """Return the options of each filter. A filter with a single option is left out, except "went wrong"."""
    found = {what: dict.fromkeys(sorted(options)) for what, options in _filter_values(entries, agents).items()}
    return {what: options for what, options in found.items() if len(options) > 1 or (what == "went wrong" and options)}


def _filter_values(entries: Sequence[EpisodeEntry], agents: dict[Experiment, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for entry in entries:
        for what, values in _filter_keys(entry, agents).items():
            found.setdefault(what, set()).update(values)
    return found


def _filter_keys(entry: EpisodeEntry, agents: dict[Experiment, str]) -> dict[str, list[str]]:
    header = entry.header
    state = "all in place" if entry.in_place else "not all in place"
    return {
        "played by": [agents[entry.experiment]] if header else [],
        "scene": [header.group.partition("/")[0]] if header else [],
        "person": [header.person] if header else [],
        "state": [state if entry.result else "failed"],
        "ended": [entry.end_label],
        "went wrong": entry.troubles,
    }


def _index_row(
    entry: EpisodeEntry, link: IndexLink, agents: dict[Experiment, str], filters: dict[str, dict[str, None]]
) -> IndexRow:
    under = _filter_keys(entry, agents)
    keys = [" ".join(str(list(options).index(value)) for value in under[what]) for what, options in filters.items()]
    trouble = " · ".join(f"{count} {what}" for what, count in entry.faults.items()) or entry.failure
    return IndexRow(entry, link, agents.get(entry.experiment, ""), trouble, ",".join(keys))


def _facts(entries: Sequence[EpisodeEntry], figures: ExperimentTables) -> dict[str, str]:
    """Return the facts that all episodes share, by name. Several values of one fact are listed."""
    headers = [entry.header for entry in entries if entry.header]
    begun = [header.started for header in headers]
    facts: dict[str, list[Any]] = {
        "system": [header.system for header in headers],
        "seed": [_tasks(header).get("seed", header.seed) for header in headers],
        # The first one, in whatever order the episodes are listed.
        "started": [f"{started.replace('T', ' ')[:16]} UTC" for started in sorted(filter(None, begun))[:1]],
    }
    told = {
        name: ", ".join(dict.fromkeys(str(value) for value in values if value not in (None, "")))
        for name, values in facts.items()
    }
    first = {key: value for key, value in figures.common.items() if key in _HEADLINE_SETTINGS}
    return first | {name: text for name, text in told.items() if text}


def _tasks(header: Header) -> dict[str, Any]:
    tasks = header.settings.get("tasks")
    return tasks if isinstance(tasks, dict) else {}


def _details(entries: Sequence[EpisodeEntry], figures: ExperimentTables) -> dict[str, str]:
    """Return the remaining common settings, and the software versions of the first episode."""
    rest = [f"{key} {value}" for key, value in figures.common.items() if key not in _HEADLINE_SETTINGS]
    software = next((entry.header.software for entry in entries if entry.header), {})
    told = {"settings": rest, "software": [f"{name} {version}" for name, version in software.items()]}
    return {name: " · ".join(values) for name, values in told.items() if values}


def _no_progress(what: str, done: int, total: int) -> None:
    """Ignore the progress."""


__all__ = ["MAX_IN_ONE", "WORST", "EpisodePage", "Progress", "ReportOptions", "write_report", "write_single"]
