"""The speed of the lab, in processor time: a step of the rules, a turn with what is in view, and a picture."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean, median
from typing import Any, Literal

from housewise.agent.basis.views import build_oracle_view
from housewise.core.errors import UserError
from housewise.experiments.bench.lab_pddl_problems import open_problem, plan_in_pddl
from housewise.experiments.bench.trimesh_lab import TrimeshLabView
from housewise.experiments.measured_values import MeasuredValue
from housewise.people.lab.views import build_user_view
from housewise.worlds.lab.actions import LabAction
from housewise.worlds.lab.geometry import LabSpace, open_lab_space
from housewise.worlds.lab.history import LabTurn, record_turn
from housewise.worlds.lab.planner import LabPlanStep, make_plan
from housewise.worlds.lab.rules import step
from housewise.worlds.lab.scenario_run import ScenarioRun
from housewise.worlds.lab.scenarios import LabScenario, draw_scenario, find_variant
from housewise.worlds.lab.state import LabState
from housewise.worlds.lab.surroundings import OpenSpace

Part = Literal["rule step", "turn", "picture"]
_HEADINGS = (0.0, 90.0, 180.0, 270.0)
_STEPS_PER_TIMING = 20
"""A step of the rules is too short to be timed alone."""


def time_lab(part: Part, variants: Sequence[str], seed: int, rounds: int) -> Iterator[MeasuredValue]:
    """Measure a part of the lab and its peer, one after another, on the way to the goal of each scenario.

    Args:
        part: What is measured.
        variants: Names of variants.
        seed: Seed of the scenarios, which are those for training.
        rounds: Number of times that everything is timed.
    """
    for name in variants:
        scenario = draw_scenario(find_variant(name), seed, "training")
        for number in range(rounds):
            ours, theirs = _PARTS[part](scenario)
            yield MeasuredValue(name, number, "ms", median(ours))
            yield MeasuredValue(name, number, "slowest_ms", max(ours))
            yield MeasuredValue(name, number, "per_second", 1000 / fmean(ours))
            yield MeasuredValue(name, number, "peer_ms", median(theirs))
            yield MeasuredValue(name, number, "times_peer", median(theirs) / median(ours))


def time_rules(scenario: LabScenario) -> tuple[list[float], list[float]]:
    """Return milliseconds of each step to the goal, and of unified-planning's simulator for the same steps in PDDL.

    Raises:
        UserError: unified-planning is not installed.
    """
    try:
        from unified_planning.shortcuts import SequentialSimulator
    except ImportError:
        raise UserError("unified-planning is not installed; run pip install unified-planning") from None
    state, space, ours = scenario.state, OpenSpace(), []
    plan = make_plan(state, scenario.goal, space)
    problem = open_problem(state)
    actions = [(problem.action(name), list(map(problem.object, rest))) for name, *rest in plan_in_pddl(state, plan)]
    for each in plan:
        ours.append(_milliseconds(partial(_repeat, state, each.action)) / _STEPS_PER_TIMING)
        state, _ = step(state, each.action, space)
    simulator = SequentialSimulator(problem)
    # The first walk is not measured: it grounds the actions.
    _, theirs = (_walk_in_pddl(simulator, actions) for _ in range(2))
    return ours, theirs


def _repeat(state: LabState, action: LabAction) -> None:
    space = OpenSpace()
    for _ in range(_STEPS_PER_TIMING):
        step(state, action, space)


def _walk_in_pddl(simulator: Any, actions: Sequence[tuple[Any, Any]]) -> list[float]:
    state, times = simulator.get_initial_state(), []
    for action, parameters in actions:
        began = time.process_time()
        state = simulator.apply(state, action, parameters)
        times.append(1000 * (time.process_time() - began))
    return times


def time_turns(scenario: LabScenario) -> tuple[list[float], list[float]]:
    """Return milliseconds of each turn, and of those of which trimesh traces what is in view.

    A turn is an action, with what the person and the oracle know after it. After each action they turn around.
    """
    plan = make_plan(scenario.state, scenario.goal, OpenSpace())
    ours = _walk(scenario, open_lab_space(scenario), plan)
    return ours, _walk(scenario, open_trimesh_space(scenario), plan)


def _walk(scenario: LabScenario, space: LabSpace, plan: Sequence[LabPlanStep]) -> list[float]:
    run, turns, times = ScenarioRun(scenario, space), list[LabTurn](), list[float]()
    space.glimpses(run.state)
    for each in plan:
        for action in (each.action, LabAction("RotateRight", "90")):
            times.append(_milliseconds(partial(_turn, run, turns, space, action)))
    return times


def _turn(run: ScenarioRun, turns: list[LabTurn], space: LabSpace, action: LabAction) -> None:
    before = run.state
    outcome, _ = run.step(action)
    turns.append(record_turn(before, space, action, outcome))
    build_user_view(run.state, space, "", turns)
    build_oracle_view(run.state, space, turns)


def time_pictures(scenario: LabScenario) -> tuple[list[float], list[float]]:
    """Return milliseconds of each picture of 300 x 300 pixels with instances, and of those that trimesh traces."""
    space, peer = open_lab_space(scenario), open_trimesh_space(scenario)
    run = ScenarioRun(scenario, space)
    states = [run.state]
    for planned in make_plan(scenario.state, scenario.goal, OpenSpace()):
        run.step(planned.action)
        states.append(run.state)
    views = [
        replace(state, body=replace(state.body, heading=(state.body.heading + turn) % 360))
        for state in states
        for turn in _HEADINGS
    ]
    for each in (space, peer):
        each.view.picture(run.state)
    ours, theirs = (
        [_milliseconds(partial(view.picture, state)) for state in views] for view in (space.view, peer.view)
    )
    return ours, theirs


def open_trimesh_space(scenario: LabScenario) -> LabSpace:
    """Return the space of a scenario, in which trimesh traces what is in view."""
    space = open_lab_space(scenario)
    space.view = TrimeshLabView(space.layout)
    return space


def _milliseconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return 1000 * (time.process_time() - began)


_PARTS: dict[Part, Callable[[LabScenario], tuple[list[float], list[float]]]] = {
    "rule step": time_rules,
    "turn": time_turns,
    "picture": time_pictures,
}
