"""Generates episodes: draws the objects of a house, their initial receptacles, and which of them are misplaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from housewise.worlds.house.episode import HouseObject, RearrangementEpisode, ShelfState
from housewise.worlds.house.generator.house_layout import GenerationError
from housewise.worlds.house.generator.object_sizes import SIZES
from housewise.worlds.house.geometry import Pose, Vec3
from housewise.worlds.house.preferences import Preferences
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.shelf_packing import ShelfPacker
from housewise.worlds.house.spoken_names import spoken_name

_ATTEMPTS = 20
_SAME_AGAIN = 0.15
_CLEARANCE = 0.004


@dataclass(frozen=True)
class CategoryPlaces:
    """The receptacles of one house for a category of objects.

    Attributes:
        category: The category, for example ``"tea_towel"``.
        correct: Keys of the receptacles where the category is wanted and fits.
        wrong: Keys of all other receptacles on which it fits.
    """

    category: str
    correct: tuple[str, ...]
    wrong: tuple[str, ...]


def generate_episode(
    scene: Scene,
    seed: int,
    preferences: Preferences,
    *,
    objects: tuple[int, int] = (5, 10),
    misplaced: tuple[int, int] = (3, 7),
) -> RearrangementEpisode:
    """Generate an episode in a house. The same seed gives the same episode.

    Args:
        scene: The house.
        seed: Seed of the random number generator, 0 or more; becomes the episode's id.
        preferences: Preferences that decide which receptacles are correct.
        objects: Least and greatest number of objects.
        misplaced: Least and greatest number of misplaced objects.

    Returns:
        An episode in which every misplaced object has a correct receptacle, with room for all of them together.

    Raises:
        GenerationError: If the house has receptacles for too few categories of the preferences.
        ValueError: If the seed is negative, or the numbers contradict each other.
    """
    _check_counts(seed, objects, misplaced)
    kinds = find_category_places(scene, preferences)
    for attempt in range(_ATTEMPTS):
        episode = _draw_episode(scene, seed, kinds, objects, misplaced, np.random.default_rng([seed, attempt, 1]))
        if episode is not None:
            return episode
    raise GenerationError(
        f"no episode for seed {seed} in {scene.name}: only {len(kinds)} categories have both correct and wrong "
        f"receptacles for {preferences.name!r}; try another house, or add receptacles to the preferences"
    )


def _check_counts(seed: int, objects: tuple[int, int], misplaced: tuple[int, int]) -> None:
    if seed < 0:
        raise ValueError(f"seed must be 0 or more, not {seed}")
    if not 0 < objects[0] <= objects[1]:
        raise ValueError(f"objects must be a minimum of 1 or more and a maximum, such as (5, 10), not {objects}")
    if not 0 <= misplaced[0] <= misplaced[1]:
        raise ValueError(f"misplaced must be a minimum of 0 or more and a maximum, such as (3, 7), not {misplaced}")
    if misplaced[0] > objects[0] or misplaced[1] > objects[1]:
        raise ValueError(f"misplaced {misplaced} exceeds objects {objects}; lower misplaced or raise objects")


def find_category_places(scene: Scene, preferences: Preferences) -> list[CategoryPlaces]:
    """Return the categories with correct and wrong receptacles in a house, with the receptacles on which they fit."""
    room_kinds = {room.name: room.kind for room in scene.rooms}
    alike: dict[tuple[str, str], list[tuple[str, Vec3]]] = {}
    for place in scene.usable_receptacles:
        alike.setdefault((room_kinds[place.room or ""], place.kind), []).append((place.key, place.box.size))
    kinds = []
    for category, size in SIZES.items():
        correct: list[str] = []
        wrong: list[str] = []
        for (room, kind), places in alike.items():
            side = correct if preferences.wants(category, room, kind) else wrong
            side += [key for key, surface in places if _fits(surface, size)]
        if correct and wrong:
            kinds.append(CategoryPlaces(category, tuple(correct), tuple(wrong)))
    return kinds


def _fits(surface: Vec3, size: Vec3) -> bool:
    """Whether an object fits on an empty receptacle, rotated by a quarter turn or not."""
    width, _, depth = surface
    across, along = size[0] + _CLEARANCE, size[2] + _CLEARANCE
    return (across <= width and along <= depth) or (along <= width and across <= depth)


def _draw_episode(
    scene: Scene,
    seed: int,
    kinds: Sequence[CategoryPlaces],
    objects: tuple[int, int],
    misplaced: tuple[int, int],
    rng: np.random.Generator,
) -> RearrangementEpisode | None:
    wanted = int(rng.integers(objects[0], objects[1] + 1))
    out_of_place = int(rng.integers(misplaced[0], min(misplaced[1], wanted) + 1))
    table = _EpisodeLayout(scene)
    for kind in _shuffle_categories(kinds, rng):
        if len(table.things) == wanted:
            break
        table.place(kind, kind.wrong if len(table.things) < out_of_place else kind.correct, rng)
    if len(table.things) < wanted or not table.is_solvable():
        return None
    return RearrangementEpisode(
        id=seed,
        scene=scene.name,
        start=scene.random_start(rng),
        receptacles=tuple(place.key for place in scene.receptacles if place.usable),
        objects=tuple(table.things[pick] for pick in rng.permutation(wanted)),
        shelves={key: shelf.state for key, shelf in table.shelves.items()},
        split="generated",
    )


def _shuffle_categories(kinds: Sequence[CategoryPlaces], rng: np.random.Generator) -> Iterator[CategoryPlaces]:
    """Yield every category once in random order, and some of them twice in a row."""
    for pick in rng.permutation(len(kinds)):
        yield kinds[pick]
        if rng.uniform() < _SAME_AGAIN:
            yield kinds[pick]


class _EpisodeLayout:
    """The objects of an episode while it is generated."""

    def __init__(self, scene: Scene) -> None:
        self.things: list[HouseObject] = []
        self.shelves: dict[str, ShelfPacker] = {}
        self._places = scene.by_key
        self._numbers: Counter[str] = Counter()

    def place(self, kind: CategoryPlaces, places: Sequence[str], rng: np.random.Generator) -> None:
        """Draw one of some receptacles and add an object on it, if it has room."""
        place = self._places[places[int(rng.integers(len(places)))]]
        key = f"{kind.category}_{self._numbers[kind.category] + 1}"
        width, height, depth = SIZES[kind.category]
        spot = self.shelves.setdefault(place.key, self._empty_shelves(place.key)).insert(key, width, depth)
        if spot is None:
            return
        self._numbers[kind.category] += 1
        self.things.append(
            HouseObject(
                key=key,
                name=spoken_name(key),
                category=kind.category,
                size=(spot.width, height, spot.depth),
                pose=Pose((spot.x, place.box.top + height / 2, spot.z)),
                receptacle=place.key,
                correct=frozenset(kind.correct),
            )
        )

    def is_solvable(self) -> bool:
        """Whether all misplaced objects, one after another, find room on correct receptacles."""
        shelves = {key: ShelfPacker(shelf.state) for key, shelf in self.shelves.items()}
        for thing in self.things:
            if not thing.is_misplaced:
                continue
            shelves[thing.receptacle].remove(thing.key)
            goals = (shelves.setdefault(key, self._empty_shelves(key)) for key in sorted(thing.correct))
            if all(goal.insert(thing.key, thing.size[0], thing.size[2]) is None for goal in goals):
                return False
        return True

    def _empty_shelves(self, key: str) -> ShelfPacker:
        return ShelfPacker(ShelfState.empty(self._places[key].box))
