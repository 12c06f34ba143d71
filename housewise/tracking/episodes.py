"""A watcher that passes on what it is told, and has it tracked as well."""

from __future__ import annotations

import threading

from housewise.core.record import Failure, Result
from housewise.rollout.executors import Watcher
from housewise.rollout.run import Run
from housewise.rollout.scores import figures_of
from housewise.rollout.system import Job
from housewise.tracking.curves import Curves


class TrackedEpisodes:
    """A watcher that has the figures of each episode tracked, by the number of episodes that were finished.

    Args:
        watcher: told of everything.
        curves: take the figures.
        session: the run.
        series: of its curves.
    """

    def __init__(self, watcher: Watcher, curves: Curves, session: Run, series: str = "episodes") -> None:
        self._watcher, self._curves, self._series = watcher, curves, series
        self._finished = len(session.finished)
        self._lock = threading.Lock()

    def began(self, job: Job) -> None:
        """See Watcher.began."""
        self._watcher.began(job)

    def progressed(self, job: Job, done: int, of: int, words: str) -> None:
        """See Watcher.progressed."""
        self._watcher.progressed(job, done, of, words)

    def ended(self, job: Job, result: Result) -> None:
        """See Watcher.ended."""
        self._watcher.ended(job, result)
        figures = figures_of(result)
        if {"correct_start", "correct_end"} <= figures.keys():
            figures["reward"] = figures["correct_end"] - figures["correct_start"]
        with self._lock:
            self._finished += 1
            self._curves.log(self._series, self._finished, figures)

    def failed(self, job: Job, failure: Failure) -> None:
        """See Watcher.failed."""
        self._watcher.failed(job, failure)
