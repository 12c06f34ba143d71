"""VerifyCompletion: visits what the robot has passed by before the task ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from housewise.agent.personalize.planner import Attempt, Plan, Planner
from housewise.agent.personalize.scripted_planner import Distance
from housewise.agent.personalize.wrappers.housewise_planner import HousewisePlanner
from housewise.agent.personalize.wrappers.missed_targets import missed_targets, plan_visits
from housewise.worlds.house.scene_graph import SceneGraph


class VerifyCompletion:
    """When the model considers the task complete, goes where the robot has not been, and asks again.

    Args:
        planner: The wrapped planner.
        llm: The planner that asks the model.
        route: Length of the way between rooms and receptacles; see missed_targets.plan_visits.
    """

    def __init__(self, planner: Planner, llm: HousewisePlanner, route: Distance | None = None) -> None:
        self.name = planner.name
        self._planner, self._llm, self._route = planner, llm, route

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        plan = self._planner.plan(graph, attempts)
        if not plan.complete or graph.holding is not None or not (missed := missed_targets(graph, attempts)):
            return plan
        if plan.steps:
            return replace(plan, complete=False)
        calls = tuple(call for each in (plan, *plan.alternatives) for call in each.calls)
        return plan_visits(graph, missed, calls, self._llm, self._route)
