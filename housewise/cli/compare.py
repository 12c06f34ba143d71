"""``housewise compare``: two runs on the episodes that both played, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from housewise.core.console import Console, print_lines
from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.formatting import join_names, plural
from housewise.terminal.options import JsonFileOption

if TYPE_CHECKING:
    from housewise.report.entries import EpisodeEntry
    from housewise.rollout.comparison import Comparison

_MAX_NAMED = 5


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Folder of a run.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Folder of another run.")],
    json_file: JsonFileOption = None,
) -> None:
    """Compare two runs on the episodes that both played: mean paired differences, B minus A, with their intervals.

    Examples:

      housewise compare runs/untrained runs/trained

      housewise compare runs/scripted runs/local --json difference.json
    """
    compare_runs(a, b, json_file, Console())


def compare_runs(a: Path, b: Path, json_file: Path | None, console: Console) -> Comparison:
    """Compare two runs and print the comparison.

    Args:
        a: Folder of a run of one experiment.
        b: Folder of another one.
        json_file: File that the figures are also written to.
        console: Where the comparison is printed.

    Raises:
        UserError: A folder holds no run or several, or the runs have no episode in common.
    """
    from housewise.report.entries import finished_episodes
    from housewise.rollout.comparison import compare as compare_episodes

    entries = {"A": _read_run(a), "B": _read_run(b)}
    found = compare_episodes(finished_episodes(entries["A"]), finished_episodes(entries["B"]), (str(a), str(b)))
    _print_comparison(found, entries, console)
    if json_file is not None:
        write_json(json_file, found.content)
        print_lines(console, f"figures: {json_file}")
    return found


def _read_run(folder: Path) -> list[EpisodeEntry]:
    """Read the episodes of a run.

    Raises:
        UserError: The folder holds no finished episode, or episodes of several experiments.
    """
    from housewise.report.entries import read_entries
    from housewise.rollout.comparison_settings import experiment_names

    entries, _ = read_entries(folder, figures_only=True)
    found = experiment_names([entry.experiment for entry in entries if entry.finished_episode])
    if not found:
        raise UserError(f"{folder}: all of its {len(entries)} episodes failed; there is nothing to compare")
    if len(found) > 1:
        raise UserError(
            f"{folder}: holds {len(found)} experiments ({'; '.join(sorted(found.values()))}); name one run's folder"
        )
    return entries


def _print_comparison(found: Comparison, entries: dict[str, list[EpisodeEntry]], console: Console) -> None:
    from housewise.core.tables import FittedTable
    from housewise.report.drawing.control_characters import neutralize_text
    from housewise.rollout.comparison import COLUMNS

    first, second = found.episodes
    lines = [
        f"A: {found.a}, {plural(first, 'episode')}",
        f"B: {found.b}, {plural(second, 'episode')}",
        f"in common: {plural(found.common, 'episode')} of {plural(found.tasks, 'task')}",
        *(f"{key}: {one} | {other}" for key, (one, other) in found.settings.items()),
    ]
    failed = {name: [entry.title for entry in rows if entry.result is None] for name, rows in entries.items()}
    for heading, names in (
        ("only in A", found.only_a),
        ("only in B", found.only_b),
        *((f"failed in {name}", titles) for name, titles in failed.items()),
        ("different tasks in A and B", found.other_tasks),
    ):
        if names:
            lines.append(f"{heading}: {join_names(names, _MAX_NAMED, '; ')}")
    print_lines(console, *map(neutralize_text, lines))
    for warning in found.warnings:
        print_lines(console, Text.assemble(("warning: ", "bold yellow"), neutralize_text(warning)))
    console.print(FittedTable("B minus A, over the episodes in common", COLUMNS, found.rows))
    if found.common > 1:
        print_lines(
            console,
            "±: standard error over tasks; the repeats of a task form one cluster.",
            "95 % interval: Student's t. > = <: number of episodes in which B is higher, equal, lower.",
        )
