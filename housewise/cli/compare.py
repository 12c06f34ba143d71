"""``housewise compare``: two runs on the episodes that both played, as a table."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.plurals import plural
from housewise.core.tables import table
from housewise.report.drawing.inert_text import neutralize_text
from housewise.report.entries import EpisodeEntry, finished_episodes, read_entries
from housewise.rollout.comparison import Comparison, Difference, compare
from housewise.rollout.comparison_settings import experiment_names

_MOST_NAMED = 5


def compare_runs(a: Path, b: Path, json_file: Path | None, console: Console) -> Comparison:
    """Compare two runs and show it.

    Args:
        a, b: their folders, each of one experiment.
        json_file: where the figures go as well.
        console: to show them on.

    Raises:
        UserError: when a folder holds no run or several, or there is no episode that both played.
    """
    ours, theirs = _one(a), _one(b)
    found = compare(finished_episodes(ours), finished_episodes(theirs), (str(a), str(b)))
    _show(found, {"A": ours, "B": theirs}, console)
    if json_file is not None:
        write_json(json_file, found.content)
        console.print(f"figures: {json_file}", markup=False, soft_wrap=True)
    return found


def _one(folder: Path) -> list[EpisodeEntry]:
    """The episodes of a run.

    Raises:
        UserError: when they are of several experiments.
    """
    entries, _ = read_entries(folder, figures_only=True)
    found = experiment_names([entry.experiment for entry in entries if entry.finished])
    if not found:
        raise UserError(f"{folder}: all of its {len(entries)} episodes failed; there is nothing to compare")
    if len(found) > 1:
        raise UserError(
            f"{folder}: holds {len(found)} experiments ({'; '.join(sorted(found.values()))}); name one run's folder"
        )
    return entries


def _show(found: Comparison, entries: dict[str, list[EpisodeEntry]], console: Console) -> None:
    first, second = found.episodes
    say = _Plain(console)
    say(f"A: {found.a}, {plural(first, 'episode')}")
    say(f"B: {found.b}, {plural(second, 'episode')}")
    say(f"in common: {plural(found.common, 'episode')} of {plural(found.tasks, 'task')}")
    for key, (one, other) in found.settings.items():
        say(f"{key}: {one} | {other}")
    for name, only in (("A", found.only_a), ("B", found.only_b)):
        if only:
            say(f"only in {name}: {_listed(only)}")
    for name, members in entries.items():
        failed = [entry.title for entry in members if entry.result is None]
        if failed:
            say(f"failed in {name}: {_listed(failed)}")
    if found.other_tasks:
        say(f"not the same task in both: {_listed(found.other_tasks)}")
    for warning in found.warnings:
        console.print(
            Text.assemble(("warning: ", "bold yellow"), neutralize_text(warning)), soft_wrap=True, highlight=False
        )
    columns = ("mean of", "A", "B", "B - A", "±", "95 % interval", "> = <")
    rows = [(row.figure, *_cells(row, found.common > 1)) for row in found.differences]
    console.print(table("B less A, over the episodes in common", columns, rows))
    if found.common > 1:
        say("±: standard error, the runs of a task as one cluster.")
        say("95 % interval: Student's t. > = <: episodes in which B is higher, the same, lower.")


def _cells(row: Difference, several: bool) -> tuple[str, ...]:
    """The figures of a row; of a single episode there is nothing to tell but the values."""
    form = f".{row.decimals}f"
    error = "–" if row.error is None else f"{row.error:{form}}"
    interval = "–" if row.low is None or row.high is None else f"{row.low:+{form}} to {row.high:+{form}}"
    signs = f"{row.higher} {row.same} {row.lower}" if several else "–"
    return f"{row.a:{form}}", f"{row.b:{form}}", f"{row.mean:+{form}}", error, interval, signs


class _Plain:
    """Prints words that may hold anything."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, text: str) -> None:
        self._console.print(neutralize_text(text), markup=False, highlight=False, soft_wrap=True)


def _listed(experiment_names: list[str]) -> str:
    more = f" and {len(experiment_names) - _MOST_NAMED} more" if len(experiment_names) > _MOST_NAMED else ""
    return "; ".join(experiment_names[:_MOST_NAMED]) + more
