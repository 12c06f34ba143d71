"""Runs on the terminal: live progress, and a table at the end."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress, TaskID

from housewise.commands.folders import shown
from housewise.core.errors import UserError
from housewise.core.files import find_paths
from housewise.core.record import Failure, Result
from housewise.core.tables import Fitted, bars, table
from housewise.rollout.failures import FailedEpisodesError
from housewise.rollout.run import Run
from housewise.rollout.scores import USAGE, Score, cut_replies
from housewise.rollout.system import Job, System
from housewise.tracking import Curves, TrackedEpisodes, following


def play(system: System[Any], out: Path, console: Console, log_to: Sequence[str] = ()) -> dict[str, Any]:
    """Play a run with live progress, print its table, and return its figures.

    Args:
        system: plays.
        out: folder of the run.
        console: where progress goes.
        log_to: trackers that the figures of episodes go to, by name.
    """
    with following(log_to, out, lambda line: told(console, line)) as curves:
        return _play(Run(system, out), curves, console)


def _play(session: Run, curves: Curves, console: Console) -> dict[str, Any]:
    system, out = session.system, session.folder
    told(console, f"run: {out}", f"look at it, now or later: {shown('report', out)}")
    done = len(session.finished)
    if done:
        console.print(
            f"{done} of {len(session.jobs)} episodes are there already; playing the other {len(session.open)}"
        )
    try:
        with going_on(console, out), bars(console, shown=not system.talks) as progress:
            tracked = TrackedEpisodes(Live(progress, session), curves, session)
            figures = session.play(tracked)
            # What a run had no time for that was killed behind its last episode.
            tracked.catch_up()
    except FailedEpisodesError as error:
        _show(error.figures, system, out, console)
        raise
    _show(figures, system, out, console)
    return figures


def _show(figures: dict[str, Any], system: System[Any], out: Path, console: Console) -> None:
    """The figures of a run, and where its files are."""
    scores, max_tokens = system.scores, system.settings.models.agent.sampling.max_tokens
    console.print(summary_table(figures, scores))
    if failed := figures["failed"]["episodes"]:
        told(console, f"not among them: {failed} that failed")
    if cut := cut_replies(figures["overall"], max_tokens):
        told(console, cut)
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
        if find_paths(out, "**/*.jsonl"):
            told(console, f"to go on: the same command with --out {shlex.quote(str(out))}")
        raise


class Live:
    """Shows a run's progress: all episodes, and each one that is being played."""

    def __init__(self, progress: Progress, session: Run) -> None:
        self._progress, self._system = progress, session.system
        self._bars: dict[str, TaskID] = {}
        self._all = progress.add_task("episodes", total=len(session.jobs), completed=len(session.finished))

    def began(self, job: Job) -> None:
        """See Watcher.began."""
        self._bars[job.name] = self._progress.add_task(job.name, total=None)

    def progressed(self, job: Job, done: int, of: int, words: str) -> None:
        """See Watcher.progressed."""
        self._progress.update(self._bars[job.name], completed=done, total=of, description=f"{job.name} {words}")

    def ended(self, job: Job, result: Result) -> None:
        """See Watcher.ended."""
        self._over(job)
        self._progress.console.print(
            f"{job.name}: {_achieved(self._system, result)}{result.ended} after {result.scores['steps']:.0f} steps and "
            f"{result.scores['plans']:.0f} plans"
        )

    def failed(self, job: Job, failure: Failure) -> None:
        """See Watcher.failed."""
        self._over(job)
        self._progress.console.print(f"{job.name}: failed: {failure.error}")

    def _over(self, job: Job) -> None:
        self._progress.remove_task(self._bars.pop(job.name))
        self._progress.advance(self._all)


def _achieved(system: System[Any], result: Result) -> str:
    """The score that counts, in words."""
    for score in system.scores[:1]:
        value = score.of(result)
        if value is not None:
            return f"{score.label or score.name} {score.displayed(value):.0f} {score.unit}".rstrip() + ", "
    return ""


def summary_table(figures: dict[str, Any], scores: Sequence[Score]) -> Fitted:
    """The figures of a run, a row for each scene or the like: means over episodes.

    Args:
        figures: as in ``metrics.json``.
        scores: of the system.
    """
    shown_scores = [score for score in (*scores, *USAGE) if score.column is not None]
    columns = ["scene", "n"]
    for score in shown_scores:
        columns += [score.column or "", *(["±"] if score.error else [])]
    rows = []
    for name, row in {**figures["by_task_set"], "all": figures["overall"]}.items():
        if row["episodes"]:
            rows.append((name.replace("/", " "), str(row["episodes"]), *_cells(row, shown_scores)))
    main = scores[0] if scores else None
    return table(f"{main.heading}, means ± standard error over tasks" if main else "means of an episode", columns, rows)


def _cells(row: dict[str, Any], scores: Sequence[Score]) -> Iterator[str]:
    for score in scores:
        value = row["prompt_tokens"] + row["completion_tokens"] if score.name == "tokens" else row.get(score.name)
        if value is None:
            yield from ["–"] * (2 if score.error else 1)
            continue
        narrow = score.name in ("plans", "steps", "tokens", "seconds")
        yield f"{score.displayed(value):.{0 if narrow else 1}f}"
        if score.error:
            # One episode tells nothing of how much others differ.
            yield f"{score.displayed(row[f'{score.name}_stderr']):.1f}" if row["episodes"] > 1 else "–"
