"""Basic kitchen actions of a scripted cook: find ingredients, bring them, and choose a vessel for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from housewise.language.words import occurs_in_verb
from housewise.people.kitchen.consistency import LiteralIndex, union
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.worlds.kitchen.action_parser import MAX_NAME_LETTERS, ImpossibleAction, parse_action
from housewise.worlds.kitchen.dishes import find_dish_root, foods_in, is_food
from housewise.worlds.kitchen.dynamics import KitchenDynamics
from housewise.worlds.kitchen.state import State
from housewise.worlds.kitchen.trace import Trace

_NAMES = {"scrambl": "scrambled_eggs", "omelet": "omelette", "poach": "poached_eggs", "over easy": "eggs_over_easy"}
DISH_ROLES = {  # roles of the vessels and appliances that a dish needs
    "eggs": ("pan", "plate"),
    "cereal": ("bowl",),
    "yoghurt": ("bowl",),
    "toast": ("toaster", "plate"),
    "tea": ("mug",),
    "coffee": ("brewer", "mug"),
}
_SUBSTITUTE_VERBS = {  # verbs with the same effect, used if a wish forbids the usual verb
    "Stir": ("Toss", "Fold"),
    "Mix all": ("Stir", "Toss"),
    "Brew": ("Stir", "Whisk"),
    "Cook": ("Fry", "Heat"),
    "Toast": ("Bake", "Heat"),
}
_DEFAULT_TOOLS = {
    "pan": ("pan_0", "pan_1", "skillet_0", "pot_0", "pot_1", "box_2", "bowl_0"),
    "mug": ("mug", "cup", "glass", "wine_glass", "bowl"),
    "bowl": ("bowl", "plate", "box", "mug", "cup"),
    "plate": ("plate", "bowl", "box", "tray"),
    "brewer": ("coffee_machine_0", "pour_over_coffee_maker_0", "french_press_0", "espresso_machine_0", "kettle_0"),
}


class KitchenActions:
    """Performs actions in a fork of the kitchen and records them.

    Args:
        cooking: Fork of the kitchen.
        judge: Preference judge of the task.
        said: Literals that have to become true or stay untrue.
    """

    def __init__(self, cooking: KitchenDynamics, judge: PreferenceJudge, said: LiteralIndex) -> None:
        self._cooking = cooking
        self._judge = judge
        self._banned = said.banned_things
        self._bad_words = {word for predicate in said("made", False) for word in predicate.words}
        self._bad_verbs = self._bad_words | {word for predicate in said("done", False) for word in predicate.words}
        self._treated = [*said("made"), *said("done")]
        self.raw = union(predicate.ids[0] for predicate in said("cooked", False))
        self._verbs = judge.kitchen.verbs
        self._groups = judge.kitchen.groups
        self._roles: dict[str, list[str]] = {}
        self.actions: list[str] = []

    @property
    def trace(self) -> Trace:
        """All that happened in the episode, and then in the fork."""
        return self._cooking.trace

    @property
    def state(self) -> State:
        """Present state of the fork."""
        return self.trace.state

    # Finding things

    def is_there(self, id: str) -> bool:
        """Return whether something of a thing is still available."""
        return id in self.state or self.find_food_with(id) is not None

    def is_endless(self, id: str) -> bool:
        """Return whether a thing is a packet, which never runs out."""
        return id in self.state and self.state[id].contents is not None

    def is_eatable(self, id: str) -> bool:
        """Return whether a thing is food or a packet of food."""
        if id not in self.state:
            return self.find_food_with(id) is not None
        return is_food(self.state, id) or self.state[id].contents is not None

    def find_food_with(self, source: str) -> str | None:
        """Return the food that contains a thing of the scene now.

        The result is the thing itself while it is untouched, and None for a packet.
        """
        state = self.state
        if source in state and is_food(state, source):
            return source
        found = [id for id, sources in self.trace.sources.items() if source in sources and id in state]
        found = [id for id in found if is_food(state, id)]
        cooked = [id for id in found if state.has_tag(id, "cooked")]
        return min(cooked or found, key=lambda id: (len(self.trace.sources_of(id)), id), default=None)

    def sources_in_same_dish(self, source: str) -> frozenset[str]:
        """Return all ingredients of the dish that contains this one now."""
        carrier = self.find_food_with(source)
        if carrier is None or (carrier == source and source not in self.trace.used):
            return frozenset()
        return self.sources_in(find_dish_root(self.state, carrier))

    # Acting

    def do(self, text: str) -> bool:
        """Perform an action in the fork. Return False and skip it if it is impossible."""
        try:
            self._cooking.execute(parse_action(text, self._verbs), text)
        except ImpossibleAction:
            return False
        self.actions.append(text)
        return True

    def put(self, source: str, to: str) -> str | None:
        """Bring something of a thing to a place. Return the id of what is there now."""
        state = self.state
        if source in state and state[source].contents is not None:
            verb = "Pour" if not state[source].contents.endswith("slice") else "Move"  # type: ignore[union-attr]
            return self.do_and_find_result(f"{verb} {state[source].contents} from {source} to {to}")
        carrier = self.find_food_with(source)
        if carrier is None:
            return None
        return self.bring(self._prepare_ingredient(carrier), to)

    def _prepare_ingredient(self, food: str) -> str:
        """Crack an egg or slice a fruit or vegetable before it goes anywhere."""
        groups = self._groups
        if food in groups["egg_hen"]:
            verb, now = "Crack", "cracked egg"
        elif any(food in groups[name] for name in ("vegetable", "fruit", "avocado", "lemon")):
            verb, now = "Slice", f"sliced {self.state[food].kind}"
        else:
            return food
        if not self.is_verb_allowed(verb):
            return food
        return self.do_and_find_result(f"{verb} the object {food} to get {result_name(now)}") or food

    def is_verb_allowed(self, verb: str) -> bool:
        """Return whether no wish forbids a verb."""
        return not occurs_in_verb(self._bad_verbs, verb.lower())

    def allowed_verb(self, usual: str) -> str:
        """Return the usual verb, or the first equivalent verb that no wish forbids."""
        return next(filter(self.is_verb_allowed, (usual, *_SUBSTITUTE_VERBS[usual])), usual)

    def bring(self, food: str, to: str) -> str:
        """Move food to a place unless it is there already. Return the food."""
        holder = self.state.holder(food)
        if holder != to and food != to:
            self.do(f"Move {food} from {holder} to {to}")
        return food

    def do_and_find_result(self, text: str) -> str | None:
        """Perform an action and return the entity that it created, or None."""
        before = set(self.state.entities)
        if not self.do(text):
            return None
        return next((id for id in self.state.entities if id not in before), None)

    # Choosing vessels

    def find_empty_vessel(self, role: str) -> str | None:
        """Return an empty vessel for a role: the wanted one if there is one, otherwise the plainest."""
        for id in self._roles.get(role, []):
            if id in self.state and self._is_free(id):
                self._roles[role].remove(id)
                return id
        for wanted in _DEFAULT_TOOLS[role]:
            for id, entity in self.state.entities.items():
                if wanted in (id, entity.kind) and id not in self._banned and self._is_free(id):
                    return id
        return next((id for id, e in self.state.entities.items() if e.can("container") and self._is_free(id)), None)

    def find_begun_vessel(self, role: str, of: Collection[str], earlier: Sequence[tuple[str, str]] = ()) -> str | None:
        """Return a vessel that contains nothing but ingredients of a dish, in which somebody began to make it.

        Args:
            role: Role of the vessel. If a wish asks for a certain vessel, the result is None.
            of: Ingredients of the dish.
            earlier: Pairs of ingredients of which the first has to go in before the second.
        """
        if self._roles.get(role):
            return None
        wanted = frozenset(of)
        for id, entity in self.state.entities.items():
            if not {id, entity.kind} & {*_DEFAULT_TOOLS[role]} or id in self._banned:
                continue
            holds = self.sources_in(id)
            if not holds or not holds <= wanted or not self._is_loose(id):
                continue
            if all(first in holds or second not in holds for first, second in earlier):
                return id
        return None

    def sources_in(self, vessel: str) -> frozenset[str]:
        """Return all ingredients in a vessel."""
        return frozenset().union(*(self.trace.sources_of(food) for food in foods_in(self.state, vessel)))

    def _is_free(self, id: str) -> bool:
        return self.state[id].can("container") and not self.state.inside(id) and self._is_loose(id)

    def _is_loose(self, id: str) -> bool:
        """Return whether a vessel can be carried away, unlike a brewer's jug or a toaster's slot."""
        return not any(self.state[holder].can("container") for holder in self.state.holders(id))


def result_name(word: str) -> str:
    """Return a name for a result that contains a word."""
    return _NAMES.get(word, word.replace(" ", "_"))[:MAX_NAME_LETTERS].strip("_")
