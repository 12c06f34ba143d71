"""``housewise report``: pages about runs."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from housewise.core.console import Console, print_lines, print_note
from housewise.core.errors import UserError
from housewise.core.hardware import usable_cores
from housewise.terminal.option_values import simulator_choice
from housewise.terminal.options import SimulatorOptions, option
from housewise.terminal.run_folders import newest_run

_MAX_WORKERS = 4


def report(
    renderer: SimulatorOptions,
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            help="Folder of a run, of several runs, or of a self-training. Default: the newest run or self-training in "
            "runs/.",
        ),
    ] = None,
    films: Annotated[
        list[str] | None,
        option(
            "all|N|EPISODE",
            "Episodes that get camera pictures and a film: all, the N worst (default: 20), or the name of one "
            "more. May be given several times.",
        ),
    ] = None,
    film: Annotated[bool, typer.Option(help="Make films as well as pictures.")] = True,
    single: Annotated[
        bool, option(None, "Write one self-contained file, with pictures of some episodes.", "--single")
    ] = False,
    max_episodes: Annotated[
        int | None, option("N", "Number of episodes in the file of --single, worst first. Default: 12.", min=0)
    ] = None,
    against: Annotated[
        Path | None, option("FOLDER", "Folder of another run. Adds the paired differences to it.", "--compare")
    ] = None,
    fresh: Annotated[
        bool, option(None, "Make all pages again, for example in a folder from another machine.", "--fresh")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes that make pages. Default: one per core, at most 4.")
    ] = None,
    show: Annotated[bool, option(None, "Open the report in the browser.", "--open")] = False,
) -> None:
    """Make a report of a run: an index of all episodes, worst first, and a page with map and plans for each.

    Examples:

      housewise report --open

      housewise report runs/trained --films all

      housewise report runs/trained --films generated-3-0003-run0

      housewise report runs/trained --compare runs/untrained

      housewise report runs/trained --single --max-episodes 3

    The index with all figures, report.html, is written first. The pages are in report/ beside it. Camera pictures and
    films take longest: only the twenty worst episodes and those of --films have them. Pages that are up to date are not
    made again.
    """
    from housewise.core.progress import progress_bars
    from housewise.report import MAX_IN_ONE, ReportOptions, write_report, write_single
    from housewise.report.selftraining_report import is_selftraining_folder, write_selftraining_report

    if max_episodes is not None and not single:
        raise UserError("--max-episodes: is the number of episodes in the file of --single; give --single too")
    folder = folder or newest_run(nested=True)
    if is_selftraining_folder(folder):
        for given, name in ((single, "--single"), (against is not None, "--compare")):
            if given:
                raise UserError(f"{name}: {folder} is a self-training; name one of its runs, or leave {name} out")
    options = ReportOptions(film, simulator_choice(**vars(renderer)), *_select_pictured(films or []))
    count = workers or min(usable_cores(), _MAX_WORKERS)
    console = Console()
    with progress_bars(console, shown=console.is_terminal) as progress:
        task = progress.add_task("figures", total=None)

        def show_progress(what: str, done: int, total: int) -> None:
            if done == 0:
                # The remaining time is estimated from items of this kind alone.
                progress.reset(task, total=total, description=what)
            progress.update(task, completed=done)

        def show_progress_and_index(what: str, done: int, total: int) -> None:
            if (what, done) == ("pages", 0) and total:
                print_lines(console, f"all figures: {folder / 'report.html'}; its pages follow")
            show_progress(what, done, total)

        if is_selftraining_folder(folder):
            path = write_selftraining_report(folder, options, fresh, count, show_progress)
        elif single:
            shown = MAX_IN_ONE if max_episodes is None else max_episodes
            path = write_single(folder, options=options, against=against, max_episodes=shown, progress=show_progress)
        else:
            path = write_report(
                folder, options=options, against=against, fresh=fresh, workers=count, progress=show_progress_and_index
            )
    print_lines(console, f"report: {path}")
    if show:
        open_in_browser(path)


def _select_pictured(films: Sequence[str]) -> tuple[int | None, tuple[str, ...]]:
    """Return how many of the worst episodes get pictures (None: all), and the names of further episodes."""
    from housewise.report import WORST

    numbers = [int(each) for each in films if each.isdecimal()]
    worst = max(numbers) if numbers else WORST
    return None if "all" in films else worst, tuple(each for each in films if each != "all" and not each.isdecimal())


def open_in_browser(page: Path) -> None:
    """Open a page in the browser, or print where it is if no browser can be opened."""
    if not webbrowser.open(page.resolve().as_uri()):
        print_note(f"no browser could be opened here; open {page} in one")
