"""The 70 variants: all are solvable, their subgoals are reached on the way, and the splits differ."""

from collections import Counter

import pytest

from housewise.worlds.lab.goals import TASKS
from housewise.worlds.lab.planner import make_plan
from housewise.worlds.lab.rules import step
from housewise.worlds.lab.scenarios import MAX_ACTIONS, draw_scenario
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


def test_seeds_repeat_and_splits_differ() -> None:
    variant = VARIANTS[0]
    assert draw_scenario(variant, 5).state == draw_scenario(variant, 5).state
    assert draw_scenario(variant, 5, "training").state != draw_scenario(variant, 5, "test").state
