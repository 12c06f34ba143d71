"""The laws of the text kitchen: what each action needs, what it changes, and what is observed.

Source: ADAPT (arXiv 2504.04040), section 3 and table 3. An action that is not possible raises ``Impossible`` with the
reason and changes nothing.
"""

from __future__ import annotations

import copy
import itertools
import random
import re

from housewise.worlds.kitchen.action_parser import KitchenAction, ImpossibleAction
from housewise.worlds.kitchen.dishes import find_dish_root, dish_roots_below, foods_below, is_food, is_on_appliance, snapshot_dish
from housewise.worlds.kitchen.kitchen_data import Kitchen
from housewise.worlds.kitchen.name_resolution import Resembles, describe, resolve_entity, resolve_contents, search_house
from housewise.worlds.kitchen.state import Entity, Place, State
from housewise.worlds.kitchen.trace import Layer, PreparedFood, Serving, Trace

_LAST_NUMBER = re.compile(r"_?\d+$")


class KitchenDynamics:
    """One scene being cooked in.

    Attributes:
        trace: all that happened so far; ``trace.state`` is how things stand.
        done: whether the robot declared itself done.
    """

    def __init__(
        self, start: State, kitchen: Kitchen, rng: random.Random | None = None, resembles: Resembles | None = None
    ) -> None:
        self.trace = Trace(start)
        self.done = False
        self._kitchen = kitchen
        self._rng = rng or random.Random(0)
        self._resembles = resembles
        self._order = 0
        self._layers: dict[str, tuple[Layer, ...]] = {
            id: (Layer(0, frozenset({id})),) for id in start.entities if is_food(start, id)
        }
        self._state = start

    def execute(self, action: KitchenAction, text: str) -> str:
        """Carry an action out and say what is observed.

        Raises:
            Impossible: it fails; nothing has changed.
        """
        self._state = self.trace.state
        observation: str = getattr(self, f"_{action.name}")(action)
        self.trace.states.append(self._state)
        self.trace.actions.append(text)
        return observation

    def fork(self) -> KitchenDynamics:
        """The same moment to try things out from; this one is not changed by it."""
        other = copy.copy(self)
        other.trace = self.trace.copy()
        other._layers = dict(self._layers)
        other._rng = random.Random(0)
        return other

    @property
    def _step(self) -> int:
        """The number of the step that is being executed."""
        return self.trace.step + 1

    def _find(self, words: str) -> str:
        return resolve_entity(words, self.trace)

    # Looking and saying

    def _ask(self, action: KitchenAction) -> str:
        return ""

    def _done(self, action: KitchenAction) -> str:
        self.done = True
        return "The task is declared done."

    def _search(self, action: KitchenAction) -> str:
        id = self._find(action.x)
        inside = [describe(self._state[other]) for other in self._state.inside(id)]
        contents = self._state[id].contents
        found = ", ".join(([contents] if contents else []) + inside)
        return f"Found {found} in/on {id}" if found else f"Found nothing in/on {id}"

    def _look_for(self, action: KitchenAction) -> str:
        return search_house(action.x, self._state, self._rng, self._resembles)

    # States of things

    def _open(self, action: KitchenAction) -> str:
        return self._tag(self._find(action.x), "open", "closed")

    def _close(self, action: KitchenAction) -> str:
        return self._tag(self._find(action.x), "closed", "open")

    def _turn_on(self, action: KitchenAction) -> str:
        return self._tag(self._appliance(action.x), "on", "off")

    def _turn_off(self, action: KitchenAction) -> str:
        return self._tag(self._appliance(action.x), "off", "on")

    def _tag(self, id: str, tag: str, without: str) -> str:
        self._state = self._state.with_tags(id, tag, without=[without])
        return f"{id} is now {tag}"

    def _appliance(self, words: str) -> str:
        id = self._find(words)
        if not self._state[id].can("cooks"):
            raise ImpossibleAction(f"{id} is no cooking appliance.")
        return id

    def _heat(self, action: KitchenAction) -> str:
        id = self._find(action.x)
        self._need_appliance(id)
        foods = foods_below(self._state, id)
        self._state = self._state.with_tags(id, "hot")
        for food in foods:
            self._state = self._state.with_tags(food, "hot", "cooked")
        self.trace.record_use([id, *foods], self._step)
        self.trace.record_cooking(foods, self._step)
        return f"{id} is now hot"

    def _need_appliance(self, id: str) -> None:
        if not is_on_appliance(self._state, id):
            appliances = [other for other, entity in self._state.entities.items() if entity.can("cooks")]
            raise ImpossibleAction(
                f"{id} is on no cooking appliance, but in/on {self._state.holder(id)}. "
                f"Cooking appliances are {', '.join(appliances)}."
            )

    # Moving and pouring

    def _move(self, action: KitchenAction) -> str:
        id, to = self._find(action.x), self._find(action.y)
        self._relocate(id, to)
        contents = self._state[id].contents
        hint = f". What it contains stays in it: to get {contents} out, pour {contents} from {id}" if contents else ""
        return f"{id} is now in/on {to}{hint}"

    def _move_from(self, action: KitchenAction) -> str:
        holder, to = self._find(action.y), self._find(action.z)
        id = resolve_contents(action.x, holder, self.trace)
        if id is None:
            id = self._take_portion(holder, to)
        else:
            self._relocate(id, to)
            if self._state[holder].can("container"):
                self.trace.record_use([holder], self._step)
        return f"{id} is now in/on {to}"

    _pour = _move_from

    def _relocate(self, id: str, to: str) -> None:
        entity = self._state[id]
        if entity.can("room") or (id in self._kitchen.furniture and not entity.can("movable")):
            raise ImpossibleAction(f"{id} cannot be moved.")
        if to == id or self._state.is_within(to, id):
            raise ImpossibleAction(f"{id} cannot be put into itself.")
        left = find_dish_root(self._state, id) if is_food(self._state, id) else id
        self._state = self._state.put(id, to)
        if left != id and left != find_dish_root(self._state, id):
            self._shoot(left)
        self._arrived(id, to)

    def _take_portion(self, packet: str, to: str) -> str:
        """Some of what a packet is full of, as an entity of its own; the packet stays full."""
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
        self._arrived(id, to)
        return id

    def _arrived(self, id: str, to: str) -> None:
        """Note that ``id`` was used, what it was added to, and where it was served."""
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
            self._shoot(root)
            shot = root
        for root in dish_roots_below(state, id):
            if root != shot:
                self._shoot(root)
        self._note_serving(id, to)

    def _note_serving(self, id: str, to: str) -> None:
        places = [other for other in (to, *self._state.holders(to)) if self._state[other].can("dines")]
        foods = foods_below(self._state, id)
        if places and foods:
            sources = frozenset().union(*(self.trace.sources_of(food) for food in foods))
            self.trace.servings.append(Serving(self._step, places[0], sources))

    def _shoot(self, root: str) -> None:
        self.trace.snapshots.append(snapshot_dish(self._state, root, self._layers, self._step))

    # Making something of something

    def _mix(self, action: KitchenAction) -> str:
        return self._combine(action, "mix", cooks=False)

    def _cook(self, action: KitchenAction) -> str:
        return self._combine(action, "cook", cooks=True)

    def _items(self, action: KitchenAction) -> str:
        return self._combine(action, action.verb, cooks=action.verb in self._kitchen.verbs.cooking)

    def _combine(self, action: KitchenAction, verb: str, cooks: bool) -> str:
        """All food in a container becomes one."""
        holder = self._find(action.x)
        if not self._state[holder].can("container"):
            raise ImpossibleAction(f"{holder} is no container that food can be prepared in.")
        if cooks:
            self._need_appliance(holder)
        inside = self._state.inside(holder)
        if not inside:
            raise ImpossibleAction(f"{holder} is empty.")
        parts = [food for child in inside if is_food(self._state, child) for food in self._pile(child)]
        if not parts:
            raise ImpossibleAction(f"{', '.join(inside)} in {holder} cannot be eaten; pour or move food into {holder} first.")
        layers = tuple(sorted((x for part in parts for x in self._layers[part]), key=lambda layer: layer.order))
        id = self._new_name(action.result)
        for child, place in list(self._state.places.items()):
            if place.holder in parts and child not in parts:
                self._state = self._state.put(child, holder)
        self._state = self._state.without_entities(parts)
        self._become(id, parts, verb, Place(holder), layers)
        self.trace.record_use([holder], self._step)
        self._shoot(find_dish_root(self._state, id))
        return f"{id} is now in/on {holder}, made of {', '.join(parts)}"

    def _pile(self, food: str) -> list[str]:
        """Food and the food that lies on it."""
        on_it = [child for child in self._state.inside(food) if is_food(self._state, child)]
        return [food, *(other for child in on_it for other in self._pile(child))]

    def _chop(self, action: KitchenAction) -> str:
        id = self._food(action.x)
        holder = self._state.holder(id)
        if holder is None or not self._state[holder].can("chops"):
            surfaces = [other for other, entity in self._state.entities.items() if entity.can("chops")]
            raise ImpossibleAction(f"{id} is on no chopping surface, but in/on {holder}. Chop on {', '.join(surfaces)}.")
        return self._transform(id, action.result, "chop")

    def _object(self, action: KitchenAction) -> str:
        id = self._food(action.x)
        if action.verb in self._kitchen.verbs.cooking:
            self._need_appliance(id)
        return self._transform(id, action.result, action.verb)

    def _food(self, words: str) -> str:
        id = self._find(words)
        if not is_food(self._state, id):
            contents = self._state[id].contents or ", ".join(self._state.inside(id))
            hint = f"; pour or move {contents} out of it first" if contents else ""
            raise ImpossibleAction(f"{id} is not edible{hint}.")
        return id

    def _transform(self, id: str, result: str, verb: str) -> str:
        """Food becomes something else where it is; what lies on it stays on it."""
        name = self._new_name(result)
        place = self._state.places[id]
        on_it = self._state.inside(id)
        self._become(name, [id], verb, place, self._layers[id])
        for child in on_it:
            self._state = self._state.put(child, name)
        self._state = self._state.without_entities([id])
        if is_on_appliance(self._state, place.holder):
            self.trace.record_use([place.holder], self._step)
        self._shoot(find_dish_root(self._state, name))
        return f"{id} is now {name} in/on {place.holder}"

    def _become(self, id: str, parts: list[str], verb: str, place: Place, layers: tuple[Layer, ...]) -> None:
        """A result comes to be; its parts are left for the caller to take away."""
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
        """The name, or with the lowest number that makes it one that nothing has or had."""
        taken = self._kitchen.ids | self.trace.sources.keys() | self.trace.start.entities.keys()
        if wanted not in taken:
            return wanted
        plain = _LAST_NUMBER.sub("", wanted) or wanted
        return next(name for number in itertools.count() if (name := f"{plain}_{number}") not in taken)
