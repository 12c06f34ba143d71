"""People who do not exist: wishes drawn at random, group by group, for a robot that is to learn to go by notes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from housewise.worlds.house.preferences import Group, Person, Places, base_groups

_AS_USUAL = 0.4
"""Share of the groups of things that are wanted where most people want them."""
_ODD = 0.1
"""Share of the other things that are wanted where their group is not."""


def invented_person(seed: int) -> Person:
    """Somebody who wants most groups of things where most people want another group.

    Things of a group are wanted together, but for some: who knows where the mugs go knows of the cups.

    Args:
        seed: the same makes the same person.
    """
    rng, groups = np.random.default_rng([seed, 7]), _groups()
    usual = [group.wanted for group in groups]
    places: dict[str, Places] = {}
    for group in groups:
        wanted = group.wanted if rng.uniform() < _AS_USUAL else usual[rng.integers(len(usual))]
        for thing in group.things:
            places[thing] = usual[rng.integers(len(usual))] if rng.uniform() < _ODD else wanted
    return Person(f"invented-{seed}", "nobody in particular", places)


@lru_cache(maxsize=1)
def _groups() -> tuple[Group, ...]:
    return tuple(base_groups().values())
