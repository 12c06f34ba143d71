"""Plays episodes in processes of this machine, for systems that ask no models."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

from housewise.core.hardware import usable_cores
from housewise.core.processes import process_pool
from housewise.core.record import Outcome
from housewise.rollout.episode_runner import EpisodeRunner
from housewise.rollout.executor import Executor
from housewise.rollout.run_meter import RunMeter
from housewise.rollout.scheduler import ScheduledJob, Scheduler
from housewise.rollout.system import Job, System

# Number of episodes submitted per process, so that no process idles.
_QUEUED_PER_PROCESS = 2


class ProcessExecutor(Executor):
    """Plays episodes in as many processes as there are workers, at most one per core.

    Callbacks are called when an episode has ended, for its start as well.
    """

    def play(self, scheduler: Scheduler) -> None:
        """See `Executor.play`."""
        count = scheduler.count_active_workers(min(self._system.settings.execution.workers, usable_cores()))
        with process_pool(count, _Process.enter, self._system, self._episodes, self._meter) as pool:
            self._play_all(pool, scheduler, _QUEUED_PER_PROCESS * count)

    def _play_all(self, pool: ProcessPoolExecutor, scheduler: Scheduler, max_pending: int) -> None:
        """Play all episodes with at most `max_pending` submitted at a time, so that few are tried if all fail alike."""
        outcomes = self._report_outcomes(scheduler)
        pending: dict[Future[Outcome], Job] = {}
        while True:
            while len(pending) < max_pending and (scheduled := scheduler.take_next()) is not None:
                pending[pool.submit(_play, scheduled)] = scheduled.job
            if not pending:
                return
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                job, outcome = pending.pop(future), future.result()
                self._callback.on_episode_start(job)
                outcomes.report(job, outcome)


class _Process:
    """What a worker process keeps between episodes."""

    entered: _Process

    def __init__(self, system: System[Any], episodes: Path, meter: RunMeter | None) -> None:
        self._runner, self._episodes = EpisodeRunner(system, meter=meter), episodes

    @classmethod
    def enter(cls, system: System[Any], episodes: Path, meter: RunMeter | None) -> None:
        cls.entered = cls(system, episodes, meter)

    def play(self, scheduled: ScheduledJob) -> Outcome:
        return self._runner.play(scheduled, {}, self._episodes, lambda done, of, words: None)


def _play(scheduled: ScheduledJob) -> Outcome:
    return _Process.entered.play(scheduled)
