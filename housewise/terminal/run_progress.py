"""Play runs with live progress on the terminal, and print their figures as a table."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress, TaskID

from housewise.core.console import print_lines, print_traceback
from housewise.core.errors import UserError
from housewise.core.files import find_paths
from housewise.core.formatting import format_duration, plural
from housewise.core.progress import progress_bars
from housewise.core.record import Failure, Result
from housewise.core.tables import FittedTable
from housewise.language.settings import ModelSettings
from housewise.rollout.executor import RunCallback
from housewise.rollout.failures import RunEndedError
from housewise.rollout.run import Run
from housewise.rollout.run_usage import LimitReachedError
from housewise.rollout.scores import USAGE, Score, truncation_warning
from housewise.rollout.system import Job, System
from housewise.terminal.run_folders import shell_command
from housewise.tracking import EpisodeTrackingCallback, open_curves

_MAX_FAILURES = 5
_LONG_SECONDS = 10 * 60
_QUICK_SECONDS = 2 * 60
"""Expected duration of the episodes of a quick run."""


def play_run(
    system: System[Any],
    out: Path,
    console: Console,
    log_to: Sequence[str] = (),
    summary: bool = True,
    has_quick: bool = True,
) -> dict[str, Any]:
    """Play a run with live progress and one line per episode, and return its figures.

    Args:
        system: The system to play.
        out: Folder of the run.
        console: Where progress is shown.
        log_to: Names of the trackers that log the figures of episodes.
        summary: Whether the run is announced before, and its table and its files are printed after it.
        has_quick: Whether the command has the option ``--quick``.
    """
    session = Run(system, out)
    session.check_start()
    with open_curves(log_to, out, lambda line: print_lines(console, line)) as curves:
        if summary:
            print_lines(console, f"run: {out}", f"look at it, now or later: {shell_command('report', out)}")
            print_lines(console, *announcement_lines(session, has_quick))
        try:
            with resume_hint(console, out), progress_bars(console, shown=not system.interactive) as progress:
                tracked = EpisodeTrackingCallback(RunProgress(progress, session), curves, session)
                figures = session.play(tracked)
                # Log what an earlier process could not, if it was killed right after its last episode.
                tracked.catch_up()
        except RunEndedError as error:
            if summary and session.finished_jobs:
                _print_figures(error.figures, system, out, console)
            raise
        if summary:
            _print_figures(figures, system, out, console)
        return figures


def announcement_lines(session: Run, has_quick: bool = True) -> list[str]:
    """Return one line about the models and one about the number of episodes, their expected duration and requests."""
    system, done, left = session.system, len(session.finished_jobs), len(session.open_jobs)
    if not left:
        yet_to_play = f"nothing is left to play of {plural(done, 'episode')}"
    elif done:
        yet_to_play = f"{done} of {plural(len(session.jobs), 'episode')} are finished already; playing the other {left}"
    else:
        yet_to_play = f"playing {plural(left, 'episode')}"
    each = system.expected_seconds
    if left and each is not None:
        yet_to_play += f", roughly {format_duration(left * each)} on two CPU cores"
        if left > 1 and left * each > _LONG_SECONDS and not session.skipped_episodes and has_quick:
            yet_to_play += "; --quick plays only the first ones"
    elif left > 1:
        yet_to_play += "; the time left is shown once some are over"
    requests = system.max_requests
    if left and requests:
        yet_to_play += f"; up to about {left * requests:,} requests to models"
    lines = [f"model: {_describe_models(system)}"] if system.roles else []
    if session.skipped_episodes:
        yet_to_play += f"; {session.skipped_episodes} {'is' if session.skipped_episodes == 1 else 'are'} left out"
        yet_to_play += ", which the same command plays without --quick or max_episodes" if has_quick else ""
    return [*lines, yet_to_play]


def quick_episodes(system: System[Any]) -> int:
    """Return the number of episodes of a quick run."""
    each = system.expected_seconds
    return 2 if each is None else max(1, int(_QUICK_SECONDS / each))


def _describe_models(system: System[Any]) -> str:
    """Return the names of the models with their adapters."""
    asked = [getattr(system.settings.models, role) for role in system.roles]
    return " and ".join(dict.fromkeys(map(_describe_model, asked)))


def _describe_model(model: ModelSettings) -> str:
    if model.adapter:
        return f"{model.model} with the adapter {model.adapter}"
    return f"{model.model} without an adapter" if model.local else model.model


def _print_figures(figures: dict[str, Any], system: System[Any], out: Path, console: Console) -> None:
    """Print the figures of a run and the paths of its files."""
    console.print(summary_table(figures, system.scores))
    print_lines(console, *failure_lines(figures["failed"]))
    if cut := truncation_warning(figures["overall"], _describe_reply_limit(system)):
        print_lines(console, cut)
    print_lines(console, f"records:    {out / 'episodes'}", f"figures:    {out / 'metrics.json'}")
    print_lines(console, f"look at it: {shell_command('report', out)}")


def _describe_reply_limit(system: System[Any]) -> str:
    """Return the setting that limits replies, with its value, as users write it."""
    value = attrgetter(system.reply_limit)(system.settings)
    return f"{system.reply_limit.rpartition('.')[2]}={value}"


def failure_lines(failed: Mapping[str, Any]) -> list[str]:
    """Return the number of failed episodes, which the table leaves out, and the errors of the first ones.

    Args:
        failed: Failed episodes as in ``metrics.json``.
    """
    errors = list(failed["errors"].items())
    if not errors:
        return []
    more = [f"  and {len(errors) - _MAX_FAILURES} more, in metrics.json"] if len(errors) > _MAX_FAILURES else []
    causes = [f"  {name}: {error}" for name, error in errors[:_MAX_FAILURES]]
    return [f"not in the table: {plural(len(errors), 'episode')} that failed", *causes, *more]


@contextmanager
def resume_hint(console: Console, out: Path) -> Iterator[None]:
    """Add how to resume a run to the error or interrupt that stops it."""
    command = f"the same command with --out {shlex.quote(str(out))}"
    try:
        yield
    except LimitReachedError as error:
        raise LimitReachedError(f"{error}; {command} and a higher limit resumes the run", error.figures) from error
    except (KeyboardInterrupt, UserError) as error:
        if find_paths(out, "**/*.jsonl*"):
            # The line stands before the error, which may ask for something else first, such as deleting a file.
            is_enough = isinstance(error, KeyboardInterrupt | RunEndedError)
            print_lines(console, f"to resume{'' if is_enough else ', after what the error below asks for'}: {command}")
        raise


class RunProgress(RunCallback):
    """Shows one progress bar for all episodes and one for each episode that is being played."""

    def __init__(self, progress: Progress, session: Run) -> None:
        self._progress, self._session, self._system = progress, session, session.system
        self._bars: dict[str, TaskID] = {}
        self._all = progress.add_task("episodes", total=len(session.jobs), completed=len(session.finished_jobs))

    def on_episode_start(self, job: Job) -> None:
        """See `RunCallback`."""
        self._bars[job.name] = self._progress.add_task(job.name, total=None)

    def on_episode_progress(self, job: Job, done: int, of: int, words: str) -> None:
        """See `RunCallback`."""
        self._progress.update(self._bars[job.name], completed=done, total=of, description=f"{job.name} {words}")
        if self._session.meter is not None:
            self._progress.update(self._all, description=f"episodes, {self._session.meter}")

    def on_episode_end(self, job: Job, result: Result) -> None:
        """See `RunCallback`."""
        self._remove_bar(job)
        spent = "" if self._session.meter is None else f"; {self._session.meter} so far"
        self._progress.console.print(
            f"{job.name}: {_describe_main_score(self._system, result)}{self._system.describe_ending(result)}{spent}"
        )

    def on_episode_failure(self, job: Job, failure: Failure) -> None:
        """See `RunCallback`."""
        self._remove_bar(job)
        print_lines(self._progress.console, f"{job.name}: failed: {failure.error}")
        print_traceback(failure.traceback)

    def _remove_bar(self, job: Job) -> None:
        self._progress.remove_task(self._bars.pop(job.name))
        self._progress.advance(self._all)


def _describe_main_score(system: System[Any], result: Result) -> str:
    """Describe the main score of an episode."""
    for score in system.scores[:1]:
        value = score.value_in(result)
        if value is not None:
            return f"{score.label or score.name} {score.in_display_units(value):.0f} {score.unit}".rstrip() + ", "
    return ""


def summary_table(figures: dict[str, Any], scores: Sequence[Score]) -> FittedTable:
    """Return a table of mean figures over episodes, with one row per scene or task set.

    Args:
        figures: Figures as in ``metrics.json``.
        scores: Scores of the system.
    """
    shown_scores = [score for score in (*scores, *USAGE) if score.column is not None]
    columns = ["scene", "n"]
    for score in shown_scores:
        columns += [score.column or "", *(["±"] if score.error else [])]
    rows = []
    for name, row in {**figures["by_task_set"], "all": figures["overall"]}.items():
        if row["episodes"]:
            rows.append((name.replace("/", " "), str(row["episodes"]), *_format_row(row, shown_scores)))
    main = scores[0] if scores else None
    title = f"{main.heading}, means ± standard error over tasks" if main else "means of an episode"
    return FittedTable(title, columns, rows)


def _format_row(row: dict[str, Any], scores: Sequence[Score]) -> Iterator[str]:
    for score in scores:
        value = row["prompt_tokens"] + row["completion_tokens"] if score.name == "tokens" else row.get(score.name)
        if value is None:
            yield from ["–"] * (2 if score.error else 1)
            continue
        narrow = score.name in ("plans", "steps", "tokens", "seconds")
        some = row.get(f"{score.name}_episodes")
        yield f"{score.in_display_units(value):.{0 if narrow else 1}f}{'' if some is None else f' (n={some})'}"
        if score.error:
            error = row[f"{score.name}_stderr"]
            yield "–" if error is None else f"{score.in_display_units(error):.1f}"
