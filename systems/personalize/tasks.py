"""Which episodes a run plays, and how to find the one that a record tells of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from housewise.core.errors import UserError
from housewise.rollout.record import record_name
from housewise.systems.personalize.config import RunConfig
from housewise.worlds.house.env import Task
from housewise.worlds.house.housekeep.reader import HousekeepData
from housewise.worlds.house.tasks import episodes_of, generated_task, housekeep_task, wishes


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
    """The tasks of a run, in order, each of them once.

    Raises:
        UserError: when a scene, an episode or a task set does not exist.
    """
    if config.data is None:
        return [TaskName(f"generated-{number}", number) for number in range(config.seed, config.seed + config.houses)]
    data = _housekeep(config.data)
    names = [name for scene in config.scenes or _playable(data) for name in _of_scene(data, scene, config.episodes)]
    if not names:
        raise UserError("no episode to play; see --scene and --episodes")
    return list(dict.fromkeys(names))


def check_person(config: RunConfig) -> None:
    """See whether the data, where a run needs it, and the person are there.

    Raises:
        DataError: when they are not; the message names them.
    """
    if config.data is None:
        wishes(config.person)
    elif config.person != "majority":
        _housekeep(config.data).preferences(config.person)
    else:
        _housekeep(config.data)


def load_task(name: TaskName, config: RunConfig) -> Task:
    """The house and the episode.

    Where the data's own correct receptacles are the majority's, another person's replace them.
    """
    if config.data is None:
        return generated_task(name.episode, config.person, objects=config.objects, misplaced=config.misplaced)
    return housekeep_task(_housekeep(config.data), name.scene, name.episode, config.person)


def _of_scene(data: HousekeepData, scene: str, episodes: list[int] | str | None) -> Iterator[TaskName]:
    task_set = episodes if isinstance(episodes, str) else ""
    return (TaskName(scene, number, task_set) for number in episodes_of(data, scene, episodes))


def _playable(data: HousekeepData) -> list[str]:
    return [scene for scene in data.scenes() if data.has_episodes(scene)]


@lru_cache(maxsize=2)
def _housekeep(root: str) -> HousekeepData:
    return HousekeepData(root)
