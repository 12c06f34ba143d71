"""Which episode may start next: episodes that share a person's memory run in order, all others in parallel."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from housewise.core.record import Event
from housewise.people.memory import Memory
from housewise.rollout.note_events import MemoryChange
from housewise.rollout.settings import Learn
from housewise.rollout.system import Job


@dataclass(frozen=True)
class ScheduledJob:
    """An episode to play, with everything that it depends on.

    Attributes:
        job: The episode.
        memory: Memory of the person before the episode, or None if the system uses no memory.
        job_data: Data from the machine that started the run, as `System.job_data` returned it.
    """

    job: Job
    memory: Memory | None = None
    job_data: Any = None


class Scheduler:
    """A thread-safe queue of the episodes of a run.

    Args:
        jobs: Episodes of the run in order.
        job_data: Returns the data of an episode; see `System.job_data`.
        memories: Memories by person, or None if the system uses no memory.
        person: Returns the name of the person whose memory an episode uses.
        learned: Returns the events of a finished episode that change the memory.
        learn: When notes are recalled; see `MemorySettings`.
        earlier: Returns the events of interrupted attempts at an episode.
        played: Memory changes of the episodes that were finished before, by name. They are not played again; where
            notes are recalled from episode to episode, only those of earlier episodes are.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        job_data: Callable[[Job], Any] = lambda job: None,
        memories: Mapping[str, Memory] | None = None,
        person: Callable[[Job], str] = lambda job: job.task.person,
        learned: Callable[[Job], Iterable[MemoryChange]] = lambda job: (),
        learn: Learn = "episode",
        earlier: Callable[[Job], tuple[Event, ...]] = lambda job: (),
        played: Mapping[str, Sequence[MemoryChange]] = MappingProxyType({}),
    ) -> None:
        self._job_data, self._learned, self._earlier = job_data, learned, earlier
        self._memories, self._person, self._played = memories, person, played
        self._ordered = memories is not None and learn == "episode"
        self._queues: dict[str, deque[Job]] = {}
        for number, job in enumerate(jobs):
            if self._ordered or job.name not in played:
                self._queues.setdefault(person(job) if self._ordered else str(number), deque()).append(job)
        for queue in self._queues.values():
            # A queue is over after its last open episode.
            while queue and queue[-1].name in played:
                queue.pop()
        self._busy: set[str] = set()
        self._queue_of: dict[str, str] = {job.name: name for name, queue in self._queues.items() for job in queue}
        self._changed = threading.Condition()
        self._stopped = False

    def __len__(self) -> int:
        """Return the number of episodes that have not started."""
        return sum(job.name not in self._played for queue in self._queues.values() for job in queue)

    def count_active_workers(self, workers: int) -> int:
        """Return how many of some workers can play at the same time: each queue plays one episode at a time."""
        return max(1, min(workers, sum(map(bool, self._queues.values()))))

    def take_next(self) -> ScheduledJob | None:
        """Return the next episode that may start now, or None if there is none."""
        with self._changed:
            name = self._find_free_queue()
            if name is None:
                return None
            self._busy.add(name)
            job = self._pop_open_job(self._queues[name])
            memory = None if self._memories is None else self._memories[self._person(job)]
            if self._ordered and memory is not None:
                memory = memory.copy()
        return ScheduledJob(replace(job, interrupted_events=self._earlier(job)), memory, self._job_data(job))

    def wait_for_next(self) -> ScheduledJob | None:
        """Wait until an episode may start and return it, or None if all episodes have started."""
        while True:
            with self._changed:
                while self._find_free_queue() is None and len(self) and not self._stopped:
                    self._changed.wait()
                if self._stopped or not len(self):
                    return None
            if (scheduled := self.take_next()) is not None:
                return scheduled

    def stop(self) -> None:
        """Let no further episode start, and wake all waiting threads."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def finish_job(self, job: Job, finished: bool = True) -> None:
        """Mark an episode as played, and change the memory as it says that the next episode of its queue uses.

        Args:
            job: The episode.
            finished: Whether the episode was played to its end. Notes of failed episodes are discarded.
        """
        if finished and self._ordered:
            self._change_memory(job, self._learned(job))
        with self._changed:
            self._busy.discard(self._queue_of[job.name])
            self._changed.notify_all()

    def _pop_open_job(self, queue: deque[Job]) -> Job:
        """Return the next episode to play, after changing the memory as the finished ones before it say."""
        while (job := queue.popleft()).name in self._played:
            # Records of earlier versions may hold notes of other people.
            person = self._person(job)
            self._change_memory(job, (each for each in self._played[job.name] if each.note.person == person))
        return job

    def _change_memory(self, job: Job, changes: Iterable[MemoryChange]) -> None:
        if self._memories is not None:
            memory = self._memories[self._person(job)]
            for change in changes:
                change.apply(memory)

    def _find_free_queue(self) -> str | None:
        return next((name for name, queue in self._queues.items() if queue and name not in self._busy), None)
