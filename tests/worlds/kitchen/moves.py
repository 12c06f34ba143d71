"""A kitchen with all objects, actions in it, and random actions."""

import random

from housewise.worlds.kitchen.dishes import is_on_appliance
from housewise.worlds.kitchen.kitchen_data import load_kitchen
from housewise.worlds.kitchen.scene import build_scene
from housewise.worlds.kitchen.state import State
from housewise.worlds.kitchen.world import TextKitchen

_VERBS = load_kitchen().verbs


def full_kitchen(**options) -> TextKitchen:
    """Return a kitchen with all objects."""
    return TextKitchen(1, scene=build_scene(load_kitchen().objects.places()), **options)


def run_actions(*actions: str) -> TextKitchen:
    """Return the full kitchen after some possible actions."""
    world = full_kitchen()
    for action in actions:
        step = world.step(action)
        assert not step.failed, f"{action}: {step.observation}"
    return world


def draw_action(state: State, rng: random.Random) -> str:
    """Draw an action that is mostly possible: named entities exist, and mixed containers are not empty."""
    ids = list(state.entities)
    foods = [id for id in ids if state[id].can("edible")]
    packets = [id for id in ids if state[id].contents]
    vessels = [id for id in ids if state[id].can("container")]
    busy = [id for id in vessels if state.inside(id)]
    verb = rng.choice([*_VERBS.open, *_VERBS.cooking])
    name = rng.choice(["omelette", "toast", "coffee", "mash", "soup_1", "milk_1"])
    choice = rng.randrange(10)
    if choice <= 2:
        packet = rng.choice(packets)
        return f"Pour {state[packet].contents} from {packet} into {rng.choice(busy or vessels)}"
    if choice == 3:
        thing = rng.choice([id for id in ids if state.holder(id)])
        return f"Move {thing} from {state.holder(thing)} to {rng.choice(vessels + foods + ['stove_0', 'table_1'])}"
    if choice == 4:
        return f"Move {rng.choice(foods)} to {rng.choice(vessels + foods + ['oven_0', 'counter_0'])}"
    if choice == 5:
        return f"Serve the object {rng.choice(vessels + packets)} at {rng.choice(['table_0', 'island_0', 'tray_0'])}"
    if choice == 6 and busy:
        return f"{verb} items in {rng.choice(busy)} to get {name}"
    if choice == 7:
        heated = [id for id in foods if is_on_appliance(state, id)]
        return f"{verb} the object {rng.choice(heated or foods)} to get {name}"
    if choice == 8:
        return f"Heat {rng.choice([id for id in ids if is_on_appliance(state, id)])}"
    on_board = [id for id in foods if state[state.holder(id) or id].can("chops")]
    return f"Chop {rng.choice(on_board or foods)} to get {name}"
