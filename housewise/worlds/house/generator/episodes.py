"""Generated episodes: which things are in a house, where they stand, and which of them are out of place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from housewise.worlds.house.episode import Episode, HouseObject, ShelfState
from housewise.worlds.house.generator.house_layout import GenerationError
from housewise.worlds.house.generator.object_sizes import SIZES
from housewise.worlds.house.geometry import Pose, Vec3, yaw_rotation
from housewise.worlds.house.preferences import Preferences
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.shelf_packing import Shelves
from housewise.worlds.house.spoken_names import spoken

_ATTEMPTS = 20
_SAME_AGAIN = 0.15
_CLEARANCE = 0.004


@dataclass(frozen=True)
class Kind:
    """A category of object in one house: where people want it, and where else it could stand."""

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
) -> Episode:
    """Put things into a house; the same seed makes the same episode.

    Args:
        scene: the house.
        seed: 0 or more; becomes the episode's id.
        preferences: whose idea of order decides what is out of place.
        objects: fewest and most things.
        misplaced: fewest and most of them that start where they are not wanted.

    Returns:
        An episode in which every misplaced object has a receptacle where it is wanted, and all of them
        find room there together.

    Raises:
        GenerationError: when the house has no places for enough of what the preferences speak of.
        ValueError: when seed is negative, or the numbers contradict each other.
    """
    if seed < 0 or not 0 < objects[0] <= objects[1] or not 0 <= misplaced[0] <= misplaced[1] <= objects[1]:
        raise ValueError(f"cannot make an episode of seed {seed}, objects {objects}, misplaced {misplaced}")
    kinds = kinds_in(scene, preferences)
    for attempt in range(_ATTEMPTS):
        episode = _attempt(scene, seed, kinds, objects, misplaced, np.random.default_rng([seed, attempt, 1]))
        if episode is not None:
            return episode
    raise GenerationError(
        f"no episode for seed {seed} in {scene.name}: {len(kinds)} categories have both places where "
        f"{preferences.name!r} wants them and others; try another house or more places in the preferences"
    )


def kinds_in(scene: Scene, preferences: Preferences) -> list[Kind]:
    """The categories that have a right and a wrong place in a house, with the places where they fit."""
    room_kinds = {room.name: room.kind for room in scene.rooms}
    alike: dict[tuple[str, str], list[tuple[str, Vec3]]] = {}
    for place in scene.receptacles:
        if place.usable and place.room is not None:
            alike.setdefault((room_kinds[place.room], place.kind), []).append((place.key, place.box.size))
    kinds = []
    for category, size in SIZES.items():
        correct: list[str] = []
        wrong: list[str] = []
        for (room, kind), places in alike.items():
            side = correct if preferences.wants(category, room, kind) else wrong
            side += [key for key, surface in places if _fits(surface, size)]
        if correct and wrong:
            kinds.append(Kind(category, tuple(correct), tuple(wrong)))
    return kinds


def _fits(surface: Vec3, size: Vec3) -> bool:
    """Whether a thing has room on an empty receptacle, turned by a quarter or not."""
    width, _, depth = surface
    across, along = size[0] + _CLEARANCE, size[2] + _CLEARANCE
    return (across <= width and along <= depth) or (along <= width and across <= depth)


def _attempt(
    scene: Scene,
    seed: int,
    kinds: Sequence[Kind],
    objects: tuple[int, int],
    misplaced: tuple[int, int],
    rng: np.random.Generator,
) -> Episode | None:
    wanted = int(rng.integers(objects[0], objects[1] + 1))
    out_of_place = int(rng.integers(misplaced[0], min(misplaced[1], wanted) + 1))
    table = _Table(scene)
    for kind in _drawn(kinds, rng):
        if len(table.things) == wanted:
            break
        table.lay(kind, kind.wrong if len(table.things) < out_of_place else kind.correct, rng)
    if len(table.things) < wanted or not table.can_be_tidied():
        return None
    return Episode(
        id=seed,
        scene=scene.name,
        start=_start(scene, rng),
        receptacles=tuple(place.key for place in scene.receptacles if place.usable),
        objects=tuple(table.things[pick] for pick in rng.permutation(wanted)),
        shelves={key: shelf.state for key, shelf in table.shelves.items()},
        split="generated",
    )


def _drawn(kinds: Sequence[Kind], rng: np.random.Generator) -> Iterator[Kind]:
    """Every kind once in random order, now and then one twice in a row."""
    for pick in rng.permutation(len(kinds)):
        yield kinds[pick]
        if rng.uniform() < _SAME_AGAIN:
            yield kinds[pick]


def _start(scene: Scene, rng: np.random.Generator) -> Pose:
    x, z = scene.navmesh.random_point(rng)
    return Pose((float(x), scene.navmesh.height, float(z)), yaw_rotation(float(rng.uniform(-np.pi, np.pi))))


class _Table:
    """The things of an episode while they are laid out."""

    def __init__(self, scene: Scene) -> None:
        self.things: list[HouseObject] = []
        self.shelves: dict[str, Shelves] = {}
        self._places = scene.by_key
        self._numbers: Counter[str] = Counter()

    def lay(self, kind: Kind, places: Sequence[str], rng: np.random.Generator) -> None:
        """Stand one more thing on one of some places, if there is room on the one that is drawn."""
        place = self._places[places[int(rng.integers(len(places)))]]
        key = f"{kind.category}_{self._numbers[kind.category] + 1}"
        width, height, depth = SIZES[kind.category]
        spot = self._shelves_of(place.key).insert(key, width, depth)
        if spot is None:
            return
        self._numbers[kind.category] += 1
        self.things.append(
            HouseObject(
                key=key,
                name=spoken(key),
                category=kind.category,
                size=(spot.width, height, spot.depth),
                pose=Pose((spot.x, place.box.top + height / 2, spot.z)),
                receptacle=place.key,
                correct=frozenset(kind.correct),
            )
        )

    def can_be_tidied(self) -> bool:
        """Whether all that is out of place finds room where it is wanted, one after the other."""
        shelves = {key: Shelves(shelf.state) for key, shelf in self.shelves.items()}
        for thing in self.things:
            if not thing.misplaced:
                continue
            shelves[thing.receptacle].remove(thing.key)
            goals = (shelves.setdefault(key, Shelves(self._empty(key))) for key in sorted(thing.correct))
            if all(goal.insert(thing.key, thing.size[0], thing.size[2]) is None for goal in goals):
                return False
        return True

    def _shelves_of(self, key: str) -> Shelves:
        if key not in self.shelves:
            self.shelves[key] = Shelves(self._empty(key))
        return self.shelves[key]

    def _empty(self, key: str) -> ShelfState:
        box = self._places[key].box
        return ShelfState((box.low[0], box.low[2]), (box.size[0], box.size[2]))
