"""What an episode is made of: its task, the job to play it, the context in which it is opened, and its setup."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from housewise.agent.base import Agent, Decide
from housewise.core.errors import UserError
from housewise.core.record import Event, Frozen, record_name
from housewise.language.base import ChatModel
from housewise.people.memory import Memory
from housewise.rollout.episode_loop import EpisodeLimits, Progress
from housewise.worlds.base import World


@dataclass(frozen=True)
class Task:
    """A task, before its world is created.

    Attributes:
        name: Name of the task, the same for all of its episodes.
        group: Group that metrics are summarised by: a scene, or a scene and a task set with a slash between them.
        person: Name of the person whom the task is done for.
    """

    name: str
    group: str = ""
    person: str = ""

    @property
    def seeds(self) -> tuple[int, ...]:
        """Numbers that identify the task, for the seeds of its episodes."""
        return (zlib.crc32(self.name.encode()),)


@dataclass(frozen=True)
class Job:
    """One episode to play.

    Attributes:
        task: Task of the episode.
        run: Number of the episode among those of its task, from 0.
        seed: Seed of the random number generator.
        interrupted_events: Events of interrupted attempts at the episode, for systems that ask nothing twice.
    """

    task: Task
    run: int = 0
    seed: int = 0
    interrupted_events: tuple[Event, ...] = ()

    @property
    def name(self) -> str:
        """Name of the record."""
        return record_name(self.task.name, self.run)

    @property
    def earlier(self) -> tuple[Event, ...]:
        """Former name of `interrupted_events`."""
        warnings.warn("Job.earlier is now called interrupted_events", DeprecationWarning, stacklevel=2)
        return self.interrupted_events


@dataclass(frozen=True)
class EpisodeContext:
    """What a system gets to open an episode.

    Attributes:
        job: The episode.
        models: Open chat models by role; see `System.roles`.
        memory: Memory of the person, or None if the system uses no memory.
        job_data: Data that `System.job_data` returned for the episode.
        progress: Called as `progress(done, total, message)` for every step that takes time.
    """

    job: Job
    models: Mapping[str, ChatModel]
    memory: Memory | None
    job_data: Any
    progress: Progress

    @property
    def own_memory(self) -> Memory:
        """Memory of the person, for systems with ``uses_memory``."""
        if self.memory is None:
            raise UserError("this system has no memory; set uses_memory = True in its class")
        return self.memory


@dataclass(frozen=True)
class EpisodeSetup:
    """An episode that can start.

    Attributes:
        world: World in which it takes place.
        agent: Agent that decides, or a function in place of its method ``decide``.
        initial_state: Initial state for the record, or None if the task's name says everything.
        limits: When the episode ends early.
    """

    world: World[Any, Any]
    agent: Agent[Any, Any] | Decide[Any, Any]
    initial_state: Frozen | None = None
    limits: EpisodeLimits = field(default_factory=EpisodeLimits)
