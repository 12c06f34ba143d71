"""Seeded houses and episodes, made up by rules; no data needed."""

from housewise.worlds.house.episode import Episode
from housewise.worlds.house.generator.episodes import Kind, generate_episode, kinds_in
from housewise.worlds.house.generator.house import generate_house
from housewise.worlds.house.generator.house_layout import GenerationError
from housewise.worlds.house.preferences import Preferences
from housewise.worlds.house.scene import Scene

__all__ = ["GenerationError", "Kind", "generate", "generate_episode", "generate_house", "kinds_in"]


def generate(
    seed: int, preferences: Preferences, *, objects: tuple[int, int] = (5, 10), misplaced: tuple[int, int] = (3, 7)
) -> tuple[Scene, Episode]:
    """Make a house and an episode in it; the same seed and preferences make the same.

    Args:
        seed: 0 or more.
        preferences: whose idea of order decides what is out of place.
        objects: fewest and most things.
        misplaced: fewest and most of them that start where they are not wanted.

    Raises:
        GenerationError: when many attempts failed; it says what to change.
        ValueError: when seed is negative.
    """
    scene = generate_house(seed)
    return scene, generate_episode(scene, seed, preferences, objects=objects, misplaced=misplaced)
