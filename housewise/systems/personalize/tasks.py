"""Tasks of LLM-Personalize: the episodes of a run, and how to load the one of a record."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from housewise.core.errors import UserError
from housewise.rollout.system import Task
from housewise.systems.personalize.settings import HouseTaskSettings
from housewise.worlds.house.env import RearrangementTask as HouseEpisode
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.tasks import generated_task, housekeep_task, resolve_preferences, select_episodes


@dataclass(frozen=True)
class HouseTask(Task):
    """A task before its house is loaded.

    Attributes:
        scene: Name of the house.
        episode: Number of the episode.
        task_set: Name of the task set, or empty.
    """

    scene: str = ""
    episode: int = 0
    task_set: str = ""

    @classmethod
    def from_episode(cls, scene: str, episode: int, task_set: str = "", person: str = "majority") -> HouseTask:
        """Return the task of a house and an episode."""
        group = f"{scene}/{task_set}" if task_set else scene
        return cls(f"{scene}-{episode:04d}", group, person, scene, episode, task_set)

    @property
    def seeds(self) -> tuple[int, ...]:
        """See Task.seeds."""
        return zlib.crc32(self.scene.encode()), self.episode


def list_tasks(settings: HouseTaskSettings) -> list[HouseTask]:
    """List the distinct tasks of a run, in order.

    Raises:
        UserError: If a scene, an episode or a task set does not exist.
    """
    person = settings.person
    if settings.data is None:
        numbers = range(settings.seed, settings.seed + settings.houses)
        return [HouseTask.from_episode(f"generated-{number}", number, person=person) for number in numbers]
    data = _housekeep(settings.data)
    tasks = [
        name
        for scene in settings.scenes or _scenes_with_episodes(data)
        for name in _tasks_of_scene(data, scene, settings)
    ]
    if not tasks:
        raise UserError("no episode to play; see --scene and --episodes")
    return list(dict.fromkeys(tasks))


def check_person(settings: HouseTaskSettings) -> None:
    """Check that the person exists, and the data if the settings name any.

    Raises:
        DataError: If one of them is missing.
    """
    if settings.data is None:
        resolve_preferences(settings.person)
    elif settings.person != "majority":
        _housekeep(settings.data).preferences(settings.person)
    else:
        _housekeep(settings.data)


def load_task(name: HouseTask, settings: HouseTaskSettings) -> HouseEpisode:
    """Load the house and the episode. Another person's correct receptacles replace those of the majority."""
    if settings.data is None:
        numbers = {"objects": settings.objects, "misplaced": settings.misplaced}
        return generated_task(name.episode, settings.person, **numbers, kinds=settings.kinds)
    return housekeep_task(_housekeep(settings.data), name.scene, name.episode, settings.person)


def _tasks_of_scene(data: HousekeepData, scene: str, settings: HouseTaskSettings) -> Iterator[HouseTask]:
    task_set = settings.episodes if isinstance(settings.episodes, str) else ""
    numbers = select_episodes(data, scene, settings.episodes)
    return (HouseTask.from_episode(scene, number, task_set, settings.person) for number in numbers)


def _scenes_with_episodes(data: HousekeepData) -> list[str]:
    return [scene for scene in data.scenes() if data.has_episodes(scene)]


@lru_cache(maxsize=2)
def _housekeep(root: str) -> HousekeepData:
    return HousekeepData(root)
