"""Each of ADAPT's 228 preferences on breakfasts that satisfy it, violate it, or to which it is inapplicable.

The scripted cook prepares them: one for a person with this preference only, one for a person who wants the opposite,
and mutations of the first: without the deciding step, in another task, and in a scene that lacks what is needed. Twelve
preferences about places and dishes apply to every task in every scene. The five that no task concerns never apply.
"""

import dataclasses
import re
from collections.abc import Iterator
from functools import cache

import pytest

from housewise.agent.adapt.scripted_cook.oracle_cook import OracleCook
from housewise.people.kitchen.conditions import AllOf, Condition, Not, iter_predicates
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profiles import KitchenPreference
from housewise.worlds.kitchen.scene import build_scene
from housewise.worlds.kitchen.trace import Trace
from housewise.worlds.kitchen.world import TextKitchen
from tests.people.kitchen.breakfasts import KITCHEN, cook_breakfast, decide, single_preference_profile
from tests.people.kitchen.sixteen import ADAPT_PEOPLE

WISHES = [preference for person in ADAPT_PEOPLE.values() for preference in person.preferences]
FULL = frozenset(KITCHEN.objects.places())
# Pytest takes milliseconds for each case, so those of a person share one.
for_each_person = pytest.mark.parametrize("person", ADAPT_PEOPLE)


def applying(person: str) -> list[KitchenPreference]:
    """Return a person's preferences that concern a task."""
    return [preference for preference in ADAPT_PEOPLE[person].preferences if preference.tasks]


def cook_for(preference: KitchenPreference, task: int, present: frozenset[str] = FULL) -> Trace:
    world = TextKitchen(task, scene=build_scene(present), max_steps=100)
    for action in OracleCook(single_preference_profile(preference), task).plan(world.dynamics):
        assert not world.step(action).failed
    return world.trace


def make_unconditional(preference: KitchenPreference, wish: Condition) -> KitchenPreference:
    """Return a preference that cannot be avoided by making its condition false."""
    wish = wish if preference.condition is None else AllOf((preference.condition, wish))
    return dataclasses.replace(preference, wish=wish, condition=None)


@cache
def satisfying(id: str, task: int) -> Trace:
    preference = next(preference for preference in WISHES if preference.id == id)
    return cook_for(make_unconditional(preference, preference.wish), task)


@for_each_person
def test_satisfied_if_the_cook_knows_the_preference(person):
    for preference in applying(person):
        for task in {preference.tasks[0], preference.tasks[-1]}:
            assert decide(preference, task, satisfying(preference.id, task)) == "satisfied", preference.id


@for_each_person
def test_violated_if_the_cook_does_the_opposite(person):
    for preference in applying(person):
        task = preference.tasks[0]
        trace = cook_for(make_unconditional(preference, Not(preference.wish)), task)
        judge = PreferenceJudge(task)
        assert all(judge.is_made(dish, trace) for dish in judge.dishes), preference.id
        assert judge.verdict(preference, trace).decision == "violated", preference.id


@for_each_person
def test_violated_if_the_dish_was_not_made(person):
    for preference in applying(person):
        if preference.dishes:
            task = preference.tasks[0]
            verdict = PreferenceJudge(task).verdict(preference, cook_breakfast(task, "Search fridge_0"))
            assert verdict.decision == "violated", preference.id
            assert verdict.why.startswith("not made: "), preference.id


@for_each_person
def test_inapplicable_in_another_task(person):
    for preference in ADAPT_PEOPLE[person].preferences:
        if other := next((task for task in KITCHEN.tasks.tasks if task not in preference.tasks), None):
            tasks = preference.tasks
            trace = satisfying(preference.id, tasks[0]) if tasks else cook_breakfast(other, "Open fridge_0")
            assert decide(preference, other, trace) == "inapplicable", preference.id


def needed_things(preference: KitchenPreference) -> frozenset[str]:
    """Return the objects that the condition requires."""
    if preference.condition is None:
        return frozenset()
    asked = [predicate for predicate in iter_predicates(preference.condition) if predicate.name == "available"]
    return frozenset().union(*(predicate.ids[0] for predicate in asked)) & FULL


def is_always_applicable(preference: KitchenPreference) -> bool:
    """Whether every scene has what the condition requires."""
    needs = needed_things(preference)
    everywhere = {"salt_shaker_0", "pepper_shaker_0", "ice_tray_0", "water_bottle_0"}
    return not needs or bool(everywhere & needs) or preference.id == "8.11"


SOMETIMES = [wish for wish in WISHES if wish.tasks and not is_always_applicable(wish)]


@pytest.mark.parametrize("preference", SOMETIMES, ids=[wish.id for wish in SOMETIMES])
def test_inapplicable_if_the_needed_things_are_absent(preference):
    task = preference.tasks[0]
    gone = needed_things(preference)
    bases = frozenset().union(*(KITCHEN.groups[KITCHEN.tasks.dishes[dish].of] for dish in PreferenceJudge(task).dishes))
    if bases <= gone:  # Preferences for bread in a task that asks for toast.
        task = next(task for task in preference.tasks if not KITCHEN.groups["bread"] & gone)
    trace = cook_for(preference, task, FULL - gone)
    judge = PreferenceJudge(task)
    assert all(judge.is_made(dish, trace) for dish in judge.dishes)
    assert decide(preference, task, trace) == "inapplicable"


def mutations(trace: Trace) -> Iterator[list[str]]:
    """Yield the actions without one of them, with another name of a result, or with another thing of its kind."""
    actions = trace.actions
    for skipped in range(len(actions) - 1):
        yield actions[:skipped] + actions[skipped + 1 :]
    for made in trace.made:
        yield [re.sub(rf"\b{made.id}\b", "toast_coffee_tea", action) for action in actions]
    families = [KITCHEN.groups[dish.of] for dish in KITCHEN.tasks.dishes.values()]
    families += [frozenset({"pan_0", "pan_1", "skillet_0"}), frozenset({"mug_0", "glass_4", "cup_0"})]
    families += [KITCHEN.groups[name] | {"coffee_machine_0"} for name in ("pour_over", "espresso_machine")]
    families += [KITCHEN.groups[name] for name in ("milk", "yoghurt", "butter", "cheese", "spatula")]
    for family in families:
        for thing in sorted(family & trace.used.keys()):
            for other in sorted(family - {thing}):
                yield [exchange_thing(action, thing, other) for action in actions]


def exchange_thing(action: str, thing: str, other: str) -> str:
    """Replace a thing in an action by another one."""
    full = build_scene(FULL)
    one, two = full[thing].contents, full[other].contents
    if one and not two:
        action = re.sub(rf"(Pour|Move) {one} from {thing} to", f"Move {other} to", action)
    if two and not one:
        action = re.sub(rf"Move (cracked_egg|{thing}) from \w+ to", f"Pour {two} from {other} to", action)
    action = re.sub(rf"\b{one}\b", two or other, action) if one else action
    return re.sub(rf"\b{thing}\b", other, action)


def has_violating_mutation(preference: KitchenPreference, task: int, trace: Trace) -> bool:
    """Whether a mutation violates the preference although its dishes are made."""
    judge = PreferenceJudge(task)
    for actions in mutations(trace):
        world = TextKitchen(task, scene=trace.start, max_steps=100)
        for action in actions:
            world.step(action)
        made = all(judge.is_made(dish, world.trace) for dish in judge.concerned_dishes(preference))
        if made and judge.verdict(preference, world.trace).decision == "violated":
            return True
    return False


def asks_for_something(preference: KitchenPreference) -> bool:
    """Whether the preference needs something, and not only the absence of something."""
    task = preference.tasks[0]
    plain = cook_for(dataclasses.replace(preference, wish=WISHES[0].wish, tasks=()), task)
    return decide(preference, task, plain) == "violated"


@for_each_person
def test_violated_by_a_mutation_of_a_satisfying_breakfast(person):
    asking = [preference for preference in applying(person) if asks_for_something(preference)]
    assert asking
    for preference in asking:
        task = preference.tasks[0]
        assert has_violating_mutation(preference, task, satisfying(preference.id, task)), preference.id


@pytest.mark.parametrize("id", ["5.5", "10.8", "11.5", "16.7"])
def test_preferences_without_a_task_can_be_evaluated(id):
    preference = next(preference for preference in WISHES if preference.id == id)
    oats = ("Pour rolled_oats from oatmeal_2 to pot_0",)
    good = {
        "5.5": (*oats, "Pour whole_milk from milk_0 to pot_0"),
        "10.8": (*oats, "Pour oat_milk from milk_1 to pot_0", "Pour water from sink_1 to pot_0"),
        "11.5": ("Pour honey from honey_0 to bowl_0",),
        "16.7": (*oats, "Pour water from sink_1 to pot_0"),
    }[id]
    bad = {"16.7": (*oats, "Pour whole_milk from milk_0 to pot_0")}.get(id, oats)
    assert PreferenceJudge(3).holds(preference.wish, cook_breakfast(3, *good))
    assert not PreferenceJudge(3).holds(preference.wish, cook_breakfast(3, *bad))
