"""Scenes of the text kitchen: which of the objects are there today.

Source: ADAPT (arXiv 2504.04040), section 3 and appendix C.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from housewise.worlds.kitchen.kitchen_data import Kitchen, load_kitchen
from housewise.worlds.kitchen.state import State


def draw_scene(seed: int, kitchen: Kitchen | None = None) -> State:
    """A scene: the whole house, what is always there, and each other object with the kitchen's presence (0.7).

    What lies in a holder that was not drawn (an egg in its carton) brings the holder in.
    """
    kitchen = kitchen or load_kitchen()
    rng = random.Random(seed)
    present = [
        id
        for inside in kitchen.objects.things.values()
        for id, thing in inside.items()
        if rng.random() < kitchen.objects.presence or thing.always
    ]
    return build_scene(present, kitchen)


def build_scene(present: Iterable[str], kitchen: Kitchen | None = None) -> State:
    """The scene that has exactly these objects, their holders, and what is always there.

    Raises:
        KeyError: an object that the kitchen does not know.
    """
    kitchen = kitchen or load_kitchen()
    homes = kitchen.objects.places()
    always = {id for inside in kitchen.objects.things.values() for id, thing in inside.items() if thing.always}
    there = set(present) | always
    there |= {homes[id].holder for id in there if homes[id].holder in homes}
    things = [entity for entity in kitchen.objects.entities() if entity.id in there]
    places = {**kitchen.furniture, **{id: place for id, place in homes.items() if id in there}}
    tags = {
        id: thing.tags
        for layout in (kitchen.house, kitchen.objects)
        for inside in layout.things.values()
        for id, thing in inside.items()
        if thing.tags and (layout is kitchen.house or id in there)
    }
    return State.create(kitchen.house.entities() + things, places, tags)
