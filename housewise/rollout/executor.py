"""What all executors share: the callback of a run, and the handling of failed episodes."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError
from housewise.core.record import Failure, Outcome, Result
from housewise.rollout.failures import RunEndedError
from housewise.rollout.run_meter import RunMeter
from housewise.rollout.scheduler import Scheduler
from housewise.rollout.system import Job, System

MAX_SAME_FAILURES = 5
"""The run ends after this many consecutive episodes that fail for the same reason, if none has finished."""


class RunCallback:
    """Receives the events of a run, and ignores those without a method of its own.

    The methods are called from several threads.
    """

    def on_episode_start(self, job: Job) -> None:
        """Called when an episode starts; a pool of processes calls it only when the episode is over."""

    def on_episode_progress(self, job: Job, done: int, of: int, words: str) -> None:
        """Called while an episode is played, except by a pool of processes.

        Args:
            job: The episode.
            done: Number of finished steps.
            of: Greatest number of steps, as far as it is known.
            words: What is being done, such as ``plan 3``.
        """

    def on_episode_end(self, job: Job, result: Result) -> None:
        """Called when an episode has finished and its record is complete."""

    def on_episode_failure(self, job: Job, failure: Failure) -> None:
        """Called when an episode has failed; the next run with the same folder plays it again."""


class EarlyEndError(RunEndedError):
    """A run with `fail_fast` ended at its first failed episode. The same command resumes it."""

    exit_code = 3
    is_summary = True


class OutcomeReporter:
    """Reports outcomes to the scheduler and the callback, and ends a run in which all episodes fail alike.

    Args:
        scheduler: Scheduler of the episodes.
        callback: Called when an episode ends; thread-safe.
        fail_fast: Whether the run ends at the first failed episode.
    """

    def __init__(self, scheduler: Scheduler, callback: RunCallback, fail_fast: bool = False) -> None:
        self._scheduler, self._callback, self._fail_fast = scheduler, callback, fail_fast
        self._lock = threading.Lock()
        self._finished, self._reason, self._alike = False, "", 0

    def report(self, job: Job, outcome: Outcome) -> None:
        """Report the outcome of an episode.

        Raises:
            EarlyEndError: The episode failed, and the run ends at the first failure.
            UserError: The last episodes failed alike and none has finished.
        """
        self._scheduler.finish_job(job, isinstance(outcome, Result))
        if isinstance(outcome, Result):
            self._finished = True
            self._callback.on_episode_end(job, outcome)
            return
        self._callback.on_episode_failure(job, outcome)
        if self._fail_fast:
            raise EarlyEndError(
                f"{job.name} failed ({outcome.error}), and --fail-fast ended the run; run the same command again to "
                "resume it"
            )
        with self._lock:
            self._alike = self._alike + 1 if outcome.reason == self._reason else 1
            self._reason = outcome.reason
            hopeless = self._alike >= MAX_SAME_FAILURES and not self._finished
        if hopeless:
            raise UserError(
                f"{MAX_SAME_FAILURES} episodes in a row failed for the same reason and none finished, so the others "
                f"were not tried ({outcome.error}); fix the problem and run the same command again"
            )


class Executor(ABC):
    """Plays the episodes of a run, as many at a time as the settings allow.

    Args:
        system: System that plays the episodes.
        episodes: Folder of the records.
        callback: Called when episodes start and end.
        meter: Meter of the run, or None for a run without limits.
    """

    def __init__(
        self, system: System[Any], episodes: Path, callback: RunCallback, meter: RunMeter | None = None
    ) -> None:
        self._system, self._episodes, self._callback, self._meter = system, episodes, callback, meter

    @abstractmethod
    def play(self, scheduler: Scheduler) -> None:
        """Play all episodes and write their records. A failed episode does not stop the others.

        Args:
            scheduler: Scheduler of the episodes.

        Raises:
            UserError: A problem that the user can fix and that concerns all episodes. Running episodes are finished
                first.
        """

    def _report_outcomes(self, scheduler: Scheduler) -> OutcomeReporter:
        return OutcomeReporter(scheduler, self._callback, self._system.settings.execution.fail_fast)
