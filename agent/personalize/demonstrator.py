"""The demonstrator: what a language model would be asked, and what it should answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from housewise.agent.personalize.placement_judgement import format_judgements
from housewise.agent.personalize.plan_parser import ParsedStep
from housewise.agent.personalize.planner import Attempt, Plan, hide_hopeless_targets
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt import ContextGenerator
from housewise.agent.personalize.scripted_planner import ScriptedPlanner
from housewise.language.base import Reply
from housewise.worlds.house.scene_graph import SceneGraph


class Demonstrator:
    """Plans like the scripted planner, and writes each plan as the answer to the prompt of a language model.

    Records of it are demonstrations: every plan, the closing "mission complete" too, is a prompt with its reply.

    Args:
        scripted: decides.
        context: puts the state into words, as for the model that is to learn.
        knowledge: what the model is to be told of the person; None for nothing.
    """

    name = "demonstrator"

    def __init__(
        self, scripted: ScriptedPlanner, context: ContextGenerator, knowledge: PreferenceKnowledge | None = None
    ) -> None:
        self._scripted = scripted
        self._context, self._knowledge = context, knowledge

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        words = self._context.template
        told = hide_hopeless_targets(graph, attempts, words.most_tries)
        messages, called = self._context.messages(told, self._knowledge), words.called(told)
        plan = self._scripted.plan(graph, attempts)
        steps = tuple(ParsedStep(str(step.action.renamed(called)), step.action) for step in plan.steps if step.action)
        plan = replace(plan, steps=steps)
        reply, judgements = f"step 1: {plan.text}", self._scripted.judgements(told, attempts)
        if words.judging:
            reply = f"{words.prefix}{format_judgements(judgements, told, called)}\n{reply}"
        return replace(plan, messages=messages, reply=Reply(reply.removeprefix(words.prefix)), shown=judgements)
