"""VerifyCompletion: visits what the robot has passed by before the task ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from housewise.agent.personalize.planner import Attempt, Plan
from housewise.agent.personalize.wrappers.missed_targets import VisitingWrapper, missed_targets
from housewise.worlds.house.scene_graph import SceneGraph


class VerifyCompletion(VisitingWrapper):
    """When the model considers the task complete, goes where the robot has not been, and asks again."""

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        plan = self._planner.plan(graph, attempts)
        if not plan.complete or graph.holding is not None or not (missed := missed_targets(graph, attempts)):
            return plan
        if any(step.action is not None for step in plan.steps):
            return replace(plan, complete=False)
        return self.plan_visits(graph, missed, plan.all_calls)
