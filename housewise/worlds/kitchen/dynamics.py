"""The dynamics of the text kitchen: preconditions, effects and observations of each action.

An impossible action raises ``ImpossibleAction`` with the reason and changes nothing.
Source: ADAPT (arXiv 2504.04040), section 3 and table 3.
"""

from __future__ import annotations

import copy
import itertools
import random
import re

from housewise.worlds.kitchen.action_parser import ImpossibleAction, KitchenAction
from housewise.worlds.kitchen.dishes import (
    dish_roots_below,
    find_dish_root,
    foods_below,
    is_food,
    is_on_appliance,
    snapshot_dish,
)
from housewise.worlds.kitchen.kitchen_data import KitchenData
from housewise.worlds.kitchen.name_resolution import (
    describe_entity,
    resolve_contents,
    resolve_entity,
    search_house,
)
from housewise.worlds.kitchen.state import Entity, Place, State
from housewise.worlds.kitchen.trace import Layer, PreparedFood, Serving, Trace

_LAST_NUMBER = re.compile(r"_?\d+$")
_OPPOSITE_TAGS = {
    "open": ("open", "closed"),
    "close": ("closed", "open"),
    "turn_on": ("on", "off"),
    "turn_off": ("off", "on"),
}


class KitchenDynamics:
    """Executes actions in one scene and keeps their trace.

    Args:
        start: The scene.
        kitchen: Furniture, verbs and names of the kitchen.
        rng: Orders the results of ``look for``.

    Attributes:
        trace: All that happened so far; ``trace.state`` is the current state.
        done: Whether the robot declared the task done.
    """

    def __init__(self, start: State, kitchen: KitchenData, rng: random.Random | None = None) -> None:
        self.trace = Trace(start)
        self.done = False
        self._kitchen = kitchen
        self._rng = rng or random.Random(0)
        self._order = 0
        self._layers: dict[str, tuple[Layer, ...]] = {
            id: (Layer(0, frozenset({id})),) for id in start.entities if is_food(start, id)
        }
        self._state = start

    def execute(self, action: KitchenAction, text: str) -> str:
        """Execute an action and return the observation.

        Args:
            action: The parsed action.
            text: Its text, for the trace.

        Raises:
            ImpossibleAction: The action fails, and nothing has changed.
        """
        self._state = self.trace.state
        observation: str = getattr(self, f"_do_{action.name}")(action)
        self.trace.states.append(self._state)
        self.trace.actions.append(text)
        return observation

    def fork(self) -> KitchenDynamics:
        """Return a copy at the same moment, in which a planner can try actions."""
        other = copy.copy(self)
        other.trace = self.trace.copy()
        other._layers = dict(self._layers)
        other._rng = random.Random(0)
        return other

    @property
    def _step(self) -> int:
        """Number of the step that is being executed, from 1."""
        return self.trace.step + 1

    def _resolve(self, words: str) -> str:
        return resolve_entity(words, self.trace)

    # Looking and speaking

    def _do_ask(self, action: KitchenAction) -> str:
        return ""

    def _do_done(self, action: KitchenAction) -> str:
        self.done = True
        return "The task is declared done."

    def _do_search(self, action: KitchenAction) -> str:
        id = self._resolve(action.x)
        inside = [describe_entity(self._state[other]) for other in self._state.inside(id)]
        contents = self._state[id].contents
        found = ", ".join(([contents] if contents else []) + inside)
        return f"Found {found} in/on {id}" if found else f"Found nothing in/on {id}"

    def _do_look_for(self, action: KitchenAction) -> str:
        return search_house(action.x, self._state, self._rng)

    # States of things

    def _do_open(self, action: KitchenAction) -> str:
        id, (tag, opposite) = self._resolve(action.x), _OPPOSITE_TAGS[action.name]
        if tag in ("on", "off") and not self._state[id].can("cooks"):
            raise ImpossibleAction(f"{id} is no cooking appliance.")
        self._state = self._state.with_tags(id, tag, without=[opposite])
        return f"{id} is now {tag}"

    _do_close = _do_turn_on = _do_turn_off = _do_open

    def _do_heat(self, action: KitchenAction) -> str:
        id = self._resolve(action.x)
        self._require_appliance(id)
        foods = foods_below(self._state, id)
        self._state = self._state.with_tags(id, "hot")
        for food in foods:
            self._state = self._state.with_tags(food, "hot", "cooked")
        self.trace.record_use([id, *foods], self._step)
        self.trace.record_cooking(foods, self._step)
        return f"{id} is now hot"

    def _require_appliance(self, id: str) -> None:
        if not is_on_appliance(self._state, id):
            appliances = [other for other, entity in self._state.entities.items() if entity.can("cooks")]
            raise ImpossibleAction(
                f"{id} is on no cooking appliance, but in/on {self._state.holder(id)}. "
                f"Cooking appliances are {', '.join(appliances)}."
            )

    # Moving and pouring

    def _do_move(self, action: KitchenAction) -> str:
        id, to = self._resolve(action.x), self._resolve(action.y)
        self._relocate(id, to)
        contents = self._state[id].contents
        hint = f". What it contains stays in it: to get {contents} out, pour {contents} from {id}" if contents else ""
        return f"{id} is now in/on {to}{hint}"

    def _do_move_from(self, action: KitchenAction) -> str:
        holder, to = self._resolve(action.y), self._resolve(action.z)
        id = resolve_contents(action.x, holder, self.trace)
        if id is None:
            id = self._take_portion(holder, to)
        else:
            self._relocate(id, to)
            if self._state[holder].can("container"):
                self.trace.record_use([holder], self._step)
        return f"{id} is now in/on {to}"

    _do_pour = _do_move_from

    def _relocate(self, id: str, to: str) -> None:
        entity = self._state[id]
        if entity.can("room") or (id in self._kitchen.furniture and not entity.can("movable")):
            raise ImpossibleAction(f"{id} cannot be moved.")
        if to == id or self._state.is_within(to, id):
            raise ImpossibleAction(f"{id} cannot be put into itself.")
        left = find_dish_root(self._state, id) if is_food(self._state, id) else id
        self._state = self._state.put(id, to)
        if left != id and left != find_dish_root(self._state, id):
            self._take_snapshot(left)
        self._record_arrival(id, to)

    def _take_portion(self, packet: str, to: str) -> str:
        """Add some of the contents of a packet as an entity of its own. The packet stays full."""
        source = self._state[packet]
        contents = source.contents
        assert contents is not None
        if to == packet:
            raise ImpossibleAction(f"{contents} is in {packet} already.")
        id = self._new_name(contents)
        affords = frozenset() if source.can("inedible") else frozenset({"edible"})
        portion = Entity(id, contents, f"{contents.replace('_', ' ')} from {packet}", affords)
        self._state = self._state.with_entity(portion, Place(to))
        self.trace.sources[id] = frozenset({packet})
        self.trace.portions[id] = packet
        self.trace.record_use([packet], self._step)
        self._record_arrival(id, to)
        return id

    def _record_arrival(self, id: str, to: str) -> None:
        """Record that ``id`` was used, what it was added to, and where it was served."""
        state, step, shot = self._state, self._step, ""
        self.trace.record_use([id], step)
        if is_food(state, id):
            self._order += 1
            for food in foods_below(state, id):
                if find_dish_root(state, food) == find_dish_root(state, id):
                    self._layers[food] = (Layer(self._order, self.trace.sources_of(food)),)
            root = find_dish_root(state, id)
            if state[root].can("container") or state[to].can("cooks"):
                self.trace.record_use([root if state[root].can("container") else to], step)
            self._take_snapshot(root)
            shot = root
        for root in dish_roots_below(state, id):
            if root != shot:
                self._take_snapshot(root)
        self._record_serving(id, to)

    def _record_serving(self, id: str, to: str) -> None:
        places = [other for other in (to, *self._state.holders(to)) if self._state[other].can("dines")]
        foods = foods_below(self._state, id)
        if places and foods:
            sources = frozenset().union(*(self.trace.sources_of(food) for food in foods))
            self.trace.servings.append(Serving(self._step, places[0], sources))

    def _take_snapshot(self, root: str) -> None:
        self.trace.snapshots.append(snapshot_dish(self._state, root, self._layers, self._step))

    # Preparing food

    def _do_items(self, action: KitchenAction) -> str:
        """Replace all food in a container by one prepared food."""
        holder, verb = self._resolve(action.x), action.verb or action.name
        if not self._state[holder].can("container"):
            raise ImpossibleAction(f"{holder} is no container that food can be prepared in.")
        if verb in self._kitchen.verbs.cooking:
            self._require_appliance(holder)
        inside = self._state.inside(holder)
        if not inside:
            raise ImpossibleAction(f"{holder} is empty.")
        parts = [food for child in inside if is_food(self._state, child) for food in self._pile(child)]
        if not parts:
            raise ImpossibleAction(
                f"{', '.join(inside)} in {holder} cannot be eaten; pour or move food into {holder} first."
            )
        layers = tuple(sorted((x for part in parts for x in self._layers[part]), key=lambda layer: layer.order))
        id = self._new_name(action.result)
        for child, place in list(self._state.places.items()):
            if place.holder in parts and child not in parts:
                self._state = self._state.put(child, holder)
        self._state = self._state.without_entities(parts)
        self._add_prepared_food(id, parts, verb, Place(holder), layers)
        self.trace.record_use([holder], self._step)
        self._take_snapshot(find_dish_root(self._state, id))
        return f"{id} is now in/on {holder}, made of {', '.join(parts)}"

    _do_mix = _do_cook = _do_items

    def _pile(self, food: str) -> list[str]:
        """Return a food and all food that lies on it."""
        on_it = [child for child in self._state.inside(food) if is_food(self._state, child)]
        return [food, *(other for child in on_it for other in self._pile(child))]

    def _do_chop(self, action: KitchenAction) -> str:
        id = self._find_food(action.x)
        holder = self._state.holder(id)
        if holder is None or not self._state[holder].can("chops"):
            surfaces = [other for other, entity in self._state.entities.items() if entity.can("chops")]
            raise ImpossibleAction(
                f"{id} is on no chopping surface, but in/on {holder}. Chop on {', '.join(surfaces)}."
            )
        return self._transform(id, action.result, "chop")

    def _do_object(self, action: KitchenAction) -> str:
        id = self._find_food(action.x)
        if action.verb in self._kitchen.verbs.cooking:
            self._require_appliance(id)
        return self._transform(id, action.result, action.verb)

    def _find_food(self, words: str) -> str:
        id = self._resolve(words)
        if not is_food(self._state, id):
            contents = self._state[id].contents or ", ".join(self._state.inside(id))
            hint = f"; pour or move {contents} out of it first" if contents else ""
            raise ImpossibleAction(f"{id} is not edible{hint}.")
        return id

    def _transform(self, id: str, result: str, verb: str) -> str:
        """Replace a food by a prepared one in the same place. What lies on it stays on it."""
        name = self._new_name(result)
        place = self._state.places[id]
        on_it = self._state.inside(id)
        self._add_prepared_food(name, [id], verb, place, self._layers[id])
        for child in on_it:
            self._state = self._state.put(child, name)
        self._state = self._state.without_entities([id])
        if is_on_appliance(self._state, place.holder):
            self.trace.record_use([place.holder], self._step)
        self._take_snapshot(find_dish_root(self._state, name))
        return f"{id} is now {name} in/on {place.holder}"

    def _add_prepared_food(self, id: str, parts: list[str], verb: str, place: Place, layers: tuple[Layer, ...]) -> None:
        """Add a prepared food. The caller removes its parts."""
        verbs = self._kitchen.verbs
        cooks = verb in verbs.cooking or (verb in verbs.warming and is_on_appliance(self._state, place.holder))
        cooked = cooks or any(self.trace.state.has_tag(part, "cooked") for part in parts)
        tags = [tag for tag, true in (("cooked", cooked), ("hot", cooks)) if true]
        entity = Entity(id, _LAST_NUMBER.sub("", id), f"made of {', '.join(parts)}", frozenset({"edible"}))
        self._state = self._state.with_entity(entity, place, tags)
        sources = frozenset().union(*(self.trace.sources_of(part) for part in parts))
        self.trace.sources[id] = sources
        self._layers[id] = layers
        self.trace.record_use(parts, self._step)
        if cooks:
            self.trace.record_cooking([id], self._step)
        self.trace.made.append(PreparedFood(self._step, id, verb, sources, cooks, tuple(parts)))

    def _new_name(self, wanted: str) -> str:
        """Return the wanted name, with the lowest number that makes it unused if it is or was taken."""
        taken = self._kitchen.ids | self.trace.sources.keys() | self.trace.start.entities.keys()
        if wanted not in taken:
            return wanted
        plain = _LAST_NUMBER.sub("", wanted) or wanted
        return next(name for number in itertools.count() if (name := f"{plain}_{number}") not in taken)
