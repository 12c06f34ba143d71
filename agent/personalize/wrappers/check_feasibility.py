"""CheckFeasibility: asks again for plans with infeasible steps (STARS, analysis and repair)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from housewise.agent.personalize.judgement_text import split_judgements
from housewise.agent.personalize.plan_simulator import remove_infeasible_steps
from housewise.agent.personalize.planner import Attempt, Plan, Planner
from housewise.agent.personalize.wrappers.housewise_planner import HousewisePlanner
from housewise.language.base import Message
from housewise.worlds.house.scene_graph import SceneGraph

MAX_REPAIRS = 2
"""Default number of times that an infeasible plan is asked for again."""


class CheckFeasibility:
    """Leaves out steps that cannot be parsed or executed as far as the robot knows.

    Args:
        planner: The wrapped planner.
        llm: The planner that asks the model.
        repairs: How often the model is asked to correct such a plan before its steps are left out.
    """

    def __init__(self, planner: Planner, llm: HousewisePlanner, repairs: int = MAX_REPAIRS) -> None:
        self.name = planner.name
        self._planner, self._llm, self._repairs = planner, llm, repairs

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        llm, words = self._llm, self._llm.context.template
        first = self._planner.plan(graph, attempts)
        plan, problem = remove_infeasible_steps(first, graph, attempts)
        for _ in range(self._repairs):
            if not problem or plan.reply is None:
                break
            answer = Message("assistant", f"{words.prefix}{plan.text}")
            prompt = (*first.messages, answer, Message("user", words.feedback.format(problem=problem).strip()))
            # The judgements of the first reply are kept.
            judged = f"{split_judgements(plan.text)[0].rstrip()}\nstep 1:" if words.judging else ""
            grammar = llm.grammar(graph) if llm.grounded else None
            reply = llm.session.ask(prompt, f"{words.prefix}{judged}", grammar)
            repaired = llm.parse(graph, prompt, replace(reply, text=f"{judged}{reply.text}"))
            plan, problem = remove_infeasible_steps(replace(repaired, prior_calls=plan.calls), graph, attempts)
        return replace(plan, scores=first.scores, alternatives=first.alternatives)
