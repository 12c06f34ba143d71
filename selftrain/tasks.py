"""Which episodes a run plays, and how to find the one that a record tells of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import yaml

from household.env import Task
from household.errors import UserError
from household.generator import generate
from household.housekeep.reader import HousekeepData
from household.preferences import Preferences, load_person, majority, people
from selftrain.config import RunConfig
from selftrain.record import record_name


@dataclass(frozen=True)
class TaskName:
    """A task, before its house is loaded.

    Attributes:
        scene: name of the house.
        episode: its number.
        task_set: the list that it was taken from, empty for none.
    """

    scene: str
    episode: int
    task_set: str = ""


@dataclass(frozen=True)
class Job:
    """One episode to play.

    Attributes:
        task: which house and episode.
        run: how many times it has been played before.
    """

    task: TaskName
    run: int

    @property
    def name(self) -> str:
        """Name of the record."""
        return record_name(self.task.scene, self.task.episode, self.run)


def task_names(config: RunConfig) -> list[TaskName]:
    """The tasks of a run, in order.

    Raises:
        UserError: when a scene, an episode or a task set does not exist.
    """
    if config.data is None:
        return [TaskName(f"generated-{number}", number) for number in range(config.seed, config.seed + config.houses)]
    data = _housekeep(config.data)
    names = [name for scene in config.scenes or _playable(data) for name in _of_scene(data, scene, config.episodes)]
    if not names:
        raise UserError("no episode to play; see --scene and --episodes")
    return names


def load_task(name: TaskName, config: RunConfig) -> Task:
    """The house and the episode.

    Where the data's own correct receptacles are the majority's, another person's replace them.
    """
    if config.data is None:
        wishes = _generated_preferences(config.person)
        scene, episode = generate(name.episode, wishes, objects=config.objects, misplaced=config.misplaced)
        return Task(scene, episode)
    data = _housekeep(config.data)
    task = Task(data.scene(name.scene), data.episode(name.scene, name.episode))
    return task if config.person == "majority" else task.for_person(data.preferences(config.person))


def _of_scene(data: HousekeepData, scene: str, episodes: list[int] | str | None) -> Iterator[TaskName]:
    ids = data.episode_ids(scene)
    if isinstance(episodes, str):
        for number in _task_set(scene, episodes):
            yield TaskName(scene, number, episodes)
        return
    for number in ids if episodes is None else episodes:
        if number not in ids:
            raise UserError(f"{scene} has no episode {number}; it has {len(ids)}, from {min(ids)} to {max(ids)}")
        yield TaskName(scene, number)


def _task_set(scene: str, name: str) -> list[int]:
    sets: dict[str, Any] = yaml.safe_load(
        (resources.files("housekeep_configs") / "task_sets" / "llm_personalize.yaml").read_text(encoding="utf-8")
    )["scenes"]
    if scene not in sets:
        raise UserError(f"no task sets for {scene}; there are some for {', '.join(sets)}")
    if name not in sets[scene]:
        raise UserError(f"{scene} has no task set {name!r}; it has {', '.join(sets[scene])}")
    return list(sets[scene][name])


def _playable(data: HousekeepData) -> list[str]:
    return [scene for scene in data.scenes() if data.has_episodes(scene)]


@lru_cache(maxsize=2)
def _housekeep(root: str) -> HousekeepData:
    return HousekeepData(root)


@lru_cache(maxsize=8)
def _generated_preferences(who: str) -> Preferences:
    return majority([load_person(name) for name in people()]) if who == "majority" else load_person(who)
