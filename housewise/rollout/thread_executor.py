"""Plays episodes in threads of this process, which share their models."""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any

from housewise.language import ChatModel
from housewise.rollout.episode_runner import EpisodeRunner
from housewise.rollout.executor import Executor, OutcomeReporter
from housewise.rollout.models import close_models, forget_prompts, open_models
from housewise.rollout.scheduler import ScheduledJob, Scheduler

# Seconds that running episodes get to end after an interrupt.
_TIMEOUT_SECONDS = 5.0


class _Interrupted(BaseException):
    """Ends an episode after an interrupt without recording a failure."""


class ThreadExecutor(Executor):
    """Plays episodes in as many threads as there are workers, each with a copy of the system."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._loading = threading.Lock()
        self._stop, self._interrupted = threading.Event(), threading.Event()
        self._runners: list[EpisodeRunner] = []

    def play(self, scheduler: Scheduler) -> None:
        """See `Executor.play`."""
        models = open_models(self._system)
        outcomes = self._report_outcomes(scheduler)
        workers = scheduler.count_active_workers(self._system.settings.execution.workers)
        pool = ThreadPoolExecutor(workers)
        pending: list[Future[None]] = []
        try:
            for _ in range(workers):
                pending.append(pool.submit(self._work, scheduler, models, outcomes, workers == 1))
            done, _ = wait(pending, return_when=FIRST_EXCEPTION)
        except KeyboardInterrupt:
            self._interrupted.set()
            close_models(models)
            raise
        finally:
            self._stop.set()
            scheduler.stop()
            self._end(pool, pending, models)
        for future in done:
            future.result()

    def _end(self, pool: ThreadPoolExecutor, pending: Sequence[Future[None]], models: Mapping[str, ChatModel]) -> None:
        """Wait for running episodes, and close the systems and models.

        After an interrupt the wait is short, because a server may be slow. There is none for an interactive system,
        whose user has just interrupted it.
        """
        patience = 0.0 if self._system.interactive else _TIMEOUT_SECONDS
        _, left = wait(pending, patience if self._interrupted.is_set() else None)
        pool.shutdown(wait=not left, cancel_futures=True)
        if not left:
            for runner in self._runners:
                runner.close()
        close_models(models)

    def _work(
        self, scheduler: Scheduler, models: Mapping[str, ChatModel], outcomes: OutcomeReporter, alone: bool
    ) -> None:
        """Play episodes until none is left."""
        # Errors of models that an interrupt closed are no failures of episodes.
        runner = EpisodeRunner(
            copy.copy(self._system), self._loading, lambda _: self._interrupted.is_set(), self._meter
        )
        self._runners.append(runner)
        try:
            while not self._stop.is_set() and (scheduled := scheduler.wait_for_next()) is not None:
                if alone:
                    # With cold caches, an episode of a resumed run is computed as in a run that was not interrupted.
                    forget_prompts(models)
                self._play(scheduled, runner, models, outcomes)
        except BaseException:
            # Stop before other threads take their next episode.
            self._stop.set()
            scheduler.stop()
            raise

    def _play(
        self, scheduled: ScheduledJob, runner: EpisodeRunner, models: Mapping[str, ChatModel], outcomes: OutcomeReporter
    ) -> None:
        job = scheduled.job
        self._callback.on_episode_start(job)

        def progress(done: int, of: int, words: str) -> None:
            if self._interrupted.is_set():
                raise _Interrupted
            self._callback.on_episode_progress(job, done, of, words)

        outcomes.report(job, runner.play(scheduled, models, self._episodes, progress))
