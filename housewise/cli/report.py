"""The commands that look at what has been played: ``report``, ``compare`` and ``export``."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from housewise.cli.option_values import simulator_choice
from housewise.cli.options import GpuOption, SimulatorOption
from housewise.cli.run_folders import newest_run
from housewise.core.console import Console, print_note
from housewise.core.files import check_writable_file
from housewise.core.provenance import usable_cores

_MOST_WORKERS = 4


def report(
    folder: Annotated[
        Path | None,
        typer.Argument(help="Folder of a run, of several runs, or of a self-training; the newest in runs/ by default."),
    ] = None,
    films: Annotated[
        list[str] | None,
        typer.Option(
            metavar="all|N|EPISODE",
            help="Episodes with camera pictures and a film: all, the N worst (20 by default), or one by name as well; "
            "may be given several times.",
        ),
    ] = None,
    film: Annotated[bool, typer.Option(help="Make films as well as pictures.")] = True,
    single: Annotated[bool, typer.Option("--single", help="One self-contained file, with pictures of some.")] = False,
    most: Annotated[int, typer.Option(min=0, help="How many episodes --single shows, worst first.")] = 12,
    against: Annotated[
        Path | None, typer.Option("--compare", help="Folder of another run: paired differences to it.")
    ] = None,
    simulator: SimulatorOption = None,
    gpu: GpuOption = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Make all pages again, as for a folder from elsewhere.")
    ] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes that make pages.")] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
) -> None:
    """Make pages of a run: an index of all episodes, worst first, and for each one its map and its plans.

    The index is report.html and comes first, with all figures; the pages are in report/ beside it. Camera pictures and
    films take longest: the worst twenty episodes have them, and those that --films names. Pages that are up to date are
    not made again.

    Examples:

      housewise report --open

      housewise report runs/trained --films all

      housewise report runs/trained --films generated-3-0003-run0

      housewise report runs/trained --compare runs/untrained

      housewise report runs/trained --single --most 3
    """
    from housewise.core.tables import progress_bars
    from housewise.report import ReportOptions, write_report, write_single
    from housewise.report.selftraining_report import is_selftraining_folder, write_selftraining_report

    folder = folder or newest_run(of_several=True)
    options = ReportOptions(film, simulator_choice(simulator, gpu), *_pictured(films or []))
    count = workers or min(usable_cores(), _MOST_WORKERS)
    console = Console()
    with progress_bars(console, shown=console.is_terminal) as progress:
        task = progress.add_task("figures", total=None)

        def tell(what: str, done: int, total: int) -> None:
            if done == 0:
                # The time left goes by how long one of this kind takes.
                progress.reset(task, total=total, description=what)
            progress.update(task, completed=done)

        def tell_with_index(what: str, done: int, total: int) -> None:
            if (what, done) == ("pages", 0) and total:
                console.print(f"all figures: {folder / 'report.html'}; its pages follow", soft_wrap=True, markup=False)
            tell(what, done, total)

        if is_selftraining_folder(folder):
            path = write_selftraining_report(folder, options, workers=count, progress=tell)
        elif single:
            path = write_single(folder, options=options, against=against, most=most, progress=tell)
        else:
            path = write_report(
                folder, options=options, against=against, fresh=fresh, workers=count, progress=tell_with_index
            )
    console.print(f"report: {path}", soft_wrap=True, markup=False, highlight=False)
    if show:
        open_in_browser(path)


def _pictured(films: Sequence[str]) -> tuple[int | None, tuple[str, ...]]:
    """How many of the worst episodes have pictures, None for all, and the names of further ones."""
    from housewise.report import WORST

    numbers = [int(each) for each in films if each.isdecimal()]
    worst = max(numbers) if numbers else WORST
    return None if "all" in films else worst, tuple(each for each in films if each != "all" and not each.isdecimal())


def open_in_browser(page: Path) -> None:
    """Open a page in the browser, or say in a line that there is none."""
    if not webbrowser.open(page.resolve().as_uri()):
        print_note(f"no browser could be opened here; open {page} in one")


def compare(
    a: Annotated[Path, typer.Argument(help="Folder of a run.")],
    b: Annotated[Path, typer.Argument(help="Folder of another run.")],
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the figures there as well.")
    ] = None,
) -> None:
    """Compare two runs on the episodes that both played: mean paired differences, B less A, with their intervals.

    Examples:

      housewise compare runs/untrained runs/trained

      housewise compare runs/scripted runs/local --json difference.json
    """
    from housewise.cli.compare import compare_runs

    compare_runs(a, b, json_file, Console())


def export(
    folder: Annotated[Path | None, typer.Argument(help="Folder of a run; the newest in runs/ by default.")] = None,
    to: Annotated[str, typer.Option(metavar="FORMAT", help="rerun or lerobot.")] = "rerun",
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="A new folder; one in the run's folder by default.")
    ] = None,
    simulator: SimulatorOption = None,
    gpu: GpuOption = None,
) -> None:
    """Export a run: its episodes are played again and written for other tools.

    rerun makes a recording of each episode for the viewer of Rerun: what the robot sees, where it and everything is,
    plans, events, rewards; it takes pip install 'housewise[rerun]'. lerobot makes one LeRobotDataset (Parquet and MP4)
    to train policies with; it takes pip install 'housewise[lerobot]'. Nothing is uploaded.

    Examples:

      housewise export runs/scripted

      housewise export runs/scripted --to lerobot --out datasets/scripted
    """
    from housewise.core.tables import progress_bars
    from housewise.export import export_run

    folder = folder or newest_run(of_several=False)
    target = out or folder / to
    console = Console()

    def tell(line: str) -> None:
        console.print(line, soft_wrap=True, highlight=False)

    with progress_bars(console) as progress:
        task = progress.add_task("episodes", total=None)

        def show(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        export_run(folder, to, target, simulator_choice(simulator, gpu), show, tell)
    tell(f"{to}: {target}")
