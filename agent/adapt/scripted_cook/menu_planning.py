"""Plan a menu: which ingredients and tools each dish needs so that the selected wishes come true."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from housewise.agent.adapt.scripted_cook.kitchen_actions import DISH_ROLES, KitchenActions
from housewise.agent.adapt.scripted_cook.wish_selection import WishSelection
from housewise.people.kitchen.conditions import Predicate
from housewise.people.kitchen.consistency import LiteralIndex, can_meet
from housewise.people.kitchen.preference_judge import PreferenceJudge

_MAX_TRIED = 6
"""Things of a group that are tried in a dish, the best first. All pairs of two groups would be too many."""
# Groups of food that are cooked together with eggs.
_EGG_ADDITIONS = ("spice", "vegetable", "fat", "herb", "cheese", "meat", "hash_brown")
_ROLES = {  # kinds of tools by role
    "pan": ("pan", "skillet", "pot"),
    "mug": ("mug", "cup", "glass", "wine_glass"),
    "bowl": ("bowl", "box"),
    "plate": ("plate",),
    "brewer": ("coffee_machine", "espresso_machine", "pour_over_coffee_maker", "french_press"),
    "toaster": ("toaster",),
}


@dataclass
class Course:
    """One dish or side.

    Attributes:
        dish: eggs, toast, cereal, yoghurt, tea, coffee, bowl, side, or cooked (a heated side).
        base: Main ingredient, or None if there are only additions.
        adds: Additions.
        earlier: Pairs of ingredients of which the first has to go in before the second.
        names: Names that results must have in addition to their default names.
        already_in: Ingredients that are already in the dish.
    """

    dish: str
    base: str | None = None
    adds: list[str] = field(default_factory=list)
    earlier: list[tuple[str, str]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    already_in: frozenset[str] = frozenset()

    @property
    def members(self) -> set[str]:
        """All its ingredients: the base, the additions, and those that are already in it."""
        return {*self.adds, *self.already_in, *([self.base] if self.base else [])}


@dataclass
class Menu:
    """What has to be prepared.

    Attributes:
        courses: Courses in the order of preparation.
        roles: Tools to use as pan, mug, bowl, plate, brewer or toaster, if it matters which.
        carry: Tools that only have to be carried to where they are used.
        place: Where the breakfast is served.
        order: Pairs of groups of which the first is served before the second.
    """

    courses: list[Course]
    roles: dict[str, list[str]]
    carry: list[str]
    place: str
    order: list[tuple[frozenset[str], frozenset[str]]]


def plan_menu(choice: WishSelection, work: KitchenActions, judge: PreferenceJudge) -> Menu:
    """Distribute what the selected wishes need over the task's dishes and sides."""
    return _MenuPlanner(choice, work, judge).plan()


class _MenuPlanner:
    def __init__(self, choice: WishSelection, work: KitchenActions, judge: PreferenceJudge) -> None:
        self._said: LiteralIndex = choice.said
        self._work = work
        self._judge = judge
        self._kitchen = judge.kitchen
        self._order = {id: number for number, id in enumerate(work.trace.start.entities)}
        self._courses: list[Course] = []
        self._roles: dict[str, list[str]] = {}
        self._carry: list[str] = []
        self._dishes = choice.dishes

    def plan(self) -> Menu:
        for dish in self._dishes:
            self._base_course(dish)
        for names, plan_for in (
            # Ingredients that have to meet, in any order or in a given one.
            (("before", "together"), self._combine_groups),
            # Ingredients that have to be heated.
            (("cooked", "on_appliance"), self._add_cooked_food),
            # Food and tools that have to be used at all.
            (("in_container", "used"), self._use_kinds),
            # Names that results must have.
            (("made",), self._name_result),
            # Treatments such as scrambling, which need food to be applied to.
            (("done",), self._add_treatable_food),
            # Food that has to be served before other food, and so apart from it.
            (("served_before",), self._serve_separately),
        ):
            for predicate in (each for name in names for each in self._said(name)):
                plan_for(predicate)
        return Menu(self._courses, self._roles, self._carry, self._serving_place(), self._serving_order())

    # Choosing ingredients

    def _candidates(self, ids: Iterable[str], course: Course | None = None) -> list[str]:
        """Return the things of a group that a course can use, best first."""
        banned = self._said.banned_things
        elsewhere = {id for other in self._courses for id in other.members} - (course.members if course else set())
        found = [id for id in ids if id not in banned and self._work.is_there(id)]
        found = [id for id in found if id not in elsewhere or self._work.is_endless(id)]
        if course is not None:
            apart = self._said.separated_groups
            found = [id for id in found if all(can_meet(id, other, apart) for other in course.members - {id})]
        return sorted(found, key=lambda id: (-self._value(id, course), self._order.get(id, 0)))

    def _value(self, id: str, course: Course | None) -> float:
        """Return how many wishes a thing serves, with a bonus for things that are in use, most for the course's own.

        The bonuses are chosen by hand, so that the cook rather uses what it has than something new.
        """
        value = 0.0
        for name in ("used", "together", "before", "cooked", "in_container", "on_appliance"):
            value += sum(id in ids for predicate in self._said(name) for ids in predicate.ids)
        if id in self._work.trace.used:
            value += 3
        if any(id in other.members for other in self._courses):
            value += 3
        if course is not None and id in course.members:
            value += 10
        return value

    def _base_course(self, dish: str) -> None:
        group = self._kitchen.groups[self._kitchen.tasks.dishes[dish].of]
        candidates = self._candidates(group)
        if not candidates:
            return

        def needed_as_addition(id: str) -> int:
            """Count the wishes for which a base does not serve: it cannot meet itself, or lie on top of itself."""
            pairs = [p.ids for p in self._said("together")] + [p.ids for p in self._said("before") if p.on_top]
            return sum(id in first and id in second for first, second in pairs) + sum(
                id in first | second for first, second in (p.ids for p in self._said("before") if p.on_top)
            )

        # A wish that needs the thing as an addition outweighs a wish that the thing serves as any ingredient.
        raw = self._work.raw
        best = min(
            candidates, key=lambda id: (id in raw, 2 * needed_as_addition(id) - self._value(id, None), self._order[id])
        )
        self._courses.append(Course(dish, best, already_in=self._work.sources_in_same_dish(best)))

    # Combining ingredients

    def _combine_groups(self, predicate: Predicate) -> None:
        (first, second), ordered = predicate.ids, predicate.name == "before"
        options = sorted(self._combinations(first, second, ordered, predicate.on_top), key=lambda option: option[0])
        if not options:
            return
        _, course, one, other = options[0]
        if course not in self._courses:
            self._courses.append(course)
        for id in (one, other):
            if id not in course.members:
                course.adds.append(id)
        if ordered:
            later = {id for id in course.members if id in second and id != one}
            if predicate.on_top:
                later -= {course.base}
            course.earlier += [(one, id) for id in later if id is not None]

    def _combinations(
        self, first: frozenset[str], second: frozenset[str], ordered: bool, on_top: bool
    ) -> Iterator[tuple[float, Course, str, str]]:
        """Yield courses in which two groups can meet, each with its cost and a thing of either group.

        Each addition costs 1, a pair without the base 0.5, and a new dish 2; a pair that is in the dish already gains
        1. The value of the things only decides between equal costs.
        """
        new = [Course("bowl")]
        for course in self._courses + new:
            if ordered and second & (course.already_in - {course.base} if on_top else course.already_in):
                continue  # the second group is in the dish already, so that the first cannot precede it
            for one in self._candidates(first - second if ordered else first, course)[:_MAX_TRIED]:
                if on_top and one == course.base:
                    continue
                trial = Course(course.dish, course.base, [*course.adds, one], already_in=course.already_in)
                for other in self._candidates(second, trial)[:_MAX_TRIED]:
                    if other == one or (on_top and other == course.base):
                        continue
                    if ordered and (other, one) in course.earlier:
                        continue
                    added = len({one, other} - course.members)
                    already = added == 0
                    natural = 0.0 if course.base in (one, other) else 0.5
                    fresh = 2.0 if course in new else 0.0
                    value = self._value(one, course) + self._value(other, course)
                    yield (-1 if already else added) + natural + fresh - value / 1000, course, one, other

    def _add_cooked_food(self, predicate: Predicate) -> None:
        for course in self._courses:
            if course.dish in ("eggs", "cooked") and course.members & predicate.ids[0]:
                return
            if course.dish == "toast" and course.base in predicate.ids[0]:
                return
        candidates = [id for id in self._candidates(predicate.ids[0]) if self._work.is_eatable(id)]
        if candidates:
            self._courses.append(Course("cooked", adds=[candidates[0]]))

    # Using ingredients and tools

    def _use_kinds(self, predicate: Predicate) -> None:
        """Use enough kinds of a group: tools for their purpose, food in a matching dish or beside it."""
        group = predicate.ids[0]
        kinds = self._kitchen.kinds
        taken = {id for course in self._courses for id in course.members}
        taken |= {id for ids in self._roles.values() for id in ids} | set(self._carry)
        if predicate.name == "used":
            taken |= self._work.trace.used.keys()
        have = {kinds[id] for id in group & taken}
        for id in self._needed_first(self._candidates(group)):
            if len(have) >= predicate.kinds:
                return
            if kinds[id] in have:
                continue
            have.add(kinds[id])
            if self._work.is_eatable(id):
                self._assign_food(id)
            else:
                self._assign_tool(id)

    def _needed_first(self, ids: list[str]) -> list[str]:
        """Sort ids so that tools needed by the courses come first."""
        needed = {role for course in self._courses for role in DISH_ROLES.get(course.dish, ("plate",))}
        return sorted(ids, key=lambda id: _tool_role(self._kitchen.kinds[id]) not in needed)

    def _assign_tool(self, id: str) -> None:
        role = _tool_role(self._kitchen.kinds[id])
        needed = {role for course in self._courses for role in DISH_ROLES.get(course.dish, ())}
        if role in needed and (role != "brewer" or not self._roles.get(role)):
            self._roles.setdefault(role, []).append(id)
        else:
            self._carry.append(id)

    def _assign_food(self, id: str) -> None:
        groups = self._kitchen.groups
        if id in groups["bread"] and not any(course.dish == "toast" for course in self._courses):
            self._courses.append(Course("toast", id, already_in=self._work.sources_in_same_dish(id)))
            return
        kind = "cooked" if id in groups["meat"] | groups["hash_brown"] else "side"
        suited = (("eggs", _EGG_ADDITIONS), ("cereal", ("milk",)))
        dishes = [*(dish for dish, names in suited if any(id in groups[name] for name in names)), kind]
        fitting = (each for dish in dishes for each in self._courses if each.dish == dish and self._fits(id, each))
        course = next(fitting, None)
        if course is None:
            self._courses.append(Course(kind, adds=[id]))
        else:
            course.adds.append(id)

    def _fits(self, id: str, course: Course) -> bool:
        return all(can_meet(id, other, self._said.separated_groups) for other in course.members)

    # Names, places and order of serving

    def _name_result(self, predicate: Predicate) -> None:
        bad = {word for other in self._said("made", False) for word in other.words}
        fine = (word for word in predicate.words if not any(no in word for no in bad))
        word = next(fine, predicate.words[0])
        of = predicate.ids[0] if predicate.ids else frozenset(self._kitchen.ids)
        for course in sorted(self._courses, key=lambda course: course.base not in of):
            if course.members & of:
                course.names.append(word)
                return
        candidates = self._candidates(predicate.ids[0]) if predicate.ids else []
        if candidates:
            self._courses.append(Course("bowl", adds=[candidates[0]], names=[word]))

    def _add_treatable_food(self, predicate: Predicate) -> None:
        """Make sure that there is something the treatment can be applied to."""
        of = predicate.ids[0] if predicate.ids else self._kitchen.ids
        if not any(course.members & of for course in self._courses):
            self._courses += [Course("bowl", adds=[id]) for id in self._foods(of)[:1]]

    def _serve_separately(self, predicate: Predicate) -> None:
        """Make sure that both groups are served and a course has something of the first group but not of the second."""
        first, second = predicate.ids
        served = {id for serving in self._work.trace.servings for id in serving.sources}
        if not second & served and not any(course.members & second for course in self._courses):
            self._courses += [Course("side", adds=[id]) for id in self._foods(second)[:1]]
        if not first & served and not any(
            course.members & first and not course.members & second for course in self._courses
        ):
            self._courses += [Course("side", adds=[id]) for id in self._foods(first - second)[:1]]

    def _foods(self, ids: Iterable[str]) -> list[str]:
        return [id for id in self._candidates(ids) if self._work.is_eatable(id)]

    def _serving_place(self) -> str:
        places = [id for id, entity in self._work.state.entities.items() if entity.can("dines")]
        # The table is the default.
        places.sort(key=lambda id: id != "table_0")
        wanted, unwanted = ([said.ids[0] for said in self._said("served_at", sign)] for sign in (True, False))

        def fits(id: str) -> bool:
            """Whether the place, or what it is in or on, is in every wanted group and in no unwanted one."""
            around = {id, *self._work.state.holders(id)}
            return all(around & ids for ids in wanted) and not any(around & ids for ids in unwanted)

        elsewhere = frozenset(self._work.state.entities).intersection(*wanted)
        return next(filter(fits, [*places, *sorted(elsewhere)]), "table_0")

    def _serving_order(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        wanted = [(predicate.ids[0], predicate.ids[1]) for predicate in self._said("served_before")]
        return wanted + [(predicate.ids[1], predicate.ids[0]) for predicate in self._said("served_before", False)]


def _tool_role(kind: str) -> str:
    return next((role for role, kinds in _ROLES.items() if kind in kinds), "")
