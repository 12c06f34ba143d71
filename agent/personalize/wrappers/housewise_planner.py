"""HousewisePlanner: LLMPlanner with notes in its prompt, replies under a grammar, and a parser of plans in any form."""

from __future__ import annotations

from dataclasses import replace

from housewise.agent.personalize.grammar import plan_grammar
from housewise.agent.personalize.judgement_text import split_judgements
from housewise.agent.personalize.llm_planner import LLMPlanner
from housewise.agent.personalize.plan_normalizer import ANY
from housewise.agent.personalize.plan_parser import PLAIN, parse_plan
from housewise.agent.personalize.planner import ModelCall, Plan
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt_notes import NotesContext
from housewise.language.base import ChatModel, Message, Reply, Sampling
from housewise.worlds.house.scene_graph import SceneGraph


class HousewisePlanner(LLMPlanner):
    """Asks a language model for each plan, with the additions that a configuration chooses.

    Args:
        model, context, sampling: See LLMPlanner.
        grounded: Whether a grammar restricts replies to objects, receptacles and rooms of the scene graph.
        knowledge: What is recalled about the person, for prompts with notes. None plans without a memory.
        normalize_steps: Whether forms of plans and phrasings of steps other than those of the prompt are understood.
    """

    context: NotesContext

    def __init__(
        self,
        model: ChatModel,
        context: NotesContext,
        sampling: Sampling | None = None,
        grounded: bool = False,
        knowledge: PreferenceKnowledge | None = None,
        normalize_steps: bool = True,
    ) -> None:
        super().__init__(model, context, sampling)
        self.grounded = grounded
        self.knowledge = knowledge or PreferenceKnowledge()
        self.form = ANY if normalize_steps else PLAIN

    def describe(self, graph: SceneGraph) -> tuple[Message, ...]:
        """Return the prompt, with what is recalled about the person."""
        return self.context.messages(graph, self.knowledge)

    def reply_grammar(self, graph: SceneGraph) -> str | None:
        """Return the grammar of replies, with judgements if the prompt asks for any; None if not ``grounded``."""
        return self.grammar(graph, self.context.template.judging) if self.grounded else None

    def grammar(self, graph: SceneGraph, with_judgements: bool = False) -> str:
        """Return the grammar of all plans for a scene graph."""
        names = self.context.template.prompt_names(graph)
        return plan_grammar(graph, self.context.max_steps, names, with_judgements)

    def parse(self, graph: SceneGraph, messages: tuple[Message, ...], reply: Reply) -> Plan:
        """Return the plan in a reply. Its steps stand behind the judgements, if the prompt asks for any."""
        steps = split_judgements(reply.text)[1] if self.context.template.judging else reply.text
        parsed = parse_plan(steps, graph.vocabulary, self.context.max_steps, self.form)
        return Plan(parsed.steps, parsed.complete, messages, reply)

    def plan_without_model(self, graph: SceneGraph, text: str, calls: tuple[ModelCall, ...]) -> Plan:
        """Return a plan as if the model had written it, so that it can be replayed from its record.

        Self-training learns nothing from such a plan, because it has no prompt.

        Args:
            graph: Everything that the robot knows.
            text: The plan.
            calls: Model calls that led to it.
        """
        reply = Reply(text.removeprefix(self.context.template.prefix))
        return replace(self.parse(graph, (), reply), prior_calls=calls, written_by_model=False)
