"""The plan simulator: feasible actions and problems of plans in the known house."""

import pytest

from housewise.agent.personalize.plan_normalizer import parse_any_plan
from housewise.agent.personalize.plan_simulator import PlanSimulator, find_problem
from housewise.agent.personalize.planner import Attempt
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation

MUG, SINK, TABLE = "mug 1", "kitchen 0 sink 2", "hall 1 table 3"


def house(holding: str | None = None) -> SceneGraph:
    graph = SceneGraph(["kitchen 0", "hall 1"])
    graph.update(SymbolicObservation({SINK: "kitchen 0", TABLE: "hall 1"}, {MUG: SINK, "pen 4": TABLE}, holding))
    return graph


def done(*steps: str, succeeded: bool = True) -> list[Attempt]:
    parsed = parse_any_plan("\n".join(steps), house().vocabulary)
    return [Attempt(step.action, succeeded) for step in parsed.steps if step.action is not None]


def feasible(graph: SceneGraph, attempts: list[Attempt]) -> set[str]:
    return {str(action) for action in PlanSimulator(graph, attempts).feasible_actions()}


def judged(*steps: str, holding: str | None = None, attempts: list[Attempt] | None = None) -> str:
    graph = house(holding)
    return find_problem(parse_any_plan("\n".join(steps), graph.vocabulary), graph, attempts or [])


def test_at_first_one_can_only_go_somewhere() -> None:
    assert feasible(house(), []) == {f"go to {name}" for name in ("kitchen 0", "hall 1", SINK, TABLE, MUG, "pen 4")}


def test_where_one_went_and_looked_one_can_pick_up() -> None:
    there = feasible(house(), done(f"go to {MUG}"))
    assert f"look at {MUG}" in there and f"look at {SINK}" in there and f"go to {SINK}" not in there
    assert not any(action.startswith("pick up") for action in there)
    looking = feasible(house(), done(f"go to {SINK}", f"look at {MUG}"))
    assert {action for action in looking if not action.startswith("go to")} == {f"pick up {MUG}"}


def test_with_a_full_hand_one_goes_to_places_and_puts_it_down() -> None:
    assert feasible(house(MUG), done(f"go to {MUG}", f"look at {MUG}", f"pick up {MUG}")) == {
        f"go to {name}" for name in ("kitchen 0", "hall 1", SINK, TABLE)
    }
    assert f"place {MUG} on {TABLE}" in feasible(house(MUG), done(f"go to {TABLE}", f"look at {TABLE}"))


def test_a_walk_that_failed_leads_nowhere() -> None:
    assert f"look at {SINK}" not in feasible(house(), done(f"go to {SINK}", succeeded=False))


FETCH = [f"go to {MUG}", f"look at {MUG}", f"pick up {MUG}", f"go to {TABLE}", f"look at {TABLE}"]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ((*FETCH, f"place {MUG} on {TABLE}"), ""),
        (("go to hall 1", "mission complete"), ""),
        (("mission complete",), ""),
        ((), "no step"),
        (("go to the moon",), "unknown"),
        (("dance",), "not an action"),
        (("Sure! Here is my plan:", "1. go to hall 1"), ""),
        (
            ("Sure! Here is my plan:", f"1. look at {MUG}"),
            "step 1 (1. look at mug 1) cannot be done: you are not there",
        ),
        (("go to the moon", "step 2: go to hall 1"), "unknown"),
        (("1. dance", "2. go to hall 1"), "not an action"),
        ((f"look at {MUG}",), "step 1 (look at mug 1) cannot be done: you are not there"),
        ((f"go to {MUG}", f"pick up {MUG}"), "you do not look there"),
        ((*FETCH[:3], "pick up pen 4"), f"your hand is full; place {MUG} first"),
        ((*FETCH[:3], f"go to {MUG}"), "you hold mug 1 already"),
        ((*FETCH, f"place pen 4 on {TABLE}"), "you do not hold pen 4 but mug 1"),
        ((f"place {MUG} on {TABLE}",), "pick it up first"),
        ((*FETCH[:4], f"place {MUG} on {TABLE}"), f"look at {TABLE} first"),
        ((*FETCH, "mission complete"), "ends with mug 1 in your hand"),
    ],
)
def test_the_verdict_names_the_first_step_that_cannot_be_done(steps: tuple[str, ...], said: str) -> None:
    found = judged(*steps)
    assert said in found and bool(found) == bool(said)


def test_a_plan_starts_where_the_robot_is() -> None:
    assert judged(f"pick up {MUG}", attempts=done(f"go to {SINK}", f"look at {SINK}")) == ""
    assert judged(f"place {MUG} on {TABLE}", holding=MUG, attempts=done(f"go to {TABLE}", f"look at {TABLE}")) == ""


def test_every_feasible_action_has_no_problem() -> None:
    foresight = PlanSimulator(house(), done(f"go to {SINK}", f"look at {SINK}"))
    assert [foresight.problem(action) for action in foresight.feasible_actions()] == [""] * len(
        list(foresight.feasible_actions())
    )
    assert foresight.problem(HighLevelAction(ActionKind.PICK_UP, "pen 4"))
