"""What a system is: a world, an agent, a person and scores, put together so that runs can play it.

A system of somebody else's is a class like those in ``systems/``, named in its package's entry points
(``housewise.systems``); docs/extending.md has one.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from omegaconf import DictConfig, OmegaConf

from housewise.agent.base import Agent
from housewise.core.errors import UserError, excerpt
from housewise.core.plugins import SYSTEMS, load_plugin, plugin_names
from housewise.core.record import Event, Frozen, Record, RecordLine, Result, file_key, record_name
from housewise.core.settings import load_with_derived_defaults, merge_nested, user_values
from housewise.language.adapters import adapter_defaults
from housewise.language.base import ChatModel
from housewise.people.memory import Memory
from housewise.rollout.episode_loop import EpisodeLimits, Progress
from housewise.rollout.scores import Score
from housewise.rollout.settings import RunSettings
from housewise.worlds.base import World

S = TypeVar("S", bound=RunSettings)


@dataclass(frozen=True)
class Task:
    """Something to do, before its world is made.

    Attributes:
        name: of it; the same for all its runs.
        group: what its figures are summed up with: a scene, or a scene and a task set with a slash between them.
        person: for whom.
    """

    name: str
    group: str = ""
    person: str = ""

    @property
    def seeds(self) -> tuple[int, ...]:
        """Numbers that tell it from other tasks."""
        return (zlib.crc32(self.name.encode()),)


@dataclass(frozen=True)
class Job:
    """One episode to play.

    Attributes:
        task: what is to be done.
        run: how many times it has been played before.
        seed: of everything that is drawn.
        earlier: what happened in attempts at it that were cut off, for systems that ask nothing twice.
    """

    task: Task
    run: int = 0
    seed: int = 0
    earlier: tuple[Event, ...] = ()

    @property
    def name(self) -> str:
        """Name of the record."""
        return record_name(self.task.name, self.run)


@dataclass(frozen=True)
class EpisodeSetup:
    """An episode that can begin.

    Attributes:
        world: where it takes place.
        agent: decides.
        setting: what it begins with; None where the task's name says it all.
        limits: when it ends.
    """

    world: World[Any, Any]
    agent: Agent[Any, Any]
    initial_state: Frozen | None = None
    limits: EpisodeLimits = field(default_factory=EpisodeLimits)


class System(ABC, Generic[S]):
    """A system under some settings; it is sent to other processes and machines, and opens what it needs there.

    Files that the settings name are read when it is made, for a machine that lacks them.

    Args:
        settings: of the run.

    Raises:
        UserError: when a file that they name cannot be read.

    Attributes:
        name: in settings, records and entry points.
        Settings: the type of its settings.
        events: types of what happens in its episodes.
        scores: what is measured; the first is the one that counts.
        roles: the models that its episodes ask.
        asks_at_need: whether episodes may do without their models, which are opened when one asks.
        remembers: whether its episodes go by a person's memory, and add to it.
        seconds_each: roughly how long an episode takes on two CPU cores without a model, and with the bundled one;
            None where nobody knows.
        talks: whether somebody at this terminal is asked, where nothing else may be written meanwhile.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[RunSettings]] = RunSettings
    events: ClassVar[Sequence[type[Event]]] = ()
    scores: ClassVar[Sequence[Score]] = ()
    seconds_per_episode: ClassVar[tuple[float | None, float | None]] = (None, None)

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @classmethod
    def defaults(cls) -> DictConfig:
        """Every setting with its default."""
        made = OmegaConf.create(cls.Settings(system=cls.name).model_dump(mode="json"))
        assert isinstance(made, DictConfig)
        return made

    @classmethod
    def advice(cls, settings: Any) -> Mapping[str, Any]:
        """Defaults that some settings bring along, by key.

        Raises:
            ChatModelError: when their adapter learned to act in another system.
        """
        told = adapter_defaults(settings.models.agent.adapter, cls.name)
        return {"agent": told} if told else {}

    @classmethod
    def load(
        cls, file: Path | None = None, settings: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
    ) -> Any:
        """Put a run's settings together; see core.settings.load_settings.

        Raises:
            UserError: when they are another system's, or do not fit.
        """
        for named in user_values("system", file, overrides):
            if named != cls.name:
                raise UserError(f"setting system: these are settings of {named}, not of {cls.name}")

        def advice(found: RunSettings) -> Mapping[str, Any]:
            return merge_nested(cls.advice(found), found.memory_person_settings)

        return load_with_derived_defaults(cls.Settings, cls.defaults(), advice, file, settings, overrides)

    @classmethod
    def upgrade_lines(cls, lines: Sequence[RecordLine]) -> Sequence[RecordLine]:
        """The lines of a record of an earlier version in the form of this one."""
        return lines

    @classmethod
    def add_missing_scores(cls, record: Record) -> Record:
        """A record with scores that an earlier version did not write and that follow from the record."""
        return record

    @classmethod
    def describe_ending(cls, result: Result) -> str:
        """Say how an episode ended, in a few words."""
        steps, plans = result.scores["steps"], result.scores["plans"]
        return f"{result.ended} after {steps:.0f} steps and {plans:.0f} plans"

    @classmethod
    def task_key(cls, setting: Mapping[str, Any]) -> Any:
        """What of a beginning makes it the same task as another one's."""
        return setting

    @property
    def roles(self) -> Sequence[str]:
        """The models that its episodes ask, by role."""
        return ("agent",)

    @property
    def agent(self) -> str:
        """Who acts, for records."""
        return self.name

    @property
    def expected_seconds(self) -> float | None:
        """Roughly how long an episode takes on two CPU cores; None where it asks models that nobody here has timed."""
        models = {getattr(self.settings.models, role).model for role in self.roles}
        without, bundled = self.seconds_per_episode
        return without if not models else bundled if models == {"local"} else None

    @property
    def lazy_models(self) -> bool:
        """Whether episodes may do without their models, which are opened when one asks."""
        return False

    @property
    def uses_memory(self) -> bool:
        """Whether its episodes go by a person's memory, and add to it."""
        return False

    @property
    def interactive(self) -> bool:
        """Whether somebody at this terminal is asked, where nothing else may be written meanwhile."""
        return False

    @property
    def replayed_events(self) -> Sequence[type[Event]]:
        """Types of events that a resumed episode takes from its attempt that was cut off, in place of asking again.

        A local model that is asked for a part of an episode computes it in other steps than the whole, and rounds
        otherwise. What a local model said must not be among them, so that the episode ends as if never cut off.
        """
        return self.events

    def respondents(self, job: Job) -> Sequence[str]:
        """Names of the person who reacts and answers in an episode; none where that is whoever the memory is of.

        What is learned of a person is kept in a memory of one of these names and in no other.
        """
        return [job.task.person] if job.task.person else []

    def is_respondent(self, job: Job, name: str) -> bool:
        """Whether what is learned in an episode may be kept in the memory of somebody; see respondents."""
        names = self.respondents(job)
        return not names or name in names

    def is_local(self, role: str) -> bool:
        """Whether a local model plays a role."""
        return role in self.roles and bool(getattr(self.settings.models, role).local)

    @abstractmethod
    def tasks(self) -> Sequence[Task]:
        """What a run plays, in order.

        Raises:
            UserError: when the settings name something that there is not.
        """

    @abstractmethod
    def open(
        self,
        job: Job,
        models: Mapping[str, ChatModel],
        memory: Memory | None,
        job_data: Any,
        progress: Progress,
    ) -> EpisodeSetup:
        """Make an episode's world and agent.

        Args:
            job: the episode.
            models: by role.
            memory: of the person, None where the system remembers nothing.
            material: what ``material`` gave.
            progress: told of every step of the world that takes time.

        Raises:
            UserError: when something outside the program is wrong.
        """

    def check(self) -> None:
        """Find what cannot work before anything is played.

        Raises:
            UserError: naming it.
        """

    def check_start(self) -> None:
        """Find what no episode can be played without on this machine, before a run's folder is made.

        Models are checked beside; see rollout.models.check_models.

        Raises:
            UserError: naming it.
        """

    def files(self) -> dict[str, Path]:
        """Files of the user's own that episodes depend on, by setting; copies are kept with a run."""
        return {}

    def job_data(self, job: Job) -> Any:
        """What an episode needs of this machine, wherever it is played; it has to be picklable."""
        return None

    def close(self) -> None:
        """Release what episodes have opened."""

    def jobs(self) -> list[Job]:
        """The episodes of a run, in order.

        Raises:
            UserError: when two tasks are named so alike that their episodes would share a record.
        """
        chosen = self.settings.tasks
        jobs = [Job(task, run, self.seed(task, run)) for task in self.tasks() for run in range(chosen.runs)]
        files: dict[str, Job] = {}
        for job in jobs:
            other = files.setdefault(file_key(job.name), job)
            if other is not job:
                raise UserError(
                    f"tasks {excerpt(repr(other.task.name))} and {excerpt(repr(job.task.name))} would share the record "
                    f"{job.name}; give each a name of its own, and name none twice"
                )
        return jobs

    def seed(self, task: Task, run: int) -> int:
        """Of what is drawn in an episode."""
        chosen = self.settings.tasks
        parts = [chosen.seed, *task.seeds, run, *([chosen.series] if chosen.series else [])]
        return int(np.random.SeedSequence(parts).generate_state(1)[0])


def find_system(name: str) -> type[System[Any]]:
    """A system by name.

    Raises:
        UserError: when it is not installed, or is none.
    """
    found = load_plugin(SYSTEMS, name, "system")
    if not (isinstance(found, type) and issubclass(found, System)):
        raise UserError(f"system {name!r}: {found!r} is no class of systems; see docs/extending.md")
    return found


def system_scores(name: str) -> Sequence[Score]:
    """What a system measures; nothing is known of one that is not installed."""
    return find_system(name).scores if name in plugin_names(SYSTEMS) else ()
