"""Which episodes a run plays, and how to find the one that a record tells of."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from housewise.core.errors import UserError
from housewise.rollout.system import Task
from housewise.systems.personalize.settings import HouseTaskSettings
from housewise.worlds.house.env import Task as HouseEpisode
from housewise.worlds.house.housekeep.reader import HousekeepData
from housewise.worlds.house.tasks import episodes_of, generated_task, housekeep_task, wishes


@dataclass(frozen=True)
class HouseTask(Task):
    """A task, before its house is loaded.

    Attributes:
        scene: name of the house.
        episode: its number.
        task_set: the list that it was taken from, empty for none.
    """

    scene: str = ""
    episode: int = 0
    task_set: str = ""

    @classmethod
    def of(cls, scene: str, episode: int, task_set: str = "", person: str = "majority") -> HouseTask:
        """A task by its house and number."""
        group = f"{scene}/{task_set}" if task_set else scene
        return cls(f"{scene}-{episode:04d}", group, person, scene, episode, task_set)

    @property
    def seeds(self) -> tuple[int, ...]:
        """See Task.seeds."""
        return zlib.crc32(self.scene.encode()), self.episode


def list_tasks(settings: HouseTaskSettings) -> list[HouseTask]:
    """The tasks of a run, in order, each of them once.

    Raises:
        UserError: when a scene, an episode or a task set does not exist.
    """
    person = settings.person
    if settings.data is None:
        numbers = range(settings.seed, settings.seed + settings.houses)
        return [HouseTask.of(f"generated-{number}", number, person=person) for number in numbers]
    data = _housekeep(settings.data)
    found = [name for scene in settings.scenes or _playable(data) for name in _of_scene(data, scene, settings)]
    if not found:
        raise UserError("no episode to play; see --scene and --episodes")
    return list(dict.fromkeys(found))


def check_person(settings: HouseTaskSettings) -> None:
    """See whether the data, where a run needs it, and the person are there.

    Raises:
        DataError: when they are not; the message names them.
    """
    if settings.data is None:
        wishes(settings.person)
    elif settings.person != "majority":
        _housekeep(settings.data).preferences(settings.person)
    else:
        _housekeep(settings.data)


def load_task(name: HouseTask, settings: HouseTaskSettings) -> HouseEpisode:
    """The house and the episode.

    Where the data's own correct receptacles are the majority's, another person's replace them.
    """
    if settings.data is None:
        return generated_task(name.episode, settings.person, objects=settings.objects, misplaced=settings.misplaced)
    return housekeep_task(_housekeep(settings.data), name.scene, name.episode, settings.person)


def _of_scene(data: HousekeepData, scene: str, settings: HouseTaskSettings) -> Iterator[HouseTask]:
    task_set = settings.episodes if isinstance(settings.episodes, str) else ""
    numbers = episodes_of(data, scene, settings.episodes)
    return (HouseTask.of(scene, number, task_set, settings.person) for number in numbers)


def _playable(data: HousekeepData) -> list[str]:
    return [scene for scene in data.scenes() if data.has_episodes(scene)]


@lru_cache(maxsize=2)
def _housekeep(root: str) -> HousekeepData:
    return HousekeepData(root)
