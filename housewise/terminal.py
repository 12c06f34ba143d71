"""Runs on the terminal: live progress, and a table at the end."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress, TaskID

from housewise.commands.folders import shown
from housewise.core.errors import UserError
from housewise.core.tables import Fitted, bars, table
from housewise.rollout.failures import FailedEpisodesError
from housewise.rollout.record import EpisodeRecord, FailureLine, ResultLine, read_records
from housewise.rollout.run import Run
from housewise.systems.personalize.config import RunConfig, load_config
from housewise.systems.personalize.tasks import Job


def play(settings: RunConfig, out: Path, console: Console) -> dict[str, Any]:
    """Play a run with live progress, print its table, and return its figures."""
    session = Run(settings, out)
    told(console, f"run: {out}", f"look at it, now or later: {shown('report', out)}")
    done = len(session.finished)
    if done:
        console.print(
            f"{done} of {len(session.jobs)} episodes are there already; playing the other {len(session.open)}"
        )
    try:
        with going_on(console, out), bars(console) as progress:
            figures = session.play(Live(progress, session, settings.max_steps))
    except FailedEpisodesError as error:
        _show(error.figures, out, console)
        raise
    _show(figures, out, console)
    return figures


def _show(figures: dict[str, Any], out: Path, console: Console) -> None:
    """The figures of a run, and where its files are."""
    console.print(summary_table(figures))
    if failed := figures["failed"]["episodes"]:
        told(console, f"not among them: {failed} that failed")
    told(console, f"records:    {out / 'episodes'}", f"figures:    {out / 'metrics.json'}")
    told(console, f"look at it: {shown('report', out)}")


def told(console: Console, *lines: str) -> None:
    """Print lines that may hold paths and names: as they are, and unbroken, so that they can be copied."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def going_on(console: Console, out: Path) -> Iterator[None]:
    """Say how to go on, where something is stopped."""
    try:
        yield
    except (KeyboardInterrupt, UserError):
        if any(out.rglob("*.jsonl")):
            told(console, f"to go on: the same command with --out {shlex.quote(str(out))}")
        raise


Records = dict[str, EpisodeRecord]
"""Records by name."""


def records_of(folder: Path) -> Records:
    """The finished episodes of a run, by name.

    Raises:
        UserError: when there is none.
    """
    records = {record.name: record for record in read_records(folder / "episodes")}
    if not records:
        raise UserError(f"{folder}: holds no finished episodes; name the folder of a run (it has episodes/ in it)")
    return records


def play_again(folder: Path, earlier: Records, simulator: str | None, out: Path, console: Console) -> None:
    """Play the replies of an earlier run again, and say in how many episodes the same things end in the same places.

    Args:
        folder: of the earlier run.
        earlier: its records; see records_of.
        simulator: another one than the earlier run's, None for the same.
        out: folder of the new run.
        console: where progress goes.

    Raises:
        UserError: when something outside the program is wrong.
    """
    first = next(iter(earlier.values())).episode
    changed = {"planner": "replay", "records": str(folder / "episodes"), "simulator": simulator or first.simulator}
    play(load_config(settings={**first.config, **changed}), out, console)
    again = {record.name: record for record in read_records(out / "episodes")}
    same = sum(earlier[name].result.placements == record.result.placements for name, record in again.items())
    told(console, f"same final placements: {same} of {len(again)} episodes")


class Live:
    """Shows a run's progress: all episodes, and each one that is being played."""

    def __init__(self, progress: Progress, session: Run, max_steps: int) -> None:
        self._progress, self._max_steps = progress, max_steps
        self._bars: dict[str, TaskID] = {}
        self._all = progress.add_task("episodes", total=len(session.jobs), completed=len(session.finished))

    def began(self, job: Job) -> None:
        """See Watcher.began."""
        self._bars[job.name] = self._progress.add_task(job.name, total=self._max_steps)

    def stepped(self, job: Job, steps: int, plans: int) -> None:
        """See Watcher.stepped."""
        self._progress.update(self._bars[job.name], completed=steps, description=f"{job.name} plan {plans}")

    def ended(self, job: Job, result: ResultLine) -> None:
        """See Watcher.ended."""
        self._over(job)
        self._progress.console.print(
            f"{job.name}: success {100 * result.success_rate:.0f} %, {result.ended} after {result.steps} steps and "
            f"{result.plans} plans"
        )

    def failed(self, job: Job, failure: FailureLine) -> None:
        """See Watcher.failed."""
        self._over(job)
        self._progress.console.print(f"{job.name}: failed: {failure.error}")

    def _over(self, job: Job) -> None:
        self._progress.remove_task(self._bars.pop(job.name))
        self._progress.advance(self._all)


def summary_table(figures: dict[str, Any]) -> Fitted:
    """The figures of a run, a row for each scene: percent, counts and means over episodes."""
    columns = ("scene", "n", "success", "±", "exec", "put", "plans", "steps", "tokens", "s")
    rows = []
    for name, row in {**figures["by_task_set"], "all": figures["overall"]}.items():
        if not row["episodes"]:
            continue
        tokens = row["prompt_tokens"] + row["completion_tokens"]
        cells = (row["success_rate"], row["success_rate_stderr"], 100 * row["executability"], row["unique_placements"])
        rest = (row["plans"], row["steps"], tokens, row["seconds"])
        shown_figures = (*(f"{cell:.1f}" for cell in cells), *(f"{cell:.0f}" for cell in rest))
        rows.append((name.replace("/", " "), str(row["episodes"]), *shown_figures))
    return table("success: (correct at the end - at the start) / misplaced at the start, %", columns, rows)
