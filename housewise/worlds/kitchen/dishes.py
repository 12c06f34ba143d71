"""Food in containers and food on food: what one dish holds at a moment, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping

from housewise.worlds.kitchen.state import State
from housewise.worlds.kitchen.trace import Layer, DishSnapshot, Sources


def is_food(state: State, id: str) -> bool:
    return state[id].can("edible")


def find_dish_root(state: State, food: str) -> str:
    """The root of the dish that some food belongs to: its container, else the lowest food of the pile it lies on."""
    root = food
    for holder in state.holders(food):
        if is_food(state, holder):
            root = holder
        else:
            return holder if state[holder].can("container") else root
    return root


def foods_in(state: State, root: str) -> list[str]:
    """The food of a dish: what lies in its root, or on food that does, but not what is in containers within."""
    found = [root] if is_food(state, root) else []
    waiting = [root]
    while waiting:
        for inside in state.inside(waiting.pop()):
            if is_food(state, inside):
                found.append(inside)
                waiting.append(inside)
    return found


def foods_below(state: State, id: str) -> list[str]:
    """All the food that ``id`` is or holds, at any depth."""
    return [other for other in (id, *state.descendants(id)) if is_food(state, other)]


def dish_roots_below(state: State, id: str) -> list[str]:
    """The roots of all dishes that are in or on ``id``, itself included."""
    return list(dict.fromkeys(find_dish_root(state, food) for food in foods_below(state, id)))


def is_on_appliance(state: State, id: str) -> bool:
    """Whether ``id`` is a cooking appliance or is on or in one at any depth."""
    return any(state[other].can("cooks") for other in (id, *state.holders(id)))


def snapshot_dish(state: State, root: str, layers: Mapping[str, tuple[Layer, ...]], step: int) -> DishSnapshot:
    """What a dish holds now."""
    foods = foods_in(state, root)
    all_layers = sorted((layer for food in foods for layer in layers[food]), key=lambda layer: layer.order)
    return DishSnapshot(step, root, state[root].can("container"), is_on_appliance(state, root), tuple(all_layers), tuple(foods))


def are_together(layers: tuple[Layer, ...], first: Sources, second: Sources) -> bool:
    """Whether things of two groups are there; one thing that belongs to both is not together with itself."""
    sources = frozenset().union(*(layer.sources for layer in layers))
    ours, theirs = sources & first, sources & second
    return bool(ours and theirs) and len(ours | theirs) > 1


def is_added_before(layers: tuple[Layer, ...], first: Sources, second: Sources) -> bool:
    """Whether something of the first group went in before anything of the second, and both are there."""
    if not are_together(layers, first, second):
        return False
    earliest_first = min(layer.order for layer in layers if layer.sources & first)
    earliest_second = min(layer.order for layer in layers if layer.sources & second)
    return earliest_first < earliest_second
