import pytest

from housewise.agent.stars.data_files import load_task
from housewise.agent.stars.planning import GoalState, goal_state, plan_actions, simulate_actions
from housewise.worlds.kitchen.manipulation import OPEN_TAG
from housewise.worlds.kitchen.state import Place, State
from tests.agent.stars.conftest import Analyse


@pytest.fixture()
def kitchen() -> State:
    return load_task("tidy kitchen")[0].start()


def planned(analyse: Analyse, state: State, goal: str) -> list[str] | None:
    found = goal_state(analyse(f"the goal is that {goal}"))
    path = plan_actions(state, found) if found else None
    return None if path is None else [str(act) for act in path]


def test_the_shortest_way_opens_first_and_closes_when_it_is_said(analyse: Analyse, kitchen: State) -> None:
    goal = "the mug is in the cupboard and the cupboard is closed"
    assert planned(analyse, kitchen, goal) == [
        "go to cupboard", "open cupboard", "go to dish rack", "pick up mug 2", "go to cupboard",
        "put mug 2 in cupboard", "close cupboard",
    ]  # fmt: skip
    assert planned(analyse, kitchen, "the mug is in the cupboard") == [
        "go to cupboard", "open cupboard", "go to dish rack", "pick up mug 2", "go to cupboard",
        "put mug 2 in cupboard",
    ]  # fmt: skip


def test_what_was_left_open_stays_open_until_a_goal_closes_it(analyse: Analyse, kitchen: State) -> None:
    left = simulate_actions(kitchen, plan_actions(kitchen, GoalState({"milk": Place("fridge")}, {})) or ())
    assert left.has_tag("fridge", OPEN_TAG)
    then = simulate_actions(left, plan_actions(left, GoalState({"ketchup": Place("fridge")}, {"fridge": False})) or ())
    assert not then.has_tag("fridge", OPEN_TAG) and set(then.inside("fridge")) == {"milk", "ketchup"}


def test_what_holds_already_needs_nothing(analyse: Analyse, kitchen: State) -> None:
    assert planned(analyse, kitchen, "the mug is in the dish rack") == []
    assert planned(analyse, kitchen, "the cupboard is closed") == []


@pytest.mark.parametrize(
    "goal", ["the mug is under the table", "the mug is next to the sink", "the mug is full", "the mug is empty"]
)
def test_what_no_act_brings_about_has_no_plan(analyse: Analyse, kitchen: State, goal: str) -> None:
    assert analyse(f"the goal is that {goal}").viable and planned(analyse, kitchen, goal) is None


def test_contradictions_have_no_plan(analyse: Analyse, kitchen: State) -> None:
    assert planned(analyse, kitchen, "the mug is in the sink and the mug is on the table") is None
    assert plan_actions(kitchen, GoalState({"mug 2": Place("moon")}, {})) is None


def test_two_fixtures_are_closed_in_one_plan(analyse: Analyse, kitchen: State) -> None:
    opened = simulate_actions(kitchen, plan_actions(kitchen, GoalState({}, {"drawer": True})) or ())
    path = plan_actions(opened, GoalState({"mug 2": Place("cupboard")}, {"cupboard": False, "drawer": False}))
    assert path is not None
    end = simulate_actions(opened, path)
    assert (
        not end.has_tag("drawer", OPEN_TAG)
        and not end.has_tag("cupboard", OPEN_TAG)
        and end.holder("mug 2") == "cupboard"
    )
