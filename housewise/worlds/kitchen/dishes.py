"""Dishes of the text kitchen: which food belongs together, in a container or on other food, and in which layers."""

from __future__ import annotations

from collections.abc import Mapping

from housewise.worlds.kitchen.state import State
from housewise.worlds.kitchen.trace import DishSnapshot, Layer, Sources


def is_food(state: State, id: str) -> bool:
    """Whether an entity is edible."""
    return state[id].can("edible")


def find_dish_root(state: State, food: str) -> str:
    """Return the root of the dish that a food belongs to: its container, or else the lowest food of its pile."""
    root = food
    for holder in state.holders(food):
        if is_food(state, holder):
            root = holder
        else:
            return holder if state[holder].can("container") else root
    return root


def foods_in(state: State, root: str) -> list[str]:
    """Return the food of a dish: all food in its root and on that food, but not in containers inside."""
    found = [root] if is_food(state, root) else []
    waiting = [root]
    while waiting:
        for inside in state.inside(waiting.pop()):
            if is_food(state, inside):
                found.append(inside)
                waiting.append(inside)
    return found


def foods_below(state: State, id: str) -> list[str]:
    """Return all food that ``id`` is or holds, at any depth."""
    return [other for other in (id, *state.descendants(id)) if is_food(state, other)]


def dish_roots_below(state: State, id: str) -> list[str]:
    """Return the roots of all dishes in or on ``id``, including ``id`` itself."""
    return list(dict.fromkeys(find_dish_root(state, food) for food in foods_below(state, id)))


def is_on_appliance(state: State, id: str) -> bool:
    """Whether ``id`` is a cooking appliance, or is in or on one at any depth."""
    return any(state[other].can("cooks") for other in (id, *state.holders(id)))


def snapshot_dish(state: State, root: str, layers: Mapping[str, tuple[Layer, ...]], step: int) -> DishSnapshot:
    """Return a snapshot of a dish."""
    foods = foods_in(state, root)
    all_layers = sorted((layer for food in foods for layer in layers[food]), key=lambda layer: layer.order)
    return DishSnapshot(
        step, root, state[root].can("container"), is_on_appliance(state, root), tuple(all_layers), tuple(foods)
    )


def are_together(layers: tuple[Layer, ...], first: Sources, second: Sources) -> bool:
    """Whether layers contain things of both groups. A thing of both groups is not together with itself."""
    sources = frozenset().union(*(layer.sources for layer in layers))
    ours, theirs = sources & first, sources & second
    return bool(ours and theirs) and len(ours | theirs) > 1


def is_added_before(layers: tuple[Layer, ...], first: Sources, second: Sources) -> bool:
    """Whether layers contain both groups, and something of the first was added before anything of the second."""
    if not are_together(layers, first, second):
        return False
    earliest_first = min(layer.order for layer in layers if layer.sources & first)
    earliest_second = min(layer.order for layer in layers if layer.sources & second)
    return earliest_first < earliest_second
