"""The text kitchen: preconditions, observations and effects of actions."""

import pytest

from housewise.core.errors import UserError
from housewise.worlds.kitchen.world import TextKitchen
from tests.worlds.kitchen.moves import full_kitchen, run_actions

OMELETTE = (
    "Move egg_0 to bowl_0",
    "Pour whole_milk from milk_0 to bowl_0",
    "Whisk items in bowl_0 to get batter",
    "Move pan_1 to stove_0",
    "Pour batter from bowl_0 to pan_1",
    "Cook items in pan_1 to get omelette",
    "Move omelette from pan_1 to plate_0",
)


def test_the_layout_shows_no_objects():
    layout = full_kitchen().reset()
    assert layout.count("\n") == 5
    assert "stove_0 (" in layout
    assert "sink_1 (kitchen sink, contains water)" in layout
    for unseen in ("milk_0", "egg_0", "plate_0"):
        assert unseen not in layout


def test_an_omelette_can_be_cooked_and_served():
    world = run_actions(*OMELETTE, "Serve the object plate_0 at table_0")
    assert list(world.state.holders("omelette"))[:2] == ["plate_0", "table_0"]
    assert world.trace.sources_of("omelette") == {"egg_0", "milk_0"}
    assert world.trace.cooked == {"egg_0": 6, "milk_0": 6}
    assert "egg_0" not in world.state
    assert world.describe_prepared_food() == "omelette in/on plate_0, of egg_0, milk_0"


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("Heat egg_0", "on no cooking appliance"),
        ("Turn on plate_0", "no cooking appliance"),
        ("Cook items in bowl_0 to get soup", "on no cooking appliance"),
        ("Cook items in stove_0 to get soup", "no container"),
        ("Boil items in bowl_0 to get soup", "on no cooking appliance"),
        ("Toast the object tomato_0 to get toast", "on no cooking appliance"),
        ("Chop tomato_0 to get pieces", "on no chopping surface, but in/on fridge_0"),
        ("Chop bread_0 to get pieces", "not edible; pour or move white_bread_slice out"),
        ("Mix all items in bowl_0 to get dough", "bowl_0 is empty"),
        ("Mix all items in counter_0 to get dough", "no container"),
        ("Mix all items in milk_0 to get dough", "no container"),
        ("Pour honey from milk_0 to bowl_0", "milk_0 does not contain honey. milk_0 contains whole_milk"),
        ("Pour milk_1 from milk_0 to bowl_0", "milk_0 does not contain milk_1. milk_1 is in/on fridge_0"),
        ("Pour 7 from milk_0 to bowl_0", "milk_0 does not contain 7"),
        ("Move egg_0 from bowl_0 to plate_0", "egg_0 is in/on egg_carton_0"),
        ("Move dragon_0 to bowl_0", "dragon_0 was not found"),
        ("Move yogurt_0 to bowl_0", "Did you mean yoghurt_"),
        ("Move whole_milk to bowl_0", "whole_milk is inside milk_0"),
        ("Move spoon_0 and fork_0 to table_0", "Several things where one belongs: spoon_0, fork_0"),
        ("Move spoon_0, fork_0 to table_0", "Several things"),
        ("Move spoon_0 to table_0, open fridge_0", "Several actions at once"),
        ("Move stove_0 to table_0", "cannot be moved"),
        ("Move kitchen to patio", "cannot be moved"),
        ("Move bowl_0 to bowl_0", "into itself"),
        ("Dance items in bowl_0 to get joy", "Unknown action 'dance'"),
        ("Sing a song", "Unknown action"),
        ("", "Unknown action"),
        ("Mix all items in bowl_0 to get " + "x" * 1000, "at most 500 characters"),
        ("Mix all items in bowl_0 to get " + "x" * 22, "at most 21 letters"),
        ("Mix all items in bowl_0 to get a;b", "cannot be named"),
        ("Look for unicorn", "another single word"),
        ('Ask ""', "A question has between 1"),
        ('Ask "' + "why " * 400 + '"', "A question has between 1"),
    ],
)
def test_an_impossible_action_gives_the_reason_and_changes_nothing(action, reason):
    world = full_kitchen()
    before = world.state
    step = world.step(action)
    assert step.failed
    assert reason in step.observation
    assert "\n" not in step.observation
    assert world.state is before
    assert world.trace.step == 0
    assert not world.trace.used


def test_mixing_inedible_contents_fails():
    world = run_actions("Move spoon_0 to bowl_0", "Pour dish_soap from dish_soap_0 to bowl_0")
    step = world.step("Mix all items in bowl_0 to get potion")
    assert step.failed
    assert "cannot be eaten" in step.observation


def test_used_up_food_is_reported():
    world = run_actions(*OMELETTE)
    step = world.step("Move egg_0 to plate_1")
    assert step.failed
    assert step.observation == "egg_0 does not exist any more: it became part of batter."


def test_packets_stay_full_and_portions_are_numbered():
    world = run_actions(*("Pour whole_milk from milk_0 to bowl_0", "Pour whole_milk from milk_0 to bowl_1"))
    assert world.state.inside("bowl_0") == ["whole_milk"]
    assert world.state.inside("bowl_1") == ["whole_milk_0"]
    assert world.state["milk_0"].contents == "whole_milk"


def test_names_of_results_are_unique():
    world = run_actions(
        *OMELETTE,
        "Cut the object omelette to get omelette",
        "Move egg_1 to bowl_1",
        "Mix all items in bowl_1 to get batter",
    )
    assert world.state.inside("plate_0") == ["omelette_0"]
    assert world.state.inside("bowl_1") == ["batter_0"]


def test_moving_a_packet_explains_how_to_pour():
    step = full_kitchen().step("Move milk_0 to table_0")
    assert step.observation.startswith("milk_0 is now in/on table_0")
    assert "pour whole_milk from milk_0" in step.observation


def test_mixing_keeps_tools():
    world = run_actions(
        "Move egg_0 to bowl_0", "Move spoon_0 to bowl_0", "Move spoon_1 to egg_0", "Mix items in bowl_0 to get x"
    )
    assert set(world.state.inside("bowl_0")) == {"x", "spoon_0", "spoon_1"}


def test_things_on_food_stay_on_the_result():
    world = run_actions(
        "Move white_bread_slice from bread_0 to toaster_0",
        "Pour butter from butter_0 to white_bread_slice",
        "Toast the object white_bread_slice to get toast",
        "Move toast to plate_0",
    )
    assert world.state.inside("toast") == ["butter"]
    assert world.trace.sources_of("toast") == {"bread_0"}


def test_appliances_can_be_opened_closed_and_heated():
    world = run_actions("Open fridge_0", "Turn on kettle_0", "Pour water from sink_1 to kettle_0", "Heat kettle_0")
    assert world.state.has_tag("fridge_0", "open")
    assert world.state.has_tag("kettle_0", "on")
    assert world.state.has_tag("water", "hot")
    world.step("Close fridge_0")
    assert not world.state.has_tag("fridge_0", "open")


def test_searching_sees_into_closed_furniture():
    world = full_kitchen()
    assert "milk_1 (oat milk in a carton, contains oat_milk)" in world.step("Search fridge_0").observation
    found = world.step("Look for eggs").observation
    assert all(f"egg_{number} (" in found for number in range(8))
    assert world.step("Look for chickpeas").observation.startswith("chickpeas not found, but found beans_2")
    assert world.step("Search bed_0").observation == "Found nothing in/on bed_0"


def test_a_question_has_no_observation():
    step = full_kitchen().step('Ask "Would you like milk, or none?"')
    assert (step.observation, step.failed) == ("", False)
    assert step.action is not None
    assert (step.action.name, step.action.x) == ("ask", "Would you like milk, or none?")


def test_the_third_repetition_of_an_action_fails():
    world = full_kitchen()
    assert [world.step('Ask "Milk?"').failed for _ in range(4)] == [False, False, True, True]
    assert not world.step("Open fridge_0").failed
    assert not world.step("Close fridge_0").failed
    assert not world.step('Ask "Milk?"').failed


def test_the_episode_ends_when_the_task_is_declared_done():
    world = full_kitchen()
    assert world.step("Declare Done").ended
    after = world.step("Open fridge_0")
    assert after.failed
    assert after.ended
    assert world.trace.step == 1


def test_the_episode_is_truncated_after_max_steps():
    world = full_kitchen(max_steps=3)
    steps = [world.step(f"Open drawer_{number}") for number in (0, 1, 0)]
    assert [step.truncated for step in steps] == [False, False, True]
    assert world.step("Open drawer_1").failed
    world.reset()
    assert not world.step("Open drawer_1").failed


def test_failed_actions_count_as_attempts():
    world = full_kitchen()
    world.step("Open fridge_0")
    world.step("Open moon_0")
    world.step('Ask "Tea?"')
    assert world.scores() == {"executed": 2, "failed": 1, "questions": 1}


@pytest.mark.parametrize("line", ["  move   EGG_0   to bowl_0. ", "Move the egg_0 to Bowl_0", "MOVE egg_0 TO bowl_0"])
def test_case_spaces_and_articles_are_ignored(line):
    assert not full_kitchen().step(line).failed


def test_accents_and_alternative_forms_are_accepted():
    world = run_actions("Move pan_0 to stove_0", "Move tomato_0 to pan_0", "Sauté items in pan_0 to get tomatoes")
    assert "tomato_0" in world.trace.cooked
    assert world.step("Task Complete").ended


def test_contents_can_be_named_by_a_short_form():
    world = run_actions(
        "Pour milk from milk_1 to bowl_0", "Move bread_1 from bread_1 to plate_0", "Pour honey from honey_0 to cup_2"
    )
    assert world.state.inside("bowl_0") == ["oat_milk"]
    assert world.state.inside("plate_0") == ["whole_grain_bread_slice"]
    assert not world.step("Pour honey from honey_0 to bowl_0").failed


def test_an_unknown_task_is_refused():
    with pytest.raises(UserError, match="there is no task 9"):
        TextKitchen(9)
