"""Checks a planner's words before a step is taken: is each understood, seen, and possible? (STARS, analysis)

The parser tells what is understood and known, foresight what can be done; steps that fail are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from housewise.agent.personalize.plan_parser import ParsedStep
from housewise.agent.personalize.plan_simulator import PlanSimulator
from housewise.agent.personalize.planner import Attempt, Plan
from housewise.worlds.house.scene_graph import SceneGraph

MOST_REPAIRS = 2
"""How often a plan is asked for again (STARS, repair)."""


def checked(plan: Plan, graph: SceneGraph, attempts: Sequence[Attempt]) -> tuple[Plan, str]:
    """Do a plan in thought.

    What has been looked at does not matter: the body may see it from where it stands.

    Args:
        plan: of a model.
        graph: all that the robot knows.
        attempts: everything tried in this episode.

    Returns:
        The plan, in which steps that cannot be done have no action but the reason, so that they are left out; and what
        is wrong with the first of them, in words, empty where nothing is.
    """
    house, steps, wrong = PlanSimulator(graph, attempts, looks=False), list[ParsedStep](), ""
    for number, step in enumerate(plan.steps, start=1):
        problem = step.problem if step.action is None else house.problem(step.action)
        if problem or step.action is None:
            wrong = wrong or f"step {number} ({step.raw}) cannot be done: {problem}"
            step = ParsedStep(step.raw, None, problem)
        else:
            house.do(step.action)
        steps.append(step)
    return replace(plan, steps=tuple(steps)), wrong
