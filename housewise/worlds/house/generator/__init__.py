"""Procedural generation of houses and episodes from a seed, without a data set."""

from housewise.worlds.house.episode import RearrangementEpisode
from housewise.worlds.house.generator.episodes import CategoryPlaces, find_category_places, generate_episode
from housewise.worlds.house.generator.house import generate_house
from housewise.worlds.house.generator.house_layout import GenerationError
from housewise.worlds.house.preferences import Preferences
from housewise.worlds.house.scene import Scene

__all__ = [
    "CategoryPlaces",
    "GenerationError",
    "find_category_places",
    "generate",
    "generate_episode",
    "generate_house",
]


def generate(
    seed: int, preferences: Preferences, *, objects: tuple[int, int] = (5, 10), misplaced: tuple[int, int] = (3, 7)
) -> tuple[Scene, RearrangementEpisode]:
    """Generate a house and an episode in it. The same seed and preferences give the same house and episode.

    Args:
        seed: Seed of the random number generator, 0 or more.
        preferences: Preferences that decide which receptacles are correct.
        objects: Least and greatest number of objects.
        misplaced: Least and greatest number of misplaced objects.

    Raises:
        GenerationError: If all attempts failed; the message says what to change.
        ValueError: If the seed is negative.
    """
    scene = generate_house(seed)
    return scene, generate_episode(scene, seed, preferences, objects=objects, misplaced=misplaced)
