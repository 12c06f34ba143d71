"""``housewise experiment``: play a declared grid of runs and print its table."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from housewise.cli.registration import check_options
from housewise.core.console import Console, print_lines, print_note
from housewise.core.errors import UserError
from housewise.terminal.options import Overrides, RayOption, WorkersOption, execution_option, task_option

if TYPE_CHECKING:
    from housewise.experiments.experiment_file import Experiment
    from housewise.experiments.results_table import ResultsTable
    from housewise.experiments.runner import ExperimentRunner

_LOCK_PATIENCE = 60.0
"""Seconds to wait for another program that records results."""


def experiment(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME|FILE", help="A bundled experiment, or a YAML file. Without it, all are listed."),
    ] = None,
    overrides: Overrides = None,
    only: Annotated[
        list[str] | None,
        task_option("AXIS=LEVEL,...", "Only these levels of an axis. May be given several times."),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        task_option("NAME=PATH", "File or folder that the experiment needs. May be given several times.", "--input"),
    ] = None,
    quick: Annotated[bool, execution_option(None, "Play a small part, in at most three minutes.", "--quick")] = False,
    show: Annotated[bool, execution_option(None, "Play nothing; show what has been played.", "--show")] = False,
    workers: WorkersOption = None,
    ray: RayOption = None,
    out: Annotated[
        Path | None, execution_option("FOLDER", "Folder of runs and table. Default: runs/experiments/NAME.", "--out")
    ] = None,
    results: Annotated[
        Path | None,
        execution_option(
            "FOLDER", "Also write the results there, as in the folder results/; what else was recorded there stays."
        ),
    ] = None,
) -> None:
    """Play an experiment: a grid of runs declared in a file, whose results are a table with a row per episode.

    Examples:

      # all bundled experiments, with what each shows and about how long it takes
      housewise experiment

      housewise experiment new_houses --quick

      # one of your own (docs/experiments.md)
      housewise experiment mine.yaml --workers 4

    The same command resumes an experiment that was stopped: finished episodes are not played again.
    """
    console = Console()
    if name is None:
        check_options(context, (), "is about one experiment; name the experiment as well")
        _list(console)
        return
    from housewise.experiments.catalogue import find_experiment, load_experiment
    from housewise.experiments.results_table import make_table, read_table
    from housewise.experiments.runner import ExperimentRunner
    from housewise.rollout.data_frames import import_pandas
    from housewise.terminal.selftrain_progress import TrainingDisplay

    import_pandas()
    found, path = find_experiment(name)
    spec = load_experiment(path)
    levels: dict[str, list[str]] = {}
    for axis, named in map(_split_pair, only or ()):
        # The name of a level may hold a comma.
        levels.setdefault(axis, []).extend([named] if named in spec.axes.get(axis, {}) else named.split(","))
    chosen = spec.for_quick(levels) if quick else spec.with_levels(levels)
    if not show:
        chosen = chosen.with_levels(_leave_out_missing(chosen, levels))
    base = Path("runs") / "experiments"
    folder = out or base / f"{spec.folder or found}{'-quick' if quick else ''}"
    execution = {key: value for key, value in (("workers", workers), ("ray", ray)) if value is not None}
    runner = ExperimentRunner(
        chosen,
        folder,
        TrainingDisplay(console),
        overrides or (),
        execution,
        dict(map(_split_pair, inputs or ())),
        quick,
    )
    short = found.rpartition("/")[2]
    kept = results / Path(found).parent / f"{short}.csv" if results else None
    if kept is not None and kept.exists():
        # A damaged file is told of before anything is played.
        read_table(kept)
    if not show:
        try:
            runner.check()
        except UserError as error:
            raise type(error)(f"{name}: {error}") from error
        console.print(Text(f"{spec.title}: {len(runner.grid.runs)} runs in {folder}"), soft_wrap=True)
        runner.play()
    made = make_table(found, runner)
    if show and made.frame.empty:
        raise UserError(f"{folder}: nothing has been played there; leave out --show to play it")
    # A part of what has been played is no reason to replace the files of all of it.
    written = _print(made, chosen, None if show and only else folder, short, console)
    if kept is not None:
        written += _record(made, replace(runner, experiment=spec), kept)
    for each in written:
        console.print(Text(str(each)), soft_wrap=True)


def _leave_out_missing(spec: Experiment, named: Collection[str]) -> dict[str, list[str]]:
    """Return the levels whose optional modules are installed, by axis, and print the others. Named axes keep all."""
    playable: dict[str, list[str]] = {axis: [] for axis in spec.axes if axis not in named}
    for axis, kept in playable.items():
        for name, level in spec.axes[axis].items():
            missing = [module for module in level.needs if not _is_installed(module)]
            if missing:
                print_note(f"{axis} {name} is left out: {', '.join(missing)} is not installed")
            else:
                kept.append(name)
        if not kept:
            raise UserError(f"axis {axis}: no level can be played without the modules that are not installed")
    return playable


def _is_installed(module: str) -> bool:
    """Whether a module can be imported, such as ``vllm`` or ``rerun.dataframe``."""
    try:
        return find_spec(module) is not None
    except ImportError:
        # The package that the module is in is missing or cannot be imported.
        return False


def _split_pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise UserError(f"{text!r}: write NAME=VALUE")
    return name, value


def _print(made: ResultsTable, spec: Experiment, folder: Path | None, name: str, console: Console) -> list[Path]:
    """Print the tables, write them to a folder if there is one, and return the paths of its files."""
    from housewise.core.files import write_text
    from housewise.experiments.tables import format_differences, format_results

    tables = [format_results(made, spec), *format_differences(made, spec.table, spec.compare)]
    for each in tables:
        console.print(each)
        for note in each.notes:
            console.print(Text(note))
    if folder is None:
        return []
    markdown = folder / f"{name}.md"
    write_text(markdown, "\n".join(each.markdown for each in tables))
    return [*made.write(folder, name), markdown]


def _record(made: ResultsTable, whole: ExperimentRunner, path: Path) -> list[Path]:
    """Write a table over the recorded one, whose other cells stay."""
    from housewise.core.folder_locks import exclusive_lock
    from housewise.experiments.results_table import read_table

    with exclusive_lock(path.parent, _LOCK_PATIENCE, may_hold_links=True):
        # Other programs may have recorded cells while this one played, so that the table is read only now.
        if path.exists():
            made = _merge(made, read_table(path), whole, path)
        return made.write(path.parent, path.stem)


def _merge(made: ResultsTable, recorded: ResultsTable, whole: ExperimentRunner, path: Path) -> ResultsTable:
    """Add the cells of a recorded table that were not measured again, and print how many there are."""
    from housewise.experiments.merged_results import merge_results

    merged = merge_results(made, recorded, whole)
    if merged.kept:
        print_note(f"{path}: {merged.kept} rows of cells that were not played here are kept")
    if merged.left_out:
        reason = "since they were measured with other settings, or the table does not say with which"
        print_note(f"{path}: {merged.left_out} rows are left out, {reason}")
    if merged.removed_measures:
        reason = "since the experiment no longer has their measures"
        print_note(f"{path}: {merged.removed_measures} rows are left out, {reason}")
    return merged.table


def _list(console: Console) -> None:
    from housewise.experiments.catalogue import bundled_experiments, load_experiment

    for name, path in bundled_experiments().items():
        spec = load_experiment(path)
        for line in (Text.assemble((name, "bold"), f": {spec.duration}"), Text(f"  {spec.shows}")):
            # Lines of a file or a pipe stay whole.
            wrapped = line.wrap(console, console.width - 2) if console.is_terminal else [line]
            console.print(Text("\n  ").join(wrapped), soft_wrap=True)
    print_lines(
        console,
        "",
        "a small part in at most three minutes: housewise experiment NAME --quick",
        "all of it, which the same command resumes: housewise experiment NAME",
    )
