"""A run callback that logs the metrics of finished episodes to trackers, each episode once."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from housewise.core.errors import UserError
from housewise.core.files import find_paths, write_json
from housewise.core.record import Failure, Result
from housewise.core.record_files import FINISHED
from housewise.core.text_files import read_json
from housewise.rollout.executor import RunCallback
from housewise.rollout.record_reader import read_record
from housewise.rollout.run import Run
from housewise.rollout.scores import result_metrics
from housewise.rollout.system import Job
from housewise.tracking.curves import Curves

ORDER = "tracking.json"
"""File that lists the records of a run in the order of their points on the curves."""


class EpisodeTrackingCallback(RunCallback):
    """A run callback that logs the metrics of each episode over the number of finished episodes.

    Points follow from the records and from what the trackers have stored: if a run is killed between the end of an
    episode and its point, the point is logged when the run is resumed. The order of the points is written before they
    are logged, so that a point always belongs to the same episode.

    Args:
        callback: Callback that is called as well.
        curves: Curves that receive the metrics.
        run: Run whose episodes are logged.
        series: Common prefix of the curves.
    """

    def __init__(self, callback: RunCallback, curves: Curves, run: Run, series: str = "episodes") -> None:
        self._callback, self._curves, self._run, self._series = callback, curves, run, series
        self._path = run.folder / ORDER
        self._order: list[str] | None = None
        self._passed = 0
        self._lock = threading.Lock()

    def on_episode_start(self, job: Job) -> None:
        """See `RunCallback`."""
        if self._order is None:
            self.catch_up()
        self._callback.on_episode_start(job)

    def on_episode_progress(self, job: Job, done: int, of: int, words: str) -> None:
        """See `RunCallback`."""
        self._callback.on_episode_progress(job, done, of, words)

    def on_episode_end(self, job: Job, result: Result) -> None:
        """See `RunCallback`."""
        self._callback.on_episode_end(job, result)
        self.catch_up()

    def on_episode_failure(self, job: Job, failure: Failure) -> None:
        """See `RunCallback`."""
        self._callback.on_episode_failure(job, failure)

    def catch_up(self) -> None:
        """Log the finished episodes that have not been logged."""
        if not self._curves.trackers:
            return
        with self._lock:
            jobs, folder = self._run.finished_jobs, self._run.episodes
            records = {job.name: folder / f"{job.name}{FINISHED}" for job in jobs}
            if self._order is None:
                # The point of a deleted record stays. Its episode gets a new point when it is played again.
                there = {path.name for path in find_paths(folder, f"*{FINISHED}")}
                self._order = [name if f"{name}{FINISHED}" in there else "" for name in _read_order(self._path)]
                self._passed = min(len(self._order), self._curves.last_logged_step(self._series))
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
        # The run itself reports damaged records.
        return {}
    if {"correct_start", "correct_end"} <= figures.keys():
        figures["reward"] = figures["correct_end"] - figures["correct_start"]
    return figures


def _read_order(path: Path) -> list[str]:
    """Return the record names of the order file, or an empty list if it is missing or invalid."""
    try:
        content = read_json(path)
    except UserError:
        return []
    return content if isinstance(content, list) and all(isinstance(name, str) for name in content) else []
