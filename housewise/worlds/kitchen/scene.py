"""Scenes of the text kitchen: random subsets of its objects.

Source: ADAPT (arXiv 2504.04040), section 3 and appendix C.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from housewise.worlds.kitchen.kitchen_data import KitchenData, load_kitchen
from housewise.worlds.kitchen.state import State


def draw_scene(seed: int, kitchen: KitchenData | None = None) -> State:
    """Draw a scene: the whole house, all objects marked with ``always``, and each other one with probability 0.7.

    A drawn object also adds its holder, such as the carton of an egg.
    """
    kitchen = kitchen or load_kitchen()
    rng = random.Random(seed)
    present = [
        id
        for id, thing in kitchen.objects.things_by_id.items()
        if rng.random() < kitchen.objects.presence or thing.always
    ]
    return build_scene(present, kitchen)


def build_scene(present: Iterable[str], kitchen: KitchenData | None = None) -> State:
    """Build a scene with the given objects, their holders, and all objects marked with ``always``.

    Raises:
        KeyError: The kitchen does not have one of the objects.
    """
    kitchen = kitchen or load_kitchen()
    homes = kitchen.objects.places()
    there = set(present) | {id for id, thing in kitchen.objects.things_by_id.items() if thing.always}
    there |= {homes[id].holder for id in there if homes[id].holder in homes}
    things = [entity for entity in kitchen.objects.entities() if entity.id in there]
    places = {**kitchen.furniture, **{id: place for id, place in homes.items() if id in there}}
    tags = {
        id: thing.tags
        for layout in (kitchen.house, kitchen.objects)
        for id, thing in layout.things_by_id.items()
        if thing.tags and (layout is kitchen.house or id in there)
    }
    return State.create(kitchen.house.entities() + things, places, tags)
