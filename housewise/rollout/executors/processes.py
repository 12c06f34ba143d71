"""Plays episodes in processes of this machine: for systems that ask no model, and so need not share one."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

from housewise.core.processes import process_pool
from housewise.core.provenance import usable_cores
from housewise.core.record import Outcome
from housewise.rollout.episode_runner import EpisodeRunner
from housewise.rollout.executors.base import OutcomeReporter, RunCallback
from housewise.rollout.scheduler import ScheduledJob, Scheduler
from housewise.rollout.system import Job, System
from housewise.rollout.usage_limits import RunMeter

# Episodes given to each process, so that none waits for its next one.
_AHEAD = 2


class ProcessExecutor:
    """As many processes as the settings name workers, but no more than there are cores.

    Watchers are told of an episode when it is over.

    Args:
        system: plays the episodes.
        episodes: folder of the records.
        watcher: told of how it goes.
        meter: counts what models take; None where nothing is limited.
    """

    def __init__(
        self, system: System[Any], episodes: Path, watcher: RunCallback, meter: RunMeter | None = None
    ) -> None:
        self._system, self._episodes, self._watcher, self._meter = system, episodes, watcher, meter

    def play(self, lanes: Scheduler) -> None:
        """See Executor.play."""
        count = lanes.count_active_workers(min(self._system.settings.execution.workers, usable_cores()))
        with process_pool(count, _Process.enter, self._system, self._episodes, self._meter) as pool:
            self._until_the_end(pool, lanes, _AHEAD * count)

    def _until_the_end(self, pool: ProcessPoolExecutor, lanes: Scheduler, ahead: int) -> None:
        """Keep so many episodes ahead of what is known: where all fail alike, few are tried."""
        outcomes = OutcomeReporter(lanes, self._watcher, self._system.settings.execution.fail_fast)
        coming: dict[Future[Outcome], Job] = {}
        while True:
            while len(coming) < ahead and (assignment := lanes.take_next()) is not None:
                coming[pool.submit(_play, assignment)] = assignment.job
            if not coming:
                return
            done, _ = wait(coming, return_when=FIRST_COMPLETED)
            for future in done:
                job, outcome = coming.pop(future), future.result()
                self._watcher.on_episode_start(job)
                outcomes.tell(job, outcome)


class _Process:
    """What a process plays with, from its first episode on."""

    entered: _Process

    def __init__(self, system: System[Any], episodes: Path, meter: RunMeter | None) -> None:
        self._stage, self._episodes = EpisodeRunner(system, meter=meter), episodes

    @classmethod
    def enter(cls, system: System[Any], episodes: Path, meter: RunMeter | None) -> None:
        cls.entered = cls(system, episodes, meter)

    def play(self, assignment: ScheduledJob) -> Outcome:
        return self._stage.play(assignment, {}, self._episodes, lambda done, of, words: None)


def _play(assignment: ScheduledJob) -> Outcome:
    return _Process.entered.play(assignment)
