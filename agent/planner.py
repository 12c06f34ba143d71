"""Planners: from what the robot knows to the next few high-level actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from agent.actions import HighLevelAction
from agent.grammar import plan_grammar
from agent.models.base import ChatModel, ChatRequest, Message, Reply, Sampling
from agent.parser import ParsedStep, parse_plan
from agent.prompt import ContextGenerator
from agent.scene_graph import SceneGraph

MOST_STEPS = 10


@dataclass(frozen=True)
class Plan:
    """What to do next.

    Attributes:
        steps: at most ten, each resolved or with the reason why it could not be.
        complete: whether the planner takes the task as done after them.
        messages: what the model was asked; empty for planners without one.
        reply: what the model answered, None for planners without one.
    """

    steps: tuple[ParsedStep, ...]
    complete: bool = False
    messages: tuple[Message, ...] = ()
    reply: Reply | None = None

    @property
    def text(self) -> str:
        """The model's words; for planners without a model, the plan as a model would have written it."""
        if self.reply is not None:
            return self.reply.text
        lines = [step.raw for step in self.steps] + (["mission complete"] if self.complete else [])
        return "\n".join(lines[:1] + [f"step {number}: {line}" for number, line in enumerate(lines[1:], start=2)])


@dataclass(frozen=True)
class Attempt:
    """A step that was carried out, as the planner learns of it.

    Attributes:
        action: what was tried.
        succeeded: whether it worked.
        reason: in words, why not.
    """

    action: HighLevelAction
    succeeded: bool
    reason: str = ""


class Planner(Protocol):
    """Decides what the robot does.

    Attributes:
        name: what records call it.
    """

    name: str

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """The next few actions.

        Args:
            graph: all that the robot knows.
            attempts: everything tried in this episode, oldest first.
        """
        ...


class LLMPlanner:
    """Asks a language model, once per plan, with the state in words (LLM-Personalize, section 3.1).

    Args:
        model: answers.
        context: puts the state into words.
        sampling: how replies are drawn; a seed is moved on from plan to plan.
        name: what records call it.
        grounded: hold replies to what can be said about the house as the robot knows it.
    """

    def __init__(
        self,
        model: ChatModel,
        context: ContextGenerator,
        sampling: Sampling | None = None,
        name: str = "llm",
        grounded: bool = False,
    ) -> None:
        self.model = model
        self.context = context
        self.sampling = sampling or Sampling()
        self.name = name
        self.grounded = grounded
        self._asked = 0

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        messages = self.context.messages(graph)
        sampling = self.sampling
        if sampling.seed is not None:
            sampling = replace(sampling, seed=sampling.seed + self._asked)
        self._asked += 1
        grammar = plan_grammar(graph, self.context.most_steps) if self.grounded else None
        request = ChatRequest(messages, sampling, self.context.template.prefix, grammar)
        reply = self.model.complete([request])[0][0]
        if self.grounded:
            reply = whole_lines(reply)
        parsed = parse_plan(reply.text, graph.vocabulary, most=self.context.most_steps)
        return Plan(parsed.steps, parsed.complete, messages, reply)


def whole_lines(reply: Reply) -> Reply:
    """A reply without the line in which it was cut: half a name may be another thing's."""
    if reply.finish_reason != "length":
        return reply
    return replace(reply, text=reply.text.rpartition("\n")[0])
