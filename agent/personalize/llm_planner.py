"""LLMPlanner: asks a language model for the next steps, given the state in words (LLM-Personalize, section 3.2.2).

This is the planner of the paper. What Housewise adds to it stands in ``wrappers``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from housewise.agent.personalize.chat_session import ChatSession
from housewise.agent.personalize.grammar import plan_grammar
from housewise.agent.personalize.judgement_text import split_judgements
from housewise.agent.personalize.plan_parser import parse_plan
from housewise.agent.personalize.planner import Attempt, ModelCall, Plan
from housewise.agent.personalize.preference_knowledge import NoKnowledge, PreferenceKnowledge
from housewise.agent.personalize.prompt import ContextGenerator
from housewise.language.base import ChatModel, Message, Reply, Sampling
from housewise.worlds.house.scene_graph import SceneGraph


class LLMPlanner:
    """Asks a language model for each plan, with the state in words (LLM-Personalize, section 3.2.2).

    Args:
        model: Model that plans.
        context: Describes the state in words.
        sampling: Sampling configuration. A seed is increased by one per request.
        name: Name in records.
        grounded: Whether a grammar restricts replies to objects, receptacles and rooms of the scene graph.
        knowledge: What is recalled about the person, for prompts with notes. None plans without a memory.
        normalize_steps: Whether forms of plans and phrasings of steps other than those of the prompt are understood.
    """

    def __init__(
        self,
        model: ChatModel,
        context: ContextGenerator,
        sampling: Sampling | None = None,
        name: str = "llm",
        grounded: bool = False,
        knowledge: PreferenceKnowledge | None = None,
        normalize_steps: bool = True,
    ) -> None:
        self.model = model
        self.context = context
        self.sampling = sampling or Sampling()
        self.name = name
        self.grounded = grounded
        self.knowledge = knowledge or NoKnowledge()
        self.normalize_steps = normalize_steps
        self.session = ChatSession(model, self.sampling)

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        words = self.context.template
        messages = self.context.messages(graph, self.knowledge)
        grammar = self.grammar(graph, words.judging) if self.grounded else None
        replies = self.session.ask_all(messages, words.prefix, grammar)
        first, *others = [self.parse(graph, messages, reply) for reply in replies]
        return replace(first, alternatives=tuple(others))

    def grammar(self, graph: SceneGraph, with_judgements: bool = False) -> str:
        """Return the grammar of all plans for a scene graph."""
        names = self.context.template.prompt_names(graph)
        return plan_grammar(graph, self.context.most_steps, names, with_judgements)

    def parse(self, graph: SceneGraph, messages: tuple[Message, ...], reply: Reply) -> Plan:
        """Return the plan in a reply. Its steps stand behind the judgements, if the prompt asks for any."""
        steps = split_judgements(reply.text)[1] if self.context.template.judging else reply.text
        parsed = parse_plan(steps, graph.vocabulary, self.context.most_steps, self.normalize_steps)
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
        return replace(self.parse(graph, (), reply), prior_calls=calls)
