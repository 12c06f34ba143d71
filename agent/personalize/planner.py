"""Planners: from what the robot knows to the next few high-level actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from housewise.agent.personalize.grammar import plan_grammar
from housewise.agent.personalize.judgement import apart
from housewise.agent.personalize.parser import ParsedStep, parse_plan, spoken
from housewise.agent.personalize.prompt import ContextGenerator
from housewise.language.base import ChatModel, ChatRequest, Message, Reply, Sampling
from housewise.worlds.house.actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph

MOST_STEPS = 10


@dataclass(frozen=True)
class Exchange:
    """What a model was asked and what it answered."""

    messages: tuple[Message, ...]
    reply: Reply


@dataclass(frozen=True)
class Plan:
    """What to do next.

    Attributes:
        steps: at most ten, each resolved or with the reason why it could not be.
        complete: whether the planner takes the task as done after them.
        messages: what the model was asked; empty for planners without one.
        reply: what the model answered, None for planners without one.
        earlier: what the model was asked before that, on the way to this plan.
        scores: how likely the model found each action that it could choose, where it was asked that.
        others: what the model answered to the same words as well, where it was asked for several replies.
    """

    steps: tuple[ParsedStep, ...]
    complete: bool = False
    messages: tuple[Message, ...] = ()
    reply: Reply | None = None
    earlier: tuple[Exchange, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    others: tuple[Plan, ...] = ()

    @property
    def replies(self) -> tuple[Reply, ...]:
        """All that the model wrote for this plan."""
        return (*(exchange.reply for exchange in self.earlier), *([self.reply] if self.reply else []))

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


def failures(attempts: Sequence[Attempt]) -> dict[str, int]:
    """How often picking up an object, or placing it on a receptacle (``"mug 1 on shelf 2"``), has failed."""
    found: dict[str, int] = {}
    for attempt in attempts:
        action = attempt.action
        if attempt.succeeded or action.kind not in (ActionKind.PICK_UP, ActionKind.PLACE):
            continue
        key = action.target if action.destination is None else f"{action.target} on {action.destination}"
        found[key] = found.get(key, 0) + 1
    return found


def promising(graph: SceneGraph, attempts: Sequence[Attempt], most_tries: int | None) -> SceneGraph:
    """What the robot knows, without what it should not try again.

    Args:
        graph: all that it knows.
        attempts: everything tried in this episode.
        most_tries: after so many attempts to pick it up an object is left out, whether it could not be picked up or did
            not go where it was taken; after so many failures to place there what is in the hand, so is a receptacle.
            None leaves nothing out.
    """
    if most_tries is None:
        return graph
    picked = Counter(tried.action.target for tried in attempts if tried.action.kind == ActionKind.PICK_UP)
    hopeless = {key for key, count in (failures(attempts) | picked).items() if count >= most_tries}
    things = {thing for thing in graph.objects if thing in hopeless and thing != graph.holding}
    places = {place for place in graph.receptacles if f"{graph.holding} on {place}" in hopeless}
    return graph.without(things | places) if things or places else graph


def unentered(graph: SceneGraph, attempts: Sequence[Attempt]) -> list[str]:
    """Rooms that the robot has not tried to go to."""
    tried = _gone_to(attempts)
    return [room for room in graph.rooms if room not in tried]


def unvisited(graph: SceneGraph, attempts: Sequence[Attempt]) -> list[str]:
    """Receptacles that the robot has not tried to go to, neither for their own sake nor for an object on them."""
    tried = _gone_to(attempts)
    tried |= {place for name in tried if (place := graph.place_of(name)) is not None}
    return [place for place in graph.receptacles if place not in tried]


def _gone_to(attempts: Sequence[Attempt]) -> set[str]:
    return {attempt.action.target for attempt in attempts if attempt.action.kind == ActionKind.GO_TO}


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


class Asker:
    """Asks a language model one thing after another.

    Args:
        model: answers.
        sampling: how replies are drawn; a seed is moved on from question to question.
    """

    def __init__(self, model: ChatModel, sampling: Sampling) -> None:
        self._model, self._sampling = model, sampling
        self._asked = 0

    def ask(
        self,
        messages: tuple[Message, ...],
        prefix: str = "",
        grammar: str | None = None,
        most_tokens: int | None = None,
    ) -> Reply:
        """One reply; see ask_all."""
        return self.ask_all(messages, prefix, grammar, most_tokens, n=1)[0]

    def ask_all(
        self,
        messages: tuple[Message, ...],
        prefix: str = "",
        grammar: str | None = None,
        most_tokens: int | None = None,
        n: int | None = None,
    ) -> list[Reply]:
        """Independent replies to the same words.

        Of a reply that is cut its last line is left out, since half a name may be another thing's.

        Args:
            messages: the conversation.
            prefix: see ChatRequest.
            grammar: see ChatRequest.
            most_tokens: a bound below that of the sampling.
            n: how many; as many as the sampling says by default.
        """
        sampling = self._sampling if n is None else replace(self._sampling, n=n)
        if sampling.seed is not None:
            sampling = replace(sampling, seed=sampling.seed + self._asked)
        if most_tokens is not None:
            sampling = replace(sampling, max_tokens=min(most_tokens, sampling.max_tokens))
        self._asked += 1
        replies = self._model.complete([ChatRequest(messages, sampling, prefix, grammar)])[0]
        return [_whole(reply, grammar is not None) for reply in replies]


def _whole(reply: Reply, grounded: bool) -> Reply:
    """A reply without the last line where that was cut; of what is free to say anything, the only line is kept."""
    if reply.finish_reason != "length" or not (grounded or "\n" in reply.text):
        return reply
    return replace(reply, text=reply.text.rpartition("\n")[0])


class LLMPlanner:
    """Asks a language model, once per plan, with the state in words (LLM-Personalize, section 3.1).

    Args:
        model: answers.
        context: puts the state into words.
        sampling: how replies are drawn; a seed is moved on from plan to plan.
        name: what records call it.
        grounded: hold replies to what can be said about the house as the robot knows it.
        second_look: when the model takes the task as done, go where the robot has not been, and ask again.
    """

    def __init__(
        self,
        model: ChatModel,
        context: ContextGenerator,
        sampling: Sampling | None = None,
        name: str = "llm",
        grounded: bool = False,
        second_look: bool = False,
    ) -> None:
        self.model = model
        self.context = context
        self.sampling = sampling or Sampling()
        self.name = name
        self.grounded = grounded
        self.second_look = second_look
        self._asker = Asker(model, self.sampling)

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        words = self.context.template
        told = promising(graph, attempts, words.most_tries)
        messages = self.context.messages(told)
        grammar = self._grammar(told) if self.grounded else None
        plans = [self._read(told, messages, reply) for reply in self._asker.ask_all(messages, words.prefix, grammar)]
        plan = replace(plans[0], others=tuple(plans[1:]))
        if self.second_look and plan.complete and graph.holding is None:
            return self._look_again(graph, attempts, plan)
        return plan

    def _look_again(self, graph: SceneGraph, attempts: Sequence[Attempt], plan: Plan) -> Plan:
        """Instead of an end, a visit to what has been passed by, if anything has; not for the model to learn."""
        missed = [*unentered(graph, attempts), *unvisited(graph, attempts)]
        if not missed:
            return plan
        if plan.steps:
            return replace(plan, complete=False)
        visits = [f"step {number}: go to {name}" for number, name in enumerate(missed, start=1)]
        text = "\n".join(visits[: self.context.most_steps]).removeprefix(self.context.template.prefix)
        asked = tuple(Exchange(plan.messages, reply) for each in (plan, *plan.others) for reply in each.replies)
        return replace(self._read(graph, (), Reply(text)), earlier=asked)

    def _read(self, graph: SceneGraph, messages: tuple[Message, ...], reply: Reply) -> Plan:
        said = spoken(reply.text)
        steps = apart(said)[1] if self.context.template.judging else said
        parsed = parse_plan(steps, graph.vocabulary, most=self.context.most_steps)
        return Plan(parsed.steps, parsed.complete, messages, reply)

    def _grammar(self, graph: SceneGraph) -> str:
        words = self.context.template
        return plan_grammar(graph, self.context.most_steps, words.called(graph), words.judging)
