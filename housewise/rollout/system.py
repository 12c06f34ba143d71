"""A system: a world, an agent, a person and scores, put together so that runs can play it.

The bundled systems are in `systems/`. Other packages name theirs in the entry points `housewise.systems`; see
docs/extending.md for an example.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, get_args

import numpy as np

from housewise.core.errors import UserError
from housewise.core.migrations.code_names import find_former_name
from housewise.core.plugins import SYSTEMS, load_plugin, plugin_names
from housewise.core.printable_text import excerpt
from housewise.core.record import Event, UnknownEvent
from housewise.core.record_files import FRAME, file_key
from housewise.core.settings import merge_nested
from housewise.core.settings_loading import configured_systems, load_with_derived_defaults
from housewise.rollout.capabilities import OptionalCapabilities, S
from housewise.rollout.episode import EpisodeContext, EpisodeSetup, Job, Task
from housewise.rollout.legacy_systems import adapt_legacy_system
from housewise.rollout.note_events import NOTE_EVENTS
from housewise.rollout.scores import USAGE, Score
from housewise.rollout.settings import RunSettings

__all__ = [
    "EpisodeContext",
    "EpisodeSetup",
    "Job",
    "System",
    "Task",
    "find_system",
    "reply_limit_name",
    "system_scores",
]


class System(OptionalCapabilities[S], ABC):
    """A system with the settings of a run. It is sent to other processes and machines, and opens episodes there.

    A system defines `name`, `Settings`, `events`, `scores`, `tasks` and `open`. Everything else is optional; see
    `OptionalCapabilities`. Files that the settings name are read by `__init__`, since other machines may lack them.

    Args:
        settings: Settings of the run.

    Raises:
        UserError: A file that the settings name cannot be read.

    Attributes:
        name: Name in settings, records and entry points.
        Settings: Class of its settings. Defaults to ``S`` of a class that inherits from ``System[S]``.
        events: Types of the events that its episodes record.
        scores: Scores of its episodes, the main one first.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[RunSettings]] = RunSettings
    events: ClassVar[Sequence[type[Event]]] = ()
    scores: ClassVar[Sequence[Score]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        adapt_legacy_system(cls)
        _check_names(cls)
        for base in vars(cls).get("__orig_bases__", ()):
            given = get_args(base)
            if (
                "Settings" not in vars(cls)
                and given
                and isinstance(given[0], type)
                and issubclass(given[0], RunSettings)
            ):
                cls.Settings = given[0]

    def __init__(self, settings: S) -> None:
        # Settings that a program made itself may not name the system.
        self.settings = settings if settings.system else settings.model_copy(update={"system": self.name})

    @abstractmethod
    def tasks(self) -> Sequence[Task]:
        """Return the tasks of a run, in order.

        Raises:
            UserError: The settings name a task that does not exist.
        """

    @abstractmethod
    def open(self, context: EpisodeContext) -> EpisodeSetup:
        """Create the world and the agent of an episode.

        Raises:
            UserError: A problem that the user can fix.
        """

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return every setting with its default."""
        return cls.Settings(system=cls.name).model_dump(mode="json")

    @classmethod
    def load(
        cls, file: Path | None = None, settings: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
    ) -> Any:
        """Load the settings of a run; see `core.settings_loading.load_settings`.

        Raises:
            UserError: The settings are invalid, or belong to another system.
        """
        for named in configured_systems(file, overrides, cls.name):
            if named != cls.name:
                raise UserError(f"setting system: these are settings of {named}, not of {cls.name}")

        def advice(found: RunSettings) -> Mapping[str, Any]:
            return merge_nested(cls.advice(found), found.memory_person_settings)

        return load_with_derived_defaults(cls.Settings, cls.defaults(), advice, file, settings, overrides)

    def check_one_at_a_time(self, setting: str) -> None:
        """Check that episodes are played one at a time if a user at the terminal is asked.

        Args:
            setting: The setting by which the user is asked, for the message.

        Raises:
            UserError: Several episodes would ask at the same time.
        """
        execution = self.settings.execution
        if self.interactive and (execution.workers > 1 or execution.ray is not None):
            raise UserError(f"{setting}: one person answers one episode at a time; leave out --workers and --ray")

    def jobs(self) -> list[Job]:
        """Return the episodes of a run, in order.

        Raises:
            UserError: The names of two tasks are so similar that their episodes would share a record.
        """
        chosen = self.settings.tasks
        jobs = [Job(task, run, self.seed(task, run)) for task in self.tasks() for run in range(chosen.repeats)]
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
        """Return the seed of an episode."""
        chosen = self.settings.tasks
        parts = [chosen.seed, *task.seeds, run, *([chosen.rng_stream] if chosen.rng_stream else [])]
        return int(np.random.SeedSequence(parts).generate_state(1)[0])


def _check_names(system: type[System[Any]]) -> None:
    """Check that records tell a system's events and scores apart from each other and from those of every system.

    Raises:
        UserError: Two have the same name.
    """
    kinds: tuple[type[Event], ...] = (*FRAME.values(), *NOTE_EVENTS.values(), UnknownEvent)
    taken = {kind.type: kind for kind in kinds}
    for event in system.events:
        if (other := taken.setdefault(event.type, event)) is not event:
            raise UserError(
                f"system {system.__name__}: events {other.__name__} and {event.__name__} have the same type, "
                f"{event.type!r}; rename one, or give it another `type`"
            )
    for score in {score.name for score in system.scores} & {score.name for score in USAGE}:
        raise UserError(f"system {system.__name__}: score {score!r} is measured of every system; give it another name")


def find_system(name: str) -> type[System[Any]]:
    """Return the class of a system by name.

    Raises:
        UserError: The system is not installed, or the entry point names no class of systems.
    """
    found = load_plugin(SYSTEMS, name, "system")
    if not (isinstance(found, type) and issubclass(found, System)):
        raise UserError(f"system {name!r}: {found!r} is no class of systems; see docs/extending.md")
    return found


def system_scores(name: str) -> Sequence[Score]:
    """Return the scores of a system, or nothing if it is not installed."""
    return find_system(name).scores if name in plugin_names(SYSTEMS) else ()


def reply_limit_name(system: str) -> str:
    """Return the name of the setting that limits the tokens of a reply, without its section."""
    found = find_system(system) if system in plugin_names(SYSTEMS) else System
    return found.reply_limit.rpartition(".")[2]


def __getattr__(name: str) -> Any:
    return find_former_name(__name__, name)
