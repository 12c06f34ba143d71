"""The scripted cook: what it fulfils from the start, and from wherever another cook stopped."""

import functools
import random

import pytest
import yaml

from housewise.agent.adapt.scripted_cook.oracle_cook import OracleCook
from housewise.core.errors import UserError
from housewise.people.kitchen.invented_profiles import PHRASINGS_FILE, invent_profile
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.worlds.kitchen.scene import build_scene
from housewise.worlds.kitchen.world import TextKitchen
from tests.people.kitchen.breakfasts import KITCHEN, make_preference, single_preference_profile
from tests.people.kitchen.sixteen import ADAPT_PEOPLE
from tests.worlds.kitchen.moves import draw_action

invented = functools.cache(invent_profile)


def finish(world: TextKitchen, cook: OracleCook, most: int = 60) -> None:
    for _ in range(most):
        step = world.step(cook.act(world.dynamics))
        assert not step.failed, f"{world.trace.actions[-1]}: {step.observation}"
        if step.ended:
            return
    raise AssertionError("the cook does not come to an end")


def left_open(person, task, world, given_up):
    verdicts = PreferenceJudge(task).verdicts(person, world.trace)
    return [one.preference.id for one in verdicts if one.decision == "violated" and one.preference.id not in given_up]


@pytest.mark.parametrize("person", ADAPT_PEOPLE.values(), ids=lambda person: person.name)
def test_fulfils_all_that_can_be_for_each_of_the_sixteen(person):
    for task in KITCHEN.tasks.tasks:
        world = TextKitchen(task, seed=task)
        cook = OracleCook(person, task)
        given_up = cook.choice(world.dynamics).given_up
        finish(world, cook)
        assert left_open(person, task, world, given_up) == []
        assert world.trace.step <= 50


@pytest.mark.parametrize("seed", range(20))
def test_goes_on_from_what_a_student_left(seed):
    rng = random.Random(seed)
    person = list(ADAPT_PEOPLE.values())[seed % 16] if seed % 2 else invented(seed)
    task = rng.randint(1, 8)
    world = TextKitchen(task, seed=seed, max_steps=1000)
    other = OracleCook(invent_profile(seed + 1000), task)
    for _ in range(rng.randint(1, 25)):
        action = draw_action(world.state, rng) if rng.random() < 0.3 else other.act(world.dynamics)
        if action != "Declare Done":
            world.step(action)
    cook = OracleCook(person, task)
    given_up = cook.choice(world.dynamics).given_up
    finish(world, cook)
    assert left_open(person, task, world, given_up) == []


def test_goes_on_from_its_own_plan_after_an_interruption():
    person = list(ADAPT_PEOPLE.values())[9]
    world = TextKitchen(6, seed=1)
    cook = OracleCook(person, 6)
    world.step(cook.act(world.dynamics))
    world.step("Pour whole_milk from milk_0 to bowl_0")
    world.step('Ask "Tea?"')
    finish(world, cook)
    assert left_open(person, 6, world, {}) == []


def test_mends_a_half_made_omelette():
    person = single_preference_profile(
        make_preference("together(cheese, egg) and served_at(patio_table)", tasks="eggs", dishes=("eggs",))
    )
    world = TextKitchen(1, scene=build_scene(KITCHEN.objects.places()))
    for action in (
        "Crack the object egg_3 to get cracked_egg",
        "Move cracked_egg from egg_carton_0 to bowl_0",
        "Pour oat_milk from milk_1 to bowl_0",
        "Whisk items in bowl_0 to get batter",
    ):
        assert not world.step(action).failed
    finish(world, OracleCook(person, 1))
    assert [made.id for made in world.trace.made][:2] == ["cracked_egg", "batter"]
    assert all("egg" not in action.lower() or "fried" in action for action in world.trace.actions[4:])
    assert left_open(person, 1, world, {}) == []


def test_says_which_wishes_do_not_go_together_here():
    """Sweetened, and with nothing low in calories: where only stevia is left one of the two has to go."""
    person = ADAPT_PEOPLE["jamal"]
    world = TextKitchen(3, scene=build_scene(["cereal_box_0", "maple_syrup_1", "sugar_0"]))
    given_up = OracleCook(person, 3).choice(world.dynamics).given_up
    assert len(given_up) == 1
    assert set(given_up) <= {"5.3", "5.7"}
    assert set(given_up.values()) == {"it does not go together with the other wishes"}


def test_gives_up_a_dish_of_which_there_is_nothing():
    person = ADAPT_PEOPLE["sarah"]
    world = TextKitchen(3, scene=build_scene([]))
    cook = OracleCook(person, 3)
    given_up = cook.choice(world.dynamics).given_up
    assert given_up["2.4"] == "there is nothing to make cereal of"
    finish(world, cook)
    assert left_open(person, 3, world, given_up) == []


@pytest.mark.parametrize(
    ("task", "begun", "next_", "anew"),
    [
        (3, ("Pour whole_milk from milk_0 to bowl_3",), "to bowl_3", "bowl_0"),
        (6, ("Pour water from sink_1 to kettle_0",), "Heat kettle_0", "sink_1"),
        (6, ("Pour water from sink_1 to kettle_0", "Heat kettle_0"), "Pour water from kettle_0 to mug", "Heat kettle"),
        (1, ("Move pan_1 to stove_0", "Pour butter from butter_0 to pan_1"), "to pan_1", "pan_0"),
        (4, ("Pour water from sink_1 to coffee_machine_0",), "Brew items in coffee_machine_0", "sink_1"),
    ],
)
def test_goes_on_with_a_vessel_in_which_a_dish_was_begun(task, begun, next_, anew):
    wants = "before(milk_whole, cereal)" if task == 3 else "together(butter_0, egg)"
    wished = make_preference(wants, tasks="cereal" if task == 3 else "eggs")
    world = TextKitchen(task, scene=build_scene(KITCHEN.objects.places()))
    for action in begun:
        assert not world.step(action).failed
    cook = OracleCook(single_preference_profile(wished), task)
    plan = cook.plan(world.dynamics)
    assert any(next_ in action for action in plan)
    assert not any(anew in action for action in plan)
    finish(world, cook)
    assert left_open(single_preference_profile(wished), task, world, {}) == []


def test_ways_to_say_a_wish_are_about_what_there_is():
    content = yaml.safe_load(PHRASINGS_FILE.read_text(encoding="utf-8"))
    groups = {*KITCHEN.groups, "sweet breakfast"}
    assert set(content["words"]) <= groups
    said = {wish.text for seed in range(30) for wish in invented(seed).preferences}
    assert len(said) > 200 and not any("{" in text or "_" in text for text in said)


def test_invented_people_are_the_same_for_one_seed_and_never_contradict_themselves():
    assert invent_profile(3) == invented(3) != invented(4)
    for seed in range(10):
        person = invented(seed)
        assert 10 <= len(person.preferences) <= 19
        assert sum(wish.category == "preparation" for wish in person.preferences) <= 1
        assert 20 <= len(invent_profile(seed, (20, 32)).preferences) <= 32


def test_more_wishes_than_there_are_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("housewise.people.kitchen.invented_profiles._MAX_DRAWS", 20)
    with pytest.raises(UserError, match=r"50 preferences without contradictions were not found .* ask for fewer"):
        invent_profile(3, (50, 50))


@pytest.mark.parametrize(
    ("wants", "task"),
    [
        ('done("whisk", of=egg)', 1),
        ('done("fry", of=egg)', 1),
        ('done("chop", of=cheese)', 2),
        ('not done("brew")', 4),
        ('not made("brew") and not done("cook", of=egg)', 6),
        ("on_appliance(cheese)", 3),
        ("served_at(patio)", 8),
    ],
)
def test_does_what_people_s_own_wishes_say(wants, task):
    somebody, world = (
        single_preference_profile(make_preference(wants)),
        TextKitchen(task, scene=build_scene(KITCHEN.objects.places().keys())),
    )
    finish(world, OracleCook(somebody, task))
    assert left_open(somebody, task, world, ()) == []
