"""A watcher that passes on what it is told, and has finished episodes tracked, each once."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.record import FINISHED, Failure, Result
from housewise.core.text_files import read_json
from housewise.rollout.executor import RunCallback
from housewise.rollout.record_reader import read_record
from housewise.rollout.run import Run
from housewise.rollout.scores import result_metrics
from housewise.rollout.system import Job
from housewise.tracking.curves import Curves

ORDER = "tracking.json"
"""Lists the records of a run in the order of their points on the curves."""


class TrackedEpisodes:
    """A watcher that has the figures of each episode tracked, by the number of episodes that were finished.

    What is tracked follows from the records and from what the trackers have kept: where a run was killed between the
    end of an episode and its point, the point is made when the run goes on. The order of the points is written down
    before they are sent, so that a point belongs to the same episode afterwards.

    Args:
        watcher: told of everything.
        curves: take the figures.
        session: the run.
        series: of its curves.
    """

    def __init__(self, callback: RunCallback, curves: Curves, session: Run, series: str = "episodes") -> None:
        self._callback, self._curves, self._session, self._series = callback, curves, session, series
        self._path = session.folder / ORDER
        self._order: list[str] | None = None
        self._passed = 0
        self._lock = threading.Lock()

    def on_episode_start(self, job: Job) -> None:
        """See Watcher.began."""
        if self._order is None:
            self.catch_up()
        self._callback.on_episode_start(job)

    def on_episode_progress(self, job: Job, done: int, of: int, words: str) -> None:
        """See Watcher.progressed."""
        self._callback.on_episode_progress(job, done, of, words)

    def on_episode_end(self, job: Job, result: Result) -> None:
        """See Watcher.ended."""
        self._callback.on_episode_end(job, result)
        self.catch_up()

    def on_episode_failure(self, job: Job, failure: Failure) -> None:
        """See Watcher.failed."""
        self._callback.on_episode_failure(job, failure)

    def catch_up(self) -> None:
        """Track the finished episodes that have not been tracked."""
        if not self._curves.trackers:
            return
        with self._lock:
            records = {job.name: self._session.episodes / f"{job.name}{FINISHED}" for job in self._session.finished_jobs}
            if self._order is None:
                # A record that was deleted leaves its point behind; the episode gets another one.
                self._order = [name if name in records else "" for name in _read_order(self._path)]
                self._passed = min(len(self._order), self._curves.known(self._series))
            fresh = sorted(records.keys() - {*self._order}, key=lambda name: (records[name].stat().st_mtime_ns, name))
            if fresh:
                self._order += fresh
                write_json(self._path, self._order)
            for number, name in enumerate(self._order[self._passed :], start=self._passed + 1):
                if name in records:
                    self._curves.log(self._series, number, _figures(records[name]))
            self._passed = len(self._order)


def _figures(record: Path) -> Mapping[str, float]:
    try:
        figures = result_metrics(read_record(record).result)
    except UserError:
        # The run itself says what is wrong with it.
        return {}
    if {"correct_start", "correct_end"} <= figures.keys():
        figures["reward"] = figures["correct_end"] - figures["correct_start"]
    return figures


def _read_order(path: Path) -> list[str]:
    """Names of records; none where the file is missing or somebody else's."""
    try:
        content = read_json(path)
    except UserError:
        return []
    return content if isinstance(content, list) and all(isinstance(name, str) for name in content) else []
