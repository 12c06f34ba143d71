"""Plays episodes in processes of this machine: for planners that ask no model, and so need not share one."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from pathlib import Path

from housewise.core.errors import UserError
from housewise.rollout.executors.base import Outcomes, Watcher
from housewise.rollout.record import Outcome
from housewise.rollout.worker import Stage
from housewise.systems.personalize.config import RunConfig
from housewise.systems.personalize.player import Player
from housewise.systems.personalize.tasks import Job

_GLANCE = 1.0
# Episodes given to each process, so that none waits for its next one.
_AHEAD = 2


class Processes:
    """As many processes as the settings name workers, but no more than there are cores.

    Watchers are told of an episode when it is over.

    Args:
        config: of the run.
        episodes: folder of the records.
        watcher: told of how it goes.

    Raises:
        UserError: when the prompt cannot be read.
    """

    def __init__(self, config: RunConfig, episodes: Path, watcher: Watcher) -> None:
        self._config, self._episodes, self._watcher = config, episodes, watcher
        Player(config)

    def play(self, jobs: Sequence[Job]) -> None:
        """See Executor.play."""
        count = min(self._config.workers, os.cpu_count() or 1, len(jobs))
        spawn = multiprocessing.get_context("spawn")
        told = (self._config, self._episodes, os.getpid())
        with ProcessPoolExecutor(count, spawn, initializer=_Process.enter, initargs=told) as pool:
            try:
                self._until_the_end(pool, iter(jobs), _AHEAD * count)
            except BrokenProcessPool as error:
                raise UserError(
                    f"one of {count} processes was killed, perhaps because memory ran out; lower --workers and run the "
                    "same command again: finished episodes are kept"
                ) from error
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _until_the_end(self, pool: ProcessPoolExecutor, waiting: Iterator[Job], ahead: int) -> None:
        """Keep so many episodes ahead of what is known: where all fail alike, few are tried."""
        outcomes = Outcomes(self._watcher)
        coming = {pool.submit(_play, job): job for job in islice(waiting, ahead)}
        while coming:
            done, _ = wait(coming, return_when=FIRST_COMPLETED)
            for future in done:
                job, outcome = coming.pop(future), future.result()
                self._watcher.began(job)
                outcomes.tell(job, outcome)
                coming |= {pool.submit(_play, job): job for job in islice(waiting, 1)}


class _Process:
    """What a process plays with, from its first episode on."""

    entered: _Process

    def __init__(self, config: RunConfig, episodes: Path) -> None:
        self._stage, self._episodes = Stage(Player(config), config), episodes

    @classmethod
    def enter(cls, config: RunConfig, episodes: Path, parent: int) -> None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
        cls.entered = cls(config, episodes)

    def play(self, job: Job) -> Outcome:
        return self._stage.play(job, None, self._episodes, lambda steps, plans: None)


def _play(job: Job) -> Outcome:
    return _Process.entered.play(job)


def _end_with(parent: int) -> None:
    """End this process when the one that made it is gone: a killed one cannot say so."""
    while os.getppid() == parent:
        time.sleep(_GLANCE)
    os._exit(1)
