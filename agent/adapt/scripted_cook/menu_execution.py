"""Prepare the courses of a menu, each from its current state, and serve them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from housewise.agent.adapt.scripted_cook.kitchen_actions import DISH_ROLES, KitchenActions, result_name
from housewise.agent.adapt.scripted_cook.menu_planning import Course, Menu
from housewise.language.words import verb_forms
from housewise.people.kitchen.conditions import normalize_words
from housewise.worlds.kitchen.dishes import find_dish_root, foods_below, foods_in, is_food, is_on_appliance


class MenuExecution(KitchenActions):
    """Carries out a menu."""

    def prepare(self, menu: Menu) -> None:
        """Prepare and serve all courses of a menu."""
        self._roles = {role: list(ids) for role, ids in menu.roles.items()}
        for tool in menu.carry:
            self._carry(tool, menu)
        for course in menu.courses:
            getattr(self, f"_make_{course.dish}")(course)
        for role, tools in self._roles.items():
            for tool in tools:
                if tool not in self.trace.used:
                    self._use_after_all(tool, role, menu)
        self._treat_the_rest()
        if not self.trace.prepared_foods():
            self._offer_water()
        self._serve(menu)

    def _treat_the_rest(self) -> None:
        """Give names and treatments that no course could give because the ingredients were added later."""
        for predicate in self._treated:
            if self._judge.holds(predicate, self.trace):
                continue
            of = predicate.ids[0] if predicate.ids else self.trace.used.keys()
            food = next((food for id in sorted(of & self.trace.used.keys()) if (food := self.find_food_with(id))), None)
            if food is not None and predicate.name == "made":
                self._rename(food, [self._allowed_name(list(predicate.words))])
            elif food is not None:
                self._treat(food, predicate.words)

    def _treat(self, food: str, words: Iterable[str]) -> None:
        """Apply to some food the verb that one of the words names."""
        verbs = [verb for word in words for verb in self._verbs.matching_verbs(word)]
        if not verbs:
            return
        verb = next(filter(self.is_verb_allowed, verbs), verbs[0])
        if verb == "chop":
            self.bring(food, "counter_0")
        elif verb in self._verbs.cooking and not is_on_appliance(self.state, food):
            self.do(f"Move {find_dish_root(self.state, food)} to stove_0")
        self.do(f"{verb.capitalize()} the object {food} to get {self._allowed_name(['breakfast', 'dish'])}")

    def _offer_water(self) -> None:
        """Prepare a glass of water if nothing that was asked for can be made."""
        glass = self.find_empty_vessel("mug")
        source = self._water_source()
        if glass is not None and source is not None:
            self.put(source, glass)

    def _water_source(self) -> str | None:
        return next((id for id in ("sink_1", "water_bottle_0") if id not in self._banned), None)

    def _use_after_all(self, tool: str, role: str, menu: Menu) -> None:
        """Use a vessel that a wish requires: move a finished dish into it, or pass it through a pan or brewer."""
        bases = (course.base for course in menu.courses if role in DISH_ROLES.get(course.dish, ()))
        base = next(filter(None, bases), None)
        food = self.find_food_with(base) if base is not None else None
        if food is None or not self._is_free(tool):
            self._carry(tool, menu)
            return
        before = find_dish_root(self.state, food)
        for other in foods_in(self.state, before):
            if self.state.holder(other) == before:
                self.bring(other, tool)
        if tool not in self.trace.used:
            self._carry(tool, menu)
        if role == "pan":
            self.do(f"Move {tool} to stove_0")
            self.do(f"Heat {tool}")
        if role in ("pan", "brewer") and self.state[before].can("container"):
            for other in foods_in(self.state, tool):
                if self.state.holder(other) == tool:
                    self.bring(other, before)

    def _carry(self, tool: str, menu: Menu) -> None:
        entity = self.state[tool]
        if entity.kind == "spatula":
            self.do(f"Move {tool} to stove_0")
        elif tool in self._judge.kitchen.furniture and not entity.can("movable"):
            self.do(f"Heat {tool}")
        else:
            self.do(f"Move {tool} to {menu.place}")

    def _ingredient_order(self, course: Course, first: Iterable[str] = ()) -> list[str]:
        """Return base and additions in an order that respects ``earlier``; ``first`` comes first otherwise."""
        early = set(first)
        wanted = ([course.base] if course.base else []) + course.adds
        waiting = sorted(dict.fromkeys(wanted), key=lambda id: id not in early)
        done: list[str] = []
        while waiting:
            free = (id for id in waiting if not any(b == id and a in waiting for a, b in course.earlier))
            done.append(next(free, waiting[0]))
            waiting.remove(done[-1])
        return done

    def _complete(self, food: str, course: Course) -> None:
        """Add the additions to a finished dish, and give it its names."""
        root = find_dish_root(self.state, food)
        for id in self._ingredient_order(course):
            if id != course.base and id not in course.already_in:
                self.put(id, root)
        self._rename(food, course.names)

    def _rename(self, food: str, names: Iterable[str]) -> str:
        for name in names:
            result = result_name(name)
            food = self.do_and_find_result(f"{self.allowed_verb('Stir')} the object {food} to get {result}") or food
        return food

    def _find_begun_food(self, course: Course) -> str | None:
        """Return the food that contains a course's base if somebody began the course, or None."""
        if course.base is None or (course.base not in course.already_in and self.is_endless(course.base)):
            return None
        return self.find_food_with(course.base)

    def _make_eggs(self, course: Course) -> None:
        base = course.base
        assert base is not None
        carrier = self._find_begun_food(course)
        if carrier is not None and self._judge.is_made("eggs", self.trace) and self.state.has_tag(carrier, "cooked"):
            self._complete(carrier, course)
            return
        task = self._judge.kitchen.tasks.tasks[self._judge.task].text
        usual = [*(["omelette"] if "omelet" in task else []), "fried_eggs", "breakfast", "dish"]
        names = [result_name(name) for name in course.names] or [self._allowed_name(usual)]
        self._cook_in_pan(course, carrier, names)

    def _allowed_name(self, names: list[str]) -> str:
        """Return the first name that contains no forbidden word."""
        bad = [form for word in self._bad_words for form in verb_forms(word)]
        return next((name for name in names if not any(word in normalize_words(name) for word in bad)), names[-1])

    def _vessel_of(self, food: str | None) -> str | None:
        """Return the vessel that some food is in, or None if it is in none."""
        root = None if food is None else find_dish_root(self.state, food)
        return root if root is not None and self.state[root].can("container") else None

    def _find_vessel(self, role: str, course: Course, members: Collection[str]) -> str | None:
        """Return a vessel in which a course was begun with some ingredients, or an empty one."""
        return self.find_begun_vessel(role, members, course.earlier) or self.find_empty_vessel(role)

    def _combine(self, verb: str, vessel: str, names: list[str]) -> str | None:
        """Stir what is in a vessel for every name but the last, and apply the verb for that one. Return the result."""
        *others, last = names
        for name in others:
            self.do(f"{self.allowed_verb('Stir')} items in {vessel} to get {name}")
        return self.do_and_find_result(f"{self.allowed_verb(verb)} items in {vessel} to get {last}")

    def _cook_in_pan(self, course: Course, carrier: str | None, names: list[str]) -> None:
        pan = self._vessel_of(carrier)
        if pan is None or not is_on_appliance(self.state, pan):
            pan = self._find_vessel("pan", course, course.members)
            if pan is None:
                return
            self.do(f"Move {pan} to stove_0")
        fat = self._groups["fat"]
        moved: set[str] = set()
        for id in self._ingredient_order(course, first=[id for id in course.adds if id in fat]):
            if id not in self.sources_in(pan) and id not in moved:
                self.put(id, pan)
            moved.add(id)
        result = self._combine("Cook", pan, names)
        plate = self.find_empty_vessel("plate")
        if result is not None and plate is not None:
            self.do(f"Move {result} from {pan} to {plate}")

    def _make_cooked(self, course: Course) -> None:
        plain = self.state[course.adds[0]].kind if course.adds[0] in self.state else "side"
        names = [result_name(name) for name in course.names] or [result_name(f"fried {plain}")]
        self._cook_in_pan(course, None, names)

    def _make_cereal(self, course: Course) -> None:
        self._fill("bowl", course)

    _make_yoghurt = _make_cereal
    _make_bowl = _make_cereal

    def _make_side(self, course: Course) -> None:
        drinks = self._groups["milk"] | self._groups["water"]
        self._fill("mug" if any(id in drinks for id in course.adds) else "plate", course)

    def _fill(self, role: str, course: Course) -> None:
        """Put base and additions into one vessel, in order. Continue in the vessel that holds the base already."""
        vessel = self._vessel_of(self._find_begun_food(course)) or self._find_vessel(role, course, course.members)
        if vessel is None:
            return
        there = self.sources_in(vessel)
        for id in self._ingredient_order(course):
            if id not in there:
                self.put(id, vessel)
        for name in course.names:
            self.do(f"{self.allowed_verb('Mix all')} items in {vessel} to get {result_name(name)}")

    def _make_toast(self, course: Course) -> None:
        base = course.base
        assert base is not None
        toast = self._find_begun_food(course)
        if toast is None or not self.state.has_tag(toast, "cooked"):
            toast = self._toast(base, course)
        elif course.names:
            toast = self._rename(toast, course.names)
        if toast is None:
            return
        plate = self._vessel_of(toast)
        if plate is None or is_on_appliance(self.state, plate):
            plate = self.find_empty_vessel("plate")
        if plate is None:
            return
        for id in self._ingredient_order(course):
            if id == base:
                self.bring(toast, plate)
            elif id not in course.already_in:
                self.put(id, plate)

    def _toast(self, base: str, course: Course) -> str | None:
        """Toast a slice of bread in the toaster or the oven."""
        wanted = self._roles.get("toaster", [])
        free = "toaster_0" not in self._banned and not self.state.inside("toaster_0")
        appliance = next(iter(wanted), "toaster_0" if free else "oven_0")
        slice_ = self.put(base, appliance)
        names = [result_name(name) for name in course.names] or ["toast"]
        if base in self.raw:
            return slice_
        for name in names:
            toasted = self.do_and_find_result(f"{self.allowed_verb('Toast')} the object {slice_} to get {name}")
            slice_ = toasted or slice_
        return slice_

    def _make_tea(self, course: Course) -> None:
        base = course.base
        assert base is not None
        carrier = self._find_begun_food(course)
        if carrier is not None and self._judge.is_made("tea", self.trace):
            self._complete(carrier, course)
            return
        water = self._groups["water"]
        mug = self._vessel_of(carrier) or self._find_vessel("mug", course, course.members | water)
        if mug is None or (not self.sources_in(mug) & water and self._hot_water(mug) is None):
            return
        early = [id for id in self._ingredient_order(course) if any(a == id and b == base for a, b in course.earlier)]
        there = self.sources_in(mug)
        for id in [*early, base]:
            if id not in there:
                self.put(id, mug)
        for name in [result_name(name) for name in course.names] or ["tea"]:
            self.do(f"{self.allowed_verb('Brew')} items in {mug} to get {name}")
        for id in self._ingredient_order(course):
            if id not in (*early, base) and id not in there:
                self.put(id, mug)

    def _hot_water(self, to: str) -> str | None:
        """Pour heated water from the kettle into a vessel, or cold water if the kettle cannot be used."""
        source = self._water_source()
        if source is None:
            return None
        kettle = "kettle_0"
        inside = foods_in(self.state, kettle)
        if kettle in self._banned or not self.sources_in(kettle) <= self._groups["water"]:
            return self.put(source, to)
        water = inside[0] if inside else self.put(source, kettle)
        if water is not None:
            if not self.state.has_tag(water, "hot"):
                self.do(f"Heat {kettle}")
            self.do(f"Pour {water} from {kettle} to {to}")
        return water

    def _make_coffee(self, course: Course) -> None:
        base = course.base
        assert base is not None
        carrier = self._find_begun_food(course)
        made = [result.id for result in self.trace.made if "coffee" in result.id and result.id in self.state]
        coffee = next((id for id in made if base in self.trace.sources_of(id)), None)
        if coffee is not None and self._judge.is_made("coffee", self.trace):
            self._complete(coffee, course)
            return
        brewer, water = self._vessel_of(carrier), self._groups["water"]
        if brewer is None:
            role = "mug" if base in self.raw and not self._roles.get("brewer") else "brewer"
            brewer = self.find_begun_vessel(role, water) or self.find_empty_vessel(role)
        if brewer is None:
            return
        self.put(base, brewer) if carrier is None else self.bring(carrier, brewer)
        source = self._water_source()
        if source is not None and not any(
            self.trace.sources_of(food) & water for food in foods_in(self.state, brewer) if food != carrier
        ):
            self.put(source, brewer)
        names = [result_name(name if "coffee" in name else f"coffee {name}") for name in course.names]
        coffee = self._combine("Brew", brewer, names or ["coffee"])
        is_mug = self.state[brewer].kind in ("mug", "cup", "glass", "wine_glass")
        mug = brewer if is_mug else self.find_empty_vessel("mug")
        if coffee is None or mug is None:
            return
        for id in self._ingredient_order(course):
            if id == base and mug != brewer:
                self.do(f"Pour {coffee} from {brewer} to {mug}")
            elif id != base and id not in course.already_in:
                self.put(id, mug)

    # Serving

    def _serve(self, menu: Menu) -> None:
        """Bring everything that was prepared to the place of serving, in order."""
        loads: dict[str, frozenset[str]] = {}
        beside = [id for id in self.trace.used if id in self.state and is_food(self.state, id) and self._vessel_of(id)]
        for id in dict.fromkeys([*self.trace.prepared_foods(), *beside]):
            if menu.place not in self.state.holders(id):
                top = self._load(id)
                foods = foods_below(self.state, top)
                loads[top] = frozenset().union(*(self.trace.sources_of(food) for food in foods))

        def rank(top: str) -> int:
            return sum(bool(loads[top] & after) - bool(loads[top] & first) for first, after in menu.order)

        for top in sorted(loads, key=rank):
            self.do(f"Serve the object {top} at {menu.place}")

    def _load(self, id: str) -> str:
        """Return what has to be carried to bring ``id``: the outermost thing around it that is not furniture."""
        furniture = self._judge.kitchen.furniture
        top = id
        for holder in self.state.holders(id):
            entity = self.state[holder]
            if entity.can("room") or (holder in furniture and not entity.can("movable")):
                break
            top = holder
        return top
