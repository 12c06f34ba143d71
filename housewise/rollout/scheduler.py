"""Which episode may begin next: those that go by one person's memory are played in order, all others side by side."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from housewise.core.record import Event
from housewise.people.memory import Memory, Note
from housewise.rollout.settings import Learn
from housewise.rollout.system import Job


@dataclass(frozen=True)
class ScheduledJob:
    """An episode to play, and what it goes by.

    Attributes:
        job: the episode.
        memory: of the person as it is before the episode; None where nothing is remembered.
        material: what the system needs of the machine that the run was started on.
    """

    job: Job
    memory: Memory | None = None
    job_data: Any = None


class Scheduler:
    """Episodes that wait; any number of threads may take them.

    Args:
        jobs: in order.
        material: of an episode; see System.material.
        memories: of people by name; None where nothing is remembered.
        person: whose memory an episode goes by.
        learned: what was learned in an episode that is over.
        learn: when that is recalled; see MemorySettings.
        earlier: what happened in attempts at an episode that were cut off.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        job_data: Callable[[Job], Any] = lambda job: None,
        memories: Mapping[str, Memory] | None = None,
        person: Callable[[Job], str] = lambda job: job.task.person,
        learned: Callable[[Job], Iterable[Note]] = lambda job: (),
        learn: Learn = "episode",
        earlier: Callable[[Job], tuple[Event, ...]] = lambda job: (),
    ) -> None:
        self._job_data, self._learned, self._earlier = job_data, learned, earlier
        self._memories, self._person = memories, person
        self._ordered = memories is not None and learn == "episode"
        self._queues: dict[str, deque[Job]] = {}
        for number, job in enumerate(jobs):
            name = person(job) if self._ordered else str(number)
            self._queues.setdefault(name, deque()).append(job)
        self._busy: set[str] = set()
        self._queue_of: dict[str, str] = {job.name: name for name, queue in self._queues.items() for job in queue}
        self._changed = threading.Condition()
        self._stopped = False

    def __len__(self) -> int:
        """Episodes that have not begun."""
        return sum(map(len, self._queues.values()))

    def count_active_workers(self, workers: int) -> int:
        """How many of some workers have something to do: of a lane only one episode is played at a time."""
        return max(1, min(workers, sum(map(bool, self._queues.values()))))

    def take_next(self) -> ScheduledJob | None:
        """The next episode that may begin now; None where there is none."""
        with self._changed:
            name = self._find_free_queue()
            if name is None:
                return None
            self._busy.add(name)
            job = self._queues[name].popleft()
            memory = None if self._memories is None else self._memories[self._person(job)]
            if self._ordered and memory is not None:
                memory = memory.copy()
        return ScheduledJob(replace(job, earlier=self._earlier(job)), memory, self._job_data(job))

    def wait_for_next(self) -> ScheduledJob | None:
        """The next episode, when one may begin; None where all have begun."""
        while True:
            with self._changed:
                while self._find_free_queue() is None and len(self) and not self._stopped:
                    self._changed.wait()
                if self._stopped or not len(self):
                    return None
            if (scheduled := self.take_next()) is not None:
                return scheduled

    def stop(self) -> None:
        """Nothing more is to begin; who waits is told so."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def finish_job(self, job: Job, finished: bool = True) -> None:
        """An episode is over; the next of its lane goes by what was learned in it.

        Args:
            job: the episode.
            finished: whether it came to its end; what failed is forgotten.
        """
        if finished and self._ordered and self._memories is not None:
            memory = self._memories[self._person(job)]
            for note in self._learned(job):
                memory.add(note)
        with self._changed:
            self._busy.discard(self._queue_of[job.name])
            self._changed.notify_all()

    def _find_free_queue(self) -> str | None:
        return next((name for name, queue in self._queues.items() if queue and name not in self._busy), None)
