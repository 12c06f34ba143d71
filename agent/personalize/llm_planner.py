"""LLMPlanner: asks a language model for the next steps, given the state in words (LLM-Personalize, section 3.2.2).

This is the planner of the paper. An episode calls it again when its plan is executed, with the scene graph of then
(``housewise/systems/personalize/agent.py``). What Housewise adds to it stands in ``wrappers``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from housewise.agent.personalize.chat_session import ChatSession
from housewise.agent.personalize.plan_parser import parse_plan
from housewise.agent.personalize.planner import Attempt, Plan
from housewise.agent.personalize.prompt import ContextGenerator
from housewise.language.base import ChatModel, Message, Reply, Sampling
from housewise.worlds.house.scene_graph import SceneGraph


class LLMPlanner:
    """Asks a language model for each plan.

    Args:
        model: Model that plans.
        context: Describes the state in words (section 3.2.1).
        sampling: Sampling configuration. A seed is increased by one per request.
    """

    name = "llm"

    def __init__(self, model: ChatModel, context: ContextGenerator, sampling: Sampling | None = None) -> None:
        self.model = model
        self.context = context
        self.sampling = sampling or Sampling()
        self.session = ChatSession(model, self.sampling)

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """Return the plan of the model's reply. Further replies, if it gives several, are alternatives.

        Args:
            graph: Everything that the robot knows.
            attempts: What it has tried in the episode. The paper's prompt does not tell of it.
        """
        messages = self.describe(graph)
        replies = self.session.ask_all(messages, self.context.template.prefix, self.reply_grammar(graph))
        first, *others = [self.parse(graph, messages, reply) for reply in replies]
        return replace(first, alternatives=tuple(others))

    def describe(self, graph: SceneGraph) -> tuple[Message, ...]:
        """Return the prompt: the state in words (section 3.2.1)."""
        return self.context.messages(graph)

    def reply_grammar(self, graph: SceneGraph) -> str | None:
        """Return the grammar of replies, or None if the model may write anything, as in the paper."""
        return None

    def parse(self, graph: SceneGraph, messages: tuple[Message, ...], reply: Reply) -> Plan:
        """Return the plan in a reply: its first ten actions, or as many as the context says."""
        parsed = parse_plan(reply.text, graph.vocabulary, self.context.max_steps)
        return Plan(parsed.steps, parsed.complete, messages, reply)
