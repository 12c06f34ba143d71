"""Plays episodes in threads of this process, which share one model."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path

from agent.models import ChatModel
from household.simulator.base import Simulator
from selftrain.config import RunConfig
from selftrain.executors.base import Watcher
from selftrain.player import Player, new_simulator, recorded_model, shared_model
from selftrain.tasks import Job, load_task

# Seconds that episodes have to end in after an interrupt.
_PATIENCE = 5.0


class _Interrupted(Exception):
    """The episode is of no use any more."""


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
        self._simulators: list[Simulator] = []

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
            for simulator in self._simulators:
                simulator.close()
        if model is not None:
            model.close()

    def _play(self, job: Job, model: ChatModel | None) -> None:
        if self._stop.is_set():
            return
        with self._loading:
            task = load_task(job.task, self._config)
        self._watcher.began(job)

        def progress(steps: int, plans: int) -> None:
            if self._interrupted.is_set():
                raise _Interrupted
            self._watcher.stepped(job, steps, plans)

        answers = model or recorded_model(self._config, job)
        result = self._player.play(job, task, answers, self._simulator(), self._episodes, progress)
        self._watcher.ended(job, result)

    def _simulator(self) -> Simulator:
        if not hasattr(self._local, "simulator"):
            self._local.simulator = new_simulator(self._config)
            self._simulators.append(self._local.simulator)
        simulator: Simulator = self._local.simulator
        return simulator
