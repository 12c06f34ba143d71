"""Options of the table of houses, and how it is played, printed and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

from housewise.core.console import Console
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import check_writable, check_writable_file, write_text
from housewise.core.formatting import format_duration
from housewise.core.plots import new_figure
from housewise.core.text_files import read_json
from housewise.experiments.quick import say_left_out
from housewise.experiments.results import Results, write
from housewise.selftrain.training_folder import TrainingObserver
from housewise.systems.personalize.system import Personalize
from housewise.terminal.selftrain_progress import TrainingDisplay


class Experiment(Protocol):
    """What a table takes."""

    name: str

    def play(self, observer: TrainingObserver) -> None:
        """Play, and learn, what is still missing."""
        ...

    def results(self) -> list[Results]:
        """Tables of what is there, the main one first."""
        ...

    def extra_results(self) -> dict[str, Any]:
        """Whatever else belongs in the JSON file."""
        ...


def carry_out(
    experiment: Experiment,
    out: Path,
    only_show: bool,
    console: Console,
    setup: Mapping[str, Any],
    json_file: Path | None = None,
) -> None:
    """Play what is missing, then print and write what there is; that also when the playing is cut short.

    Args:
        experiment: what to do, and to print.
        out: folder for the tables.
        only_show: play nothing.
        console: where progress and tables go.
        setup: settings for the JSON file; ``quick`` has to be what it was in this folder.
        json_file: where the JSON file goes as well.

    Raises:
        UserError: when something outside the program is wrong; what is finished is kept and shown.
    """
    _check_quick(out / f"{experiment.name}.json", bool(setup["quick"]))
    # Now rather than after hours of playing.
    new_figure(1, 1)
    if not only_show:
        check_writable(out)
        say_left_out(bool(setup["quick"]), "one task of each kind, played once, for a few steps")
        # A copy: what there is of results is read once.
        console.print(measured_ahead(deepcopy(experiment).results()), soft_wrap=True)
    try:
        if not only_show:
            experiment.play(TrainingDisplay(console))
    finally:
        for each in experiment.results():
            each.show(console)
        paths = write(experiment.results(), out, experiment.name, {**experiment.extra_results(), **setup})
        if json_file is not None:
            paths.append(json_file)
            write_text(json_file, (out / f"{experiment.name}.json").read_text(encoding="utf-8"))
        console.print(f"written: {', '.join(map(str, paths))}", soft_wrap=True)


_BUNDLED_SECONDS = Personalize.seconds_per_episode[1] or 0.0


def measured_ahead(results: Sequence[Results]) -> str:
    """How many episodes some tables measure, and roughly how long those take that are missing, in a line.

    Args:
        results: the tables, as far as they have been played; rows and columns of one name are the same episodes.
    """
    cells = {(cell.row, cell.column): cell for each in results for cell in each.cells if cell.expected}
    expected = sum(cell.expected or 0 for cell in cells.values())
    done = sum((cell.ours.episodes or 0) if cell.ours else 0 for cell in cells.values())
    left = max(expected - done, 0)
    there = f", {done} of them there already" if done else ""
    return (
        f"{len(cells)} figures over {expected} episodes{there}; at {_BUNDLED_SECONDS:.0f} s each, as with the bundled "
        f"model and its adapter on two CPU cores, {format_duration(left * _BUNDLED_SECONDS)}, besides what is "
        "learned from"
    )


def _check_quick(earlier: Path, quick: bool) -> None:
    """Quick figures are not to be taken for others, nor others for quick ones."""
    try:
        was = read_json(earlier)["quick"]
    except (UserError, ValueError, KeyError, TypeError):
        return
    if was != quick:
        words = {True: "with --quick", False: "without --quick"}
        raise UserError(f"{earlier.parent}: holds figures {words[was]}; choose another folder with --out")


RowsOption = Annotated[list[str] | None, typer.Option("--row", help="Only this row; may be given several times.")]
OutOption = Annotated[
    Path | None,
    typer.Option(help="Everything goes there, and what is there is gone on with; runs/<name>, or runs/<name>-quick."),
]
AdapterOption = Annotated[
    str | None,
    typer.Option(help="Adapter to start from, as for housewise run: its rows are marked, baselines lack it."),
]
SeedsOption = Annotated[
    list[int] | None, typer.Option("--seed", min=0, help="Of all that is drawn; may be given several times.")
]
ShowOption = Annotated[bool, typer.Option("--show", help="Play nothing: show what is there, and write the files anew.")]


JsonOption = Annotated[
    Path | None, typer.Option("--json", callback=check_writable_file, help="Write the JSON file there as well.")
]


def default_out(name: str, quick: bool) -> Path:
    """Where an experiment's files go when nobody says."""
    return Path("runs") / (f"{name}-quick" if quick else name)


def chosen_rows(asked: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """The rows of a table.

    Raises:
        UserError: for one that it does not have.
    """
    for row in asked or ():
        if row not in known:
            raise UserError(f"no row {row!r}; {suggest_names(row, known)}")
    return [row for row in known if not asked or row in asked]
