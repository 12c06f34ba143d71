"""Draws placement preferences at random, to train a robot to follow notes about people instead of usual placements."""

from __future__ import annotations

import numpy as np

from housewise.worlds.house.preferences import HousePreferences, Places, default_groups

_AS_USUAL = (0.4, 0.4)
"""Minimum and maximum share of the groups that keep their default receptacles."""
_ODD = 0.1
"""Probability that a category has other receptacles than its group."""


def random_preferences(seed: int, as_usual: tuple[float, float] = _AS_USUAL) -> HousePreferences:
    """Draw the preferences of an imaginary person.

    Some groups keep their default receptacles, the others get those of another group. Most categories share the
    receptacles of their group, so that one can be inferred from another.

    Args:
        seed: Seed of the random number generator. The same seed gives the same preferences.
        as_usual: Minimum and maximum share of the groups that keep their default receptacles.
    """
    rng, groups = np.random.default_rng([seed, 7]), default_groups().values()
    share = np.random.default_rng([seed, 8]).uniform(*as_usual)
    usual = [group.wanted for group in groups]
    places: dict[str, Places] = {}
    for group in groups:
        wanted = group.wanted if rng.uniform() < share else usual[rng.integers(len(usual))]
        for thing in group.things:
            places[thing] = usual[rng.integers(len(usual))] if rng.uniform() < _ODD else wanted
    return HousePreferences(f"invented-{seed}", "nobody in particular", places)
