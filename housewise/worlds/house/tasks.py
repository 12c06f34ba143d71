"""Tasks by name: generated houses, and episodes of the Housekeep data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError, suggest_names
from housewise.core.yaml_files import read_yaml
from housewise.worlds.house.env import Task
from housewise.worlds.house.generator import generate
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.preferences import Preferences, load_person, majority, people, strangers


def generated_task(
    number: int,
    person: str = "majority",
    *,
    objects: tuple[int, int] = (5, 10),
    misplaced: tuple[int, int] = (3, 7),
) -> Task:
    """A generated house with its episode.

    Args:
        number: the house's seed.
        person: whose idea of order counts: one of worlds.house.preferences.people(), a YAML file, or ``"majority"``.
        objects: fewest and most things.
        misplaced: fewest and most of them that start where they are not wanted.
    """
    return Task(*generate(number, wishes(person), objects=objects, misplaced=misplaced))


def housekeep_task(data: HousekeepData, scene: str, number: int, person: str = "majority") -> Task:
    """An episode of the Housekeep data.

    Args:
        data: the folder.
        scene: name of the scene.
        number: of the episode.
        person: an annotator as ``"annotator-3"``; ``"majority"`` leaves the data's own correct receptacles.

    Raises:
        DataError: when there is no such episode or annotator.
    """
    task = Task(data.scene(scene), data.episode(scene, number))
    return task if person == "majority" else task.for_person(data.preferences(person))


def episodes_of(data: HousekeepData, scene: str, episodes: Sequence[int] | str | None) -> Iterator[int]:
    """Numbers of a scene's episodes.

    Args:
        data: the folder.
        scene: name of the scene.
        episodes: numbers, the name of a task set, or None for all.

    Raises:
        UserError: when the scene, an episode or the task set does not exist.
    """
    if isinstance(episodes, str):
        yield from _task_set(scene, episodes)
        return
    ids = data.episode_ids(scene)
    for number in ids if episodes is None else episodes:
        if number not in ids:
            raise UserError(f"{scene} has no episode {number}; it has {len(ids)}, from {min(ids)} to {max(ids)}")
        yield number


def task_sets(scene: str) -> dict[str, list[int]]:
    """The lists of a scene's tasks that have names, such as ``"test"``.

    Raises:
        UserError: when it has none.
    """
    sets: dict[str, dict[str, list[int]]] = read_yaml(CONFIGS / "task_sets" / "llm_personalize.yaml")["scenes"]
    if scene not in sets:
        raise UserError(f"no task sets for {scene}; {suggest_names(scene, sets)}")
    return sets[scene]


def _task_set(scene: str, name: str) -> list[int]:
    sets = task_sets(scene)
    if name not in sets:
        raise UserError(f"{scene} has no task set {name!r}; {suggest_names(name, sets)}")
    return list(sets[name])


@lru_cache(maxsize=8)
def is_known_person(name: str, data: str | None = None) -> bool:
    """Whether somebody of this name has preferences.

    Args:
        name: of a person who comes along, of the majority, or of an annotator.
        data: the Housekeep folder with the annotators; None for those who come along.
    """
    if data is None or name == "majority":
        return name in ("majority", *people(), *strangers())
    with suppress(UserError):
        return name in HousekeepData(data).annotators()
    return False


@lru_cache(maxsize=8)
def wishes(who: str) -> Preferences:
    """Whose idea of order counts: one of housewise.worlds.house.preferences.people(), a YAML file, or ``"majority"``.

    Raises:
        DataError: when there is no such person.
    """
    return majority([load_person(name) for name in people()]) if who == "majority" else load_person(who)
