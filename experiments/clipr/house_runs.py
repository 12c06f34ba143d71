"""Runs in houses with a memory of a person, and what has come of their episodes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from housewise.core.errors import UserError
from housewise.experiments.results import Figure
from housewise.language.adapters import adapter_fingerprint
from housewise.rollout.settings import RunSettings
from housewise.selftrain.personalize.self_training import play
from housewise.selftrain.training_folder import TrainingObserver
from housewise.systems.personalize.record import HouseRecord, read_house_records
from housewise.systems.personalize.settings import PersonalizeSettings, house_settings

_QUICK = {"max_steps": 400, "max_plans": 20}
_COMPARING = ("llm", "memory_nearest")
_ASKED = ("model", "adapter", "base_url")


@dataclass(frozen=True)
class Setup:
    """How robots are set, the same in all houses.

    Attributes:
        config: a YAML file of a run's settings.
        given: settings from the command line, by key.
        overrides: ``key=value`` texts.
        quick: whether episodes are cut short.
    """

    config: Path | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    overrides: Sequence[str] = ()
    quick: bool = False

    @classmethod
    def from_options(cls, config: Path | None, overrides: Sequence[str] | None, quick: bool, **options: Any) -> Setup:
        """From options of the command line, of which some were given."""
        return cls(config, {key: value for key, value in options.items() if value is not None}, overrides or [], quick)

    def settings(self, planner: str) -> PersonalizeSettings:
        """The settings of a run with a planner; what is said of models is for the one that asks them.

        Raises:
            UserError: when a setting does not fit, or names another planner.
        """
        given = {key: value for key, value in self.given.items() if planner == "llm" or key not in _ASKED}
        cut = _QUICK if self.quick else {}
        settings = house_settings(self.config, {**given, **cut, "planner": planner}, self.overrides)
        if settings.agent.planner != planner:
            raise UserError(f"setting planner={settings.agent.planner}: each row has its own; leave it out")
        # The others compare no meanings, and sentence embeddings take longer to load than some episodes to play.
        return settings if planner in _COMPARING else settings.with_changes(memory={"meaning": False})

    @property
    def has_adapter(self) -> bool:
        """Whether the model has an adapter."""
        return self.settings("llm").models.agent.adapter is not None

    @property
    def adapter(self) -> dict[str, str] | None:
        """The name of the model's adapter and SHA-256 of its weights by file, None without one."""
        named = self.settings("llm").models.agent.adapter
        if named is None:
            return None
        return adapter_fingerprint(named)


class Tasked(Protocol):
    """Somebody with tasks; see Household."""

    @property
    def name(self) -> str:
        """Of the person's memory."""
        ...

    def tasks(self, which: str) -> dict[str, Any]:
        """The section of settings that names a set of tasks."""
        ...


@dataclass(frozen=True)
class Stage:
    """Some tasks of a household, played in a folder.

    Attributes:
        household: whose.
        which: set of tasks.
        folder: of the run.
        title: that it is announced by.
        series: of random numbers.
    """

    household: Tasked
    which: str
    folder: Path
    title: str
    series: int = 0

    def measure(
        self, settings: PersonalizeSettings, memory: Path | None, observer: TrainingObserver, whose: str | None = None
    ) -> None:
        """Play the tasks with a memory that stays as it is, and without exploring.

        Args:
            settings: of the robot.
            memory: its folder, None for an empty one.
            observer: told of it.
            whose: name of the memory; the household's own by default.
        """
        folder = str(memory or self.folder / "nothing")
        alone = settings.with_changes(agent={"place_at_random": False})
        start = whose or self.household.name
        self._play(alone, {"start": start, "folder": folder, "new": memory is None, "learn": "never"}, observer)

    def _play(self, settings: PersonalizeSettings, memory: Mapping[str, Any], observer: TrainingObserver) -> None:
        tasks = {**self.household.tasks(self.which), "rng_stream": self.series}
        config = settings.with_changes(tasks=tasks, memory=memory)
        play(self.title, config, self.folder, observer)

    def records(self) -> list[HouseRecord]:
        """What has been played."""
        return list(read_house_records(self.folder / "episodes"))


@dataclass(frozen=True)
class Episode:
    """What has come of an episode.

    Attributes:
        seed: which time.
        task: by name.
        success_rate: percent.
        moved: where things ended that do not stand where they began.
    """

    seed: int
    task: str
    success_rate: float
    moved: Mapping[str, str]

    @classmethod
    def from_record(cls, seed: int, record: HouseRecord) -> Episode:
        """What a record tells."""
        ended = record.final.placements
        moved = {
            thing: ended[thing] for thing, place in record.initial_state.placements.items() if ended[thing] != place
        }
        result = record.result
        return cls(seed, record.header.task, 100 * result.scores["success_rate"], moved)


def collect_episodes(stages: Mapping[int, Stage]) -> list[Episode]:
    """What has come of stages, given by seed."""
    return [Episode.from_record(seed, record) for seed, stage in stages.items() for record in stage.records()]


def figure(episodes: Iterable[Episode]) -> Figure | None:
    """Mean success; its error is over tasks, where those of all seeds count once."""
    return Figure.from_episodes((episode.task, episode.success_rate) for episode in episodes)


def differences(after: Sequence[Episode], before: Sequence[Episode]) -> list[tuple[Hashable, float]]:
    """By how many points success grew, by task, over the tasks and seeds that are in both."""
    earlier = {(episode.seed, episode.task): episode.success_rate for episode in before}
    both = [episode for episode in after if (episode.seed, episode.task) in earlier]
    return [(episode.task, episode.success_rate - earlier[episode.seed, episode.task]) for episode in both]


def in_full(episodes: Sequence[Episode]) -> dict[str, Any]:
    """A figure with its errors over tasks and over seeds, for a JSON file; everything is null without episodes."""
    found = figure(episodes)
    by_seed = _group_by(episodes, lambda episode: episode.seed)
    means = {str(seed): float(np.mean([each.success_rate for each in those])) for seed, those in by_seed.items()}
    over_seeds = float(np.std(list(means.values()), ddof=1) / np.sqrt(len(means))) if len(means) > 1 else None
    return {
        "mean": found and found.mean,
        "error": found and found.error,
        "episodes": len(episodes),
        "tasks": len({episode.task for episode in episodes}),
        "by_seed": means,
        "error_over_seeds": over_seeds,
    }


def one_by_one(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Success and final places of every episode, by task and then by seed, for a JSON file."""
    return {
        task: {str(each.seed): {"success": round(each.success_rate, 2), "moved": dict(each.moved)} for each in those}
        for task, those in _group_by(episodes, lambda episode: episode.task).items()
    }


def shareable_run(settings: RunSettings) -> dict[str, Any]:
    """Settings of a robot without where things are on this machine, and without what its stages set."""
    found = settings.model_dump(
        mode="json",
        include={"world", "agent", "models"},
        exclude={"agent": {"records", "place_at_random"}, "models": {"agent": {"base_url"}}},
    )
    acting = found["models"]["agent"]
    return found | {"models": {"agent": {**acting, "adapter": acting["adapter"] and Path(acting["adapter"]).name}}}


def _group_by(episodes: Sequence[Episode], key: Callable[[Episode], Any]) -> dict[Any, list[Episode]]:
    names = sorted(dict.fromkeys(map(key, episodes)))
    return {name: [episode for episode in episodes if key(episode) == name] for name in names}
