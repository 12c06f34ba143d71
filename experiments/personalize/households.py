"""People whose robots remember them: which tasks they have, and how their memories are filled and put to the test."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from housewise.core.errors import UserError
from housewise.core.record import record_name
from housewise.core.record_files import FINISHED
from housewise.experiments.personalize.study import GENERATED, executability, success, unique_placements
from housewise.experiments.results import Figure
from housewise.language.adapters import adapter_fingerprint
from housewise.people.memory import Memory, MemoryFolder, Note
from housewise.rollout.note_events import learned_notes
from housewise.rollout.record_reader import read_record
from housewise.rollout.run_memory import continued_memory_settings
from housewise.rollout.saved_settings import parse_saved_settings
from housewise.rollout.settings import MemorySettings, RunSettings
from housewise.selftrain.personalize.self_training import play
from housewise.selftrain.training_folder import TrainingObserver
from housewise.systems.personalize.record import HouseRecord, read_house_records
from housewise.systems.personalize.settings import HouseTaskSettings, PersonalizeSettings, house_settings
from housewise.systems.personalize.tasks import list_tasks
from housewise.worlds.house.tasks import task_sets

DEMO, TRAIN, TEST, OTHER = "demo", "train", "test", "other"

_HOUSES = {
    DEMO: {"houses": 10, "seed": 1000},
    TRAIN: {"houses": 20, "seed": 2000},
    TEST: {"houses": 20, "seed": 9200},
}
QUICK_STEPS = 400
"""As long as an episode has to be for something to be moved in a small house."""

_QUICK = {"max_steps": QUICK_STEPS, "max_plans": 20}
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
        recipe: by name or file, how robots are taught whose model is trained; see experiments.personalize.weights.
    """

    config: Path | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    overrides: Sequence[str] = ()
    quick: bool = False
    recipe: Path = Path("paper")

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


@dataclass(frozen=True)
class Household:
    """A person, and the tasks that are done for them.

    Attributes:
        scene: of the data, or GENERATED.
        data: the Housekeep folder; for generated houses, and where nothing is played any more, None.
        person: whose wishes count.
        few: whether only the first task of each set is played.
    """

    scene: str
    data: Path | None = None
    person: str = "majority"
    few: bool = False

    @property
    def name(self) -> str:
        """Of the person's memory."""
        return Path(self.person).stem

    @property
    def tests(self) -> tuple[str, ...]:
        """The sets of tasks that nothing is learned from."""
        sets = _HOUSES if self.scene == GENERATED else task_sets(self.scene)
        return tuple(name for name in (TEST, OTHER) if name in sets)

    def tasks(self, which: str) -> dict[str, Any]:
        """The section of settings that names a set of tasks.

        Raises:
            UserError: when there are no data for them.
        """
        if self.scene == GENERATED:
            chosen = {**_HOUSES[which], **({"houses": 1} if self.few else {})}
            return {"data": None, "person": self.person, **chosen}
        if self.data is None:
            raise UserError(
                f"{self.scene}: name the Housekeep folder with --data or HOUSEKEEP_DATA, or play --scene {GENERATED}"
            )
        episodes = task_sets(self.scene)[which][:1] if self.few else which
        return {"data": str(self.data), "scenes": [self.scene], "episodes": episodes, "person": self.person}

    def size(self, which: str) -> int:
        """How many tasks a set has."""
        if self.scene == GENERATED or self.few:
            return 1 if self.few else _HOUSES[which]["houses"]
        return len(task_sets(self.scene)[which])


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

    def learn(self, settings: PersonalizeSettings, start: Path | None, observer: TrainingObserver) -> Path:
        """Play the tasks side by side and remember what was learned.

        Args:
            settings: of the robot.
            start: folder of the memory to go on from, which stays as it is; None for an empty one.
            observer: told of it.

        Returns:
            Folder of the memory that it ends with.
        """
        begun = str(start or self.folder / "nothing")
        memory = MemorySettings(start=self.household.name, folder=begun, new=start is None)
        self._play(settings, continued_memory_settings(memory, self.folder), observer)
        return self.folder / "memory"

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

    def settings(self) -> dict[str, Any] | None:
        """How the robot was set that played them, for a JSON file; None before anything was played."""
        played = next(iter(read_house_records(self.folder / "episodes")), None)
        if played is None:
            return None
        header = played.header
        return shareable_run(
            parse_saved_settings(header.system, header.settings, played.name, strict=False, trust_code=True)
        )

    def notes(self) -> Iterator[Note]:
        """What was learned, episode after episode in the order of the tasks."""
        for task in list_tasks(HouseTaskSettings(**self.household.tasks(self.which))):
            path = self.folder / "episodes" / f"{record_name(task.name, 0)}{FINISHED}"
            yield from learned_notes(read_record(path)) if path.exists() else ()

    def memory_at_start(self) -> Memory | None:
        """What was remembered when it began, None before that."""
        folder = MemoryFolder(self.folder / "memory_at_start")
        return folder.load(self.household.name) if self.household.name in folder.people() else None


@dataclass(frozen=True)
class Episode:
    """What has come of an episode.

    Attributes:
        seed: which time.
        task: by name.
        success_rate: percent.
        executability: share of the steps that were tried or skipped that succeeded, percent.
        unique_placements: how many placements (thing, place) were tried out.
        moved: where things ended that do not stand where they began.
    """

    seed: int
    task: str
    success_rate: float
    executability: float
    unique_placements: float
    moved: Mapping[str, str]

    @classmethod
    def from_record(cls, seed: int, record: HouseRecord) -> Episode:
        """What a record tells."""
        ended = record.final.placements
        moved = {
            thing: ended[thing] for thing, place in record.initial_state.placements.items() if ended[thing] != place
        }
        result = record.result
        done = success(result), executability(result), unique_placements(result)
        return cls(seed, record.header.task, *done, moved)


def collect_episodes(stages: Mapping[int, Stage]) -> list[Episode]:
    """What has come of stages, given by seed."""
    return [Episode.from_record(seed, record) for seed, stage in stages.items() for record in stage.records()]


def figure(episodes: Iterable[Episode], measure: str = "success_rate") -> Figure | None:
    """Mean of a measure, a field of Episode; its error is over tasks, where those of all seeds count once."""
    return Figure.from_episodes((episode.task, getattr(episode, measure)) for episode in episodes)


def differences(after: Sequence[Episode], before: Sequence[Episode]) -> list[tuple[Hashable, float]]:
    """By how many points success grew, by task, over the tasks and seeds that are in both."""
    earlier = {(episode.seed, episode.task): episode.success_rate for episode in before}
    both = [episode for episode in after if (episode.seed, episode.task) in earlier]
    return [(episode.task, episode.success_rate - earlier[episode.seed, episode.task]) for episode in both]


def success_gain(after: Sequence[Episode], before: Sequence[Episode]) -> Figure | None:
    """By how much success grew, points; None where nothing has been played twice."""
    return Figure.from_episodes(differences(after, before))


def in_full(episodes: Sequence[Episode], measure: str = "success_rate") -> dict[str, Any]:
    """A figure with its errors over tasks and over seeds, for a JSON file; everything is null without episodes."""
    found = figure(episodes, measure)
    by_seed = _group_by(episodes, lambda episode: episode.seed)
    means = {str(seed): float(np.mean([getattr(each, measure) for each in those])) for seed, those in by_seed.items()}
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


def starts_of(records: Iterable[HouseRecord]) -> dict[str, dict[str, str]]:
    """Where things stand at first, by task."""
    return {record.header.task: dict(record.initial_state.placements) for record in records}


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
