"""LoopRecovery: replaces plans that repeat earlier steps."""

from __future__ import annotations

from collections.abc import Sequence

from housewise.agent.personalize.judgement_text import Judgements, parse_judgements, split_judgements
from housewise.agent.personalize.planner import Attempt, Plan, hide_hopeless_targets, visited_targets
from housewise.agent.personalize.scripted_planner import planner_for_judgements
from housewise.agent.personalize.wrappers.missed_targets import VisitingWrapper, missed_targets
from housewise.worlds.house.high_level_actions import ActionKind
from housewise.worlds.house.scene_graph import SceneGraph

_MANIPULATIONS = frozenset({ActionKind.PICK_UP, ActionKind.PLACE})


class LoopRecovery(VisitingWrapper):
    """Replaces a plan that repeats earlier steps by what follows from its judgements, or by visits."""

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        plan, words = self._planner.plan(graph, attempts), self._llm.context.template
        if not is_loop(plan, graph, attempts):
            return plan
        visible = hide_hopeless_targets(graph, attempts, words.most_tries)
        judgements: Judgements = {}
        if words.judging:
            judgements = parse_judgements(split_judgements(plan.text)[0], visible, words.prompt_names(visible))
        scripted = planner_for_judgements(judgements).plan(visible, attempts)
        if scripted.complete and (missed := missed_targets(graph, attempts)):
            return self.plan_visits(graph, missed, plan.all_calls)
        return self._llm.plan_without_model(graph, f"step 1: {scripted.text}", plan.all_calls)


def is_loop(plan: Plan, graph: SceneGraph, attempts: Sequence[Attempt]) -> bool:
    """Return whether a plan moves nothing and goes only where the robot has been.

    A plan that ends the task is no loop, unless the robot still holds an object.
    """
    actions = [step.action for step in plan.steps if step.action is not None]
    if any(action.kind in _MANIPULATIONS for action in actions):
        return False
    if plan.complete:
        return graph.holding is not None
    visited = visited_targets(attempts)
    return all(action.kind != ActionKind.GO_TO or action.target in visited for action in actions)
