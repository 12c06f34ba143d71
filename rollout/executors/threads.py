"""Plays episodes in threads of this process, which share one model."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path

from housewise.language import ChatModel
from housewise.rollout.executors.base import Outcomes, Watcher
from housewise.rollout.worker import Stage
from housewise.systems.personalize.config import RunConfig
from housewise.systems.personalize.player import Player, shared_model
from housewise.systems.personalize.tasks import Job

# Seconds that episodes have to end in after an interrupt.
_PATIENCE = 5.0


class _Interrupted(BaseException):
    """The episode is of no use any more; that is nobody's failure."""


class Threads:
    """As many threads as the settings name workers, each with a simulator of its own.

    Args:
        config: of the run.
        episodes: folder of the records.
        watcher: told of how it goes.

    Raises:
        UserError: when the prompt cannot be read.
    """

    def __init__(self, config: RunConfig, episodes: Path, watcher: Watcher) -> None:
        self._config, self._episodes, self._watcher = config, episodes, watcher
        self._player = Player(config)
        self._local = threading.local()
        self._loading = threading.Lock()
        self._stop, self._interrupted = threading.Event(), threading.Event()
        self._stages: list[Stage] = []
        self._outcomes = Outcomes(watcher)

    def play(self, jobs: Sequence[Job]) -> None:
        """See Executor.play."""
        model = shared_model(self._config)
        pool = ThreadPoolExecutor(self._config.workers)
        pending = [pool.submit(self._play, job, model) for job in jobs]
        try:
            done, _ = wait(pending, return_when=FIRST_EXCEPTION)
        except KeyboardInterrupt:
            self._interrupted.set()
            if model is not None:
                model.close()
            raise
        finally:
            self._stop.set()
            self._end(pool, pending, model)
        for future in done:
            future.result()

    def _end(self, pool: ThreadPoolExecutor, pending: Sequence[Future[None]], model: ChatModel | None) -> None:
        """Wait for what is being played; after an interrupt not for long, since a server may take its time."""
        _, left = wait(pending, _PATIENCE if self._interrupted.is_set() else None)
        pool.shutdown(wait=not left, cancel_futures=True)
        if not left:
            for stage in self._stages:
                stage.close()
        if model is not None:
            model.close()

    def _play(self, job: Job, model: ChatModel | None) -> None:
        if self._stop.is_set():
            return
        self._watcher.began(job)

        def progress(steps: int, plans: int) -> None:
            if self._interrupted.is_set():
                raise _Interrupted
            self._watcher.stepped(job, steps, plans)

        try:
            self._outcomes.tell(job, self._stage().play(job, model, self._episodes, progress))
        except BaseException:
            # Before this thread takes the next episode.
            self._stop.set()
            raise

    def _stage(self) -> Stage:
        if not hasattr(self._local, "stage"):
            # Whatever the model says of its end is nobody's failure either.
            self._local.stage = Stage(self._player, self._config, self._loading, lambda _: self._interrupted.is_set())
            self._stages.append(self._local.stage)
        stage: Stage = self._local.stage
        return stage
