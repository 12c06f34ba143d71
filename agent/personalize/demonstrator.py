"""The demonstrator: scripted plans, written as replies to the prompt of a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from housewise.agent.personalize.judgement_text import format_judgements
from housewise.agent.personalize.plan_parser import ParsedStep
from housewise.agent.personalize.planner import Attempt, Plan, hide_hopeless_targets
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt_notes import NotesContext
from housewise.agent.personalize.scripted_planner import ScriptedPlanner
from housewise.language.base import Reply
from housewise.worlds.house.scene_graph import SceneGraph


class Demonstrator:
    """Plans like the scripted planner and writes each plan as the reply to a language model's prompt.

    Its records are demonstrations for training: each plan, including the last "mission complete", has prompt and reply.

    Args:
        scripted: Scripted planner that chooses the steps.
        context: Describes the state in words, as for the model that will be trained.
        knowledge: Recalled preferences in the prompt, or None for a prompt without a memory.
    """

    name = "demonstrator"

    def __init__(
        self, scripted: ScriptedPlanner, context: NotesContext, knowledge: PreferenceKnowledge | None = None
    ) -> None:
        self._scripted = scripted
        self._context, self._knowledge = context, knowledge

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        words = self._context.template
        visible = hide_hopeless_targets(graph, attempts, words.most_tries)
        messages, names = self._context.messages(visible, self._knowledge), words.prompt_names(visible)
        plan = self._scripted.plan(visible, attempts)
        steps = tuple(
            ParsedStep(str(step.action.replace_names(names)), step.action) for step in plan.steps if step.action
        )
        plan = replace(plan, steps=steps)
        reply, judgements = f"step 1: {plan.text}", self._scripted.judgements(visible, attempts)
        if words.judging:
            reply = f"{words.prefix}{format_judgements(judgements, visible, names)}\n{reply}"
        return replace(plan, messages=messages, reply=Reply(reply.removeprefix(words.prefix)), demonstrated=judgements)
