"""Loads tasks: generated houses, episodes of the Housekeep data, and named task sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError, suggest_names
from housewise.core.yaml_files import read_yaml
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.generator import generate_episode, generate_house
from housewise.worlds.house.held_out_kinds import ObjectKinds, keep_kinds
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.preferences import (
    MajorityPreferences,
    Preferences,
    bundled_people,
    held_out_people,
    load_preferences,
)
from housewise.worlds.house.scene import Scene

_KEPT_HOUSES = 8


def generated_task(
    number: int,
    person: str = "majority",
    *,
    objects: tuple[int, int] = (5, 10),
    misplaced: tuple[int, int] = (3, 7),
    kinds: ObjectKinds = "all",
) -> RearrangementTask:
    """Generate a house with an episode.

    Args:
        number: Seed of the house.
        person: Whose preferences decide what is correct; see ``resolve_preferences``.
        objects: Least and greatest number of objects.
        misplaced: Least and greatest number of misplaced objects.
        kinds: Which kinds of objects there are.

    Raises:
        UserError: If the person or the kinds do not exist.
        ValueError: If the number is negative, or the numbers of objects contradict each other.
    """
    preferences, scene = keep_kinds(resolve_preferences(person), kinds), _generated_house(number)
    episode = generate_episode(scene, number, preferences, objects=objects, misplaced=misplaced)
    return RearrangementTask(scene, episode)


@lru_cache(maxsize=_KEPT_HOUSES)
def _generated_house(number: int) -> Scene:
    """Generate a house. Repeats of an episode, and episodes of several people, share it."""
    return generate_house(number)


def housekeep_task(data: HousekeepData, scene: str, number: int, person: str = "majority") -> RearrangementTask:
    """Load an episode of the Housekeep data.

    Args:
        data: The data.
        scene: Name of the scene.
        number: Number of the episode.
        person: An annotator, such as ``"annotator-3"``, or ``"majority"`` for the correct receptacles of the data.

    Raises:
        DataError: If the episode or the annotator does not exist.
    """
    task = RearrangementTask(data.scene(scene), data.episode(scene, number))
    return task if person == "majority" else task.for_person(data.preferences(person))


def select_episodes(data: HousekeepData, scene: str, episodes: Sequence[int] | str | None) -> Iterator[int]:
    """Yield the numbers of episodes of a scene.

    Args:
        data: The data.
        scene: Name of the scene.
        episodes: Numbers, the name of a task set, or None for all episodes.

    Raises:
        UserError: If the scene, an episode or the task set does not exist.
    """
    if isinstance(episodes, str):
        sets = task_sets(scene)
        if episodes not in sets:
            raise UserError(f"{scene} has no task set {episodes!r}; {suggest_names(episodes, sets)}")
        yield from sets[episodes]
        return
    ids = data.episode_ids(scene)
    for number in ids if episodes is None else episodes:
        if number not in ids:
            raise UserError(f"{scene} has no episode {number}; it has {len(ids)}, from {min(ids)} to {max(ids)}")
        yield number


def task_sets(scene: str) -> dict[str, list[int]]:
    """Return the episode numbers of each task set of a scene, such as ``"test"``.

    Raises:
        UserError: If the scene has no task sets.
    """
    sets: dict[str, dict[str, list[int]]] = read_yaml(CONFIGS / "task_sets" / "llm_personalize.yaml")["scenes"]
    if scene not in sets:
        remedy = "choose one of them with --scene, or play generated houses with --houses N"
        raise UserError(f"no task sets for {scene}; {suggest_names(scene, sets)}; {remedy}")
    return sets[scene]


@lru_cache(maxsize=8)
def is_known_person(name: str, data: str | None = None) -> bool:
    """Whether a name is that of a person with preferences.

    Args:
        name: A bundled person, an annotator, or ``"majority"``.
        data: Housekeep folder with the annotators, or None for the bundled people.
    """
    if data is None or name == "majority":
        return name in ("majority", *bundled_people(), *held_out_people())
    with suppress(UserError):
        return name in HousekeepData(data).annotators()
    return False


def resolve_preferences(person: str) -> Preferences:
    """Load the preferences of a bundled person, of a YAML file, or of the ``"majority"`` of the bundled people.

    Raises:
        DataError: If the person does not exist.
    """
    return _majority() if person == "majority" else load_preferences(person)


@lru_cache(maxsize=1)
def _majority() -> Preferences:
    return MajorityPreferences(map(load_preferences, bundled_people()))
