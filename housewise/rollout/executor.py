"""What every executor offers: episodes in, records out; and who is told of it."""

from __future__ import annotations

import threading
from typing import Protocol

from housewise.core.errors import UserError
from housewise.core.record import Failure, Outcome, Result
from housewise.rollout.failures import RunEndedError
from housewise.rollout.scheduler import Scheduler
from housewise.rollout.system import Job

MAX_SAME_FAILURES = 5
"""Episodes that fail for one reason, while none is finished, until the rest is given up."""


class RunCallback(Protocol):
    """Told of how a run goes; called from several threads."""

    def on_episode_start(self, job: Job) -> None: ...

    def on_episode_progress(self, job: Job, done: int, of: int, words: str) -> None: ...

    def on_episode_end(self, job: Job, result: Result) -> None: ...

    def on_episode_failure(self, job: Job, failure: Failure) -> None: ...


class NullCallback:
    """A watcher that says nothing."""

    def on_episode_start(self, job: Job) -> None: ...

    def on_episode_progress(self, job: Job, done: int, of: int, words: str) -> None: ...

    def on_episode_end(self, job: Job, result: Result) -> None: ...

    def on_episode_failure(self, job: Job, failure: Failure) -> None: ...


class EarlyEndError(RunEndedError):
    """A run has ended at its first failed episode, as it was asked to; the others are still to be played."""

    exit_code = 3
    is_summary = True


class OutcomeReporter:
    """Tells lanes and a watcher what has become of episodes, and gives up where all of them fail alike.

    Args:
        lanes: whose episodes they are.
        watcher: told of it; several threads may tell.
        fail_fast: Whether to give up at the first failed episode.
    """

    def __init__(self, scheduler: Scheduler, callback: RunCallback, fail_fast: bool = False) -> None:
        self._scheduler, self._callback, self._fail_fast = scheduler, callback, fail_fast
        self._lock = threading.Lock()
        self._finished, self._reason, self._alike = False, "", 0

    def report(self, job: Job, outcome: Outcome) -> None:
        """Of an episode that is over.

        Raises:
            UserError: when there is no point in playing others.
        """
        self._scheduler.finish_job(job, isinstance(outcome, Result))
        if isinstance(outcome, Result):
            self._finished = True
            self._callback.on_episode_end(job, outcome)
            return
        self._callback.on_episode_failure(job, outcome)
        if self._fail_fast:
            raise EarlyEndError(
                f"{job.name} failed ({outcome.error}), and the run ended there, as --fail-fast says; the same command "
                "goes on with it and the others"
            )
        with self._lock:
            self._alike = self._alike + 1 if outcome.reason == self._reason else 1
            self._reason = outcome.reason
            hopeless = self._alike >= MAX_SAME_FAILURES and not self._finished
        if hopeless:
            raise UserError(
                f"{MAX_SAME_FAILURES} episodes in a row failed alike and none was finished, so that the others were not tried "
                f"({outcome.error}); mend that and run the same command again"
            )


class Executor(Protocol):
    """Has episodes played, as many at a time as the settings say."""

    def play(self, scheduler: Scheduler) -> None:
        """Play episodes, each to its record; one that fails does not keep the others from being played.

        Args:
            lanes: the episodes.

        Raises:
            UserError: when something outside the program is wrong that concerns all of them; what was being played is
                finished first.
        """
        ...
