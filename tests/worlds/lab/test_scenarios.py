"""The 70 variants: all are solvable, their subgoals are reached on the way, and the splits differ."""

from collections import Counter
from typing import get_args

import pytest

from housewise.core.errors import UserError
from housewise.worlds.lab.actions import LabAction
from housewise.worlds.lab.goals import TASKS, Goal
from housewise.worlds.lab.kinds import CARTRIDGES, KINDS, Property
from housewise.worlds.lab.planner import make_plan
from housewise.worlds.lab.rules import step
from housewise.worlds.lab.scenario_run import ScenarioRun
from housewise.worlds.lab.scenarios import MAX_ACTIONS, draw_scenario, find_variant
from housewise.worlds.lab.surroundings import OpenSpace
from housewise.worlds.lab.variants import VARIANTS, Variant


def test_variants_are_those_of_the_paper() -> None:
    assert Counter(variant.precondition for variant in VARIANTS) == {
        "simple": 22, "power": 15, "landing": 8, "deembiggen": 7, "disinfect_computer": 5, "remove_blocker": 5,
        "transform_carrot": 4, "assemble_laser": 2, "print": 1, "assemble_fusebox": 1,
    }  # fmt: skip
    assert {variant.goal.task for variant in VARIANTS} == set(TASKS)
    assert len({variant.name for variant in VARIANTS}) == 70


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_plan_reaches_the_goal_and_every_subgoal(variant: Variant) -> None:
    for split in ("training", "test"):
        scenario, space = draw_scenario(variant, 3, split), OpenSpace()
        state = scenario.state
        assert not scenario.goal.holds(state)
        plan = make_plan(state, scenario.goal, space)
        assert len(plan) < MAX_ACTIONS
        events: set[str] = set()
        reached: set[str] = set()
        for each in plan:
            state, outcome = step(state, each.action, space)
            assert outcome.succeeded, (each, outcome)
            events |= set(outcome.events)
            reached |= {subgoal.name for subgoal in scenario.subgoals if subgoal.holds(state, events)}
        assert scenario.goal.holds(state, events)
        assert reached == {subgoal.name for subgoal in scenario.subgoals}


def play(variant: str, *actions: str) -> list[str]:
    """Return the subgoals that are reached by actions ``VERB ID``, each in front of the thing."""
    drawn, space = draw_scenario(find_variant(variant), 1, "training"), OpenSpace()
    run = ScenarioRun(drawn, space)
    for action in actions:
        verb, id = action.split()
        for before in (LabAction("GotoRoom", run.state[id].room), LabAction("GotoObject", id)):
            if id != run.state.held:
                run.step(before)
        outcome, _ = run.step(LabAction(verb, id))  # type: ignore[arg-type]
        assert outcome.succeeded, (action, outcome)
    return run.reached


def test_only_power_in_the_room_of_the_variant_is_its_subgoal() -> None:
    state = draw_scenario(find_variant("fire_laser__none__power"), 1, "training").state
    levers = {state[each.container].room: each for each in state.things if each.kind == "lever" and each.container}
    for room, times, reached in (("break room", 2, []), ("warehouse", 1, ["power on"])):
        opened, toggled = f"Open {levers[room].container}", f"Toggle {levers[room].id}"
        assert play("fire_laser__none__power", opened, *[toggled] * times) == reached


def test_only_the_variants_carrot_is_its_subgoal() -> None:
    variant, machine = "break__bowl__transform_carrot", "time_machine_1"
    mended = ["Open {0}", "Place {0}", "Close {0}", "Toggle {0}", "Open {0}"]
    actions = ["Pickup apple_1", *(each.format(machine) for each in mended), "Pickup apple_1"]
    assert play(variant, *actions) == []
    assert play(variant, "Pickup hammer_1") == ["held carrot", "held hammer"]


def test_seeds_repeat_and_splits_differ() -> None:
    variant = VARIANTS[0]
    assert draw_scenario(variant, 5).state == draw_scenario(variant, 5).state
    assert draw_scenario(variant, 5, "training").state != draw_scenario(variant, 5, "test").state


CONTRADICTIONS = {
    "a task that the rules do not have": (Goal("dance"), "simple", "", "task: there is no 'dance'; available: "),
    "a kind that the rules do not have": (Goal("make_carrot", "banan"), "simple", "", "did you mean banana?"),
    "a room that the lab does not have": (Goal("power", room="cellar"), "simple", "", "room: there is no 'cellar'"),
    "an unknown precondition": (Goal("make_carrot", "apple"), "flood", "", "precondition: there is no 'flood'"),
    "a precondition about an unknown kind": (Goal("make_carrot", "apple"), "landing", "unicorn", "needed: kind: there"),
    "a precondition about an unknown room": (Goal("make_carrot", "apple"), "power", "@cellar", "needed: room: there"),
    "a precondition about a device": (Goal("make_carrot", "apple"), "landing", "printer", "is not pickupable"),
    "a precondition about nothing in the lab": (Goal("make_carrot", "apple"), "landing", "laser_tip", "name a tool or"),
    "a goal that no rule reaches": (Goal("break", "apple"), "simple", "", "nobody can reach the goal by the rules"),
    "a colour without a button": (Goal("change_color", "apple", "purple"), "simple", "", "nobody can reach the goal"),
    "a computer that is none": (Goal("infect_computer", "apple"), "simple", "", "nobody can reach the goal"),
    "a goal without its thing": (Goal("make_carrot"), "simple", "", "nobody can reach the goal by the rules"),
    "a goal that is reached": (Goal("change_color", "apple", "red"), "simple", "", "is reached at the beginning"),
    "a subgoal that nobody reaches": (Goal("make_carrot", "apple"), "print", "apple", "subgoal 'held cartridge'"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_variant_that_contradicts_the_rules_is_refused_in_one_line(name: str) -> None:
    goal, precondition, needed, problem = CONTRADICTIONS[name]
    variant = Variant(goal, precondition, needed, "Do it.")  # type: ignore[arg-type]
    with pytest.raises(UserError) as caught:
        draw_scenario(variant, 0)
    message = str(caught.value)
    assert message.startswith(f"variant {variant.name}: ") and problem in message and "\n" not in message


def test_a_variant_of_ones_own_is_drawn() -> None:
    variant = Variant(Goal("make_carrot", "apple"), "landing", "apple", "Turn the apple into a carrot.")
    assert "floating" in draw_scenario(variant, 0).state["apple_1"].flags


def test_every_machine_has_its_monitor_and_every_device_something_that_fits() -> None:
    for kind in KINDS.values():
        if kind.monitor:
            monitor = KINDS[kind.monitor]
            assert monitor.room == kind.room and {"toggleable", "infectable"} <= monitor.properties, kind.key
        assert set(kind.accepts) <= set(KINDS) and bool(kind.spots) == ("receptacle" in kind.properties), kind.key
    assert {*CARTRIDGES, *CARTRIDGES.values()} <= set(KINDS)


def test_things_have_the_14_properties_of_the_paper() -> None:
    assert len(get_args(Property)) == 14
    assert {each for kind in KINDS.values() for each in kind.properties} == {*get_args(Property)}
