"""SayPlan: search the map, plan, have the plan checked, plan again (Rana et al. 2023)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from housewise.agent.personalize.chat_session import ChatSession
from housewise.agent.personalize.grammar import choice_grammar, plan_grammar
from housewise.agent.personalize.plan_parser import parse_plan
from housewise.agent.personalize.plan_simulator import find_problem
from housewise.agent.personalize.planner import MOST_STEPS, Attempt, ModelCall, Plan
from housewise.agent.personalize.prompt import HOUSE_FIELDS, HouseTemplate, Placeholders
from housewise.language.base import ChatModel, Message, Reply, Sampling
from housewise.language.markup import strip_markup
from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.vocabulary import Vocabulary

MOST_SEARCHES = 10
MOST_REPLANS = 5

_COMMAND = re.compile(
    r"\b(?P<verb>expand|contract)(?:_?room)?\b\W*(?:\w{1,20}\W{0,2}[:=]\W*)?(?P<room>[^\n]*)|\b(?P<plan>plan)\b",
    re.IGNORECASE,
)
_LONGEST_REPLY = 20_000
_MOST_COMMAND_TOKENS = 40


class SayPlanTemplate(HouseTemplate):
    """The words of the planner; see ``housekeep_configs/prompts/sayplan.yaml``."""

    placeholders: ClassVar[Placeholders] = {
        **HOUSE_FIELDS,
        "task": set(),
        "search": set(),
        "search_user": {"holding", "rooms", "commands"},
        "plan": {"most_steps"},
        "plan_user": {"holding", "rooms"},
        "feedback": {"problem"},
        "closed_room": {"room"},
    }
    default_name = "sayplan"
    task: str
    search: str
    search_user: str
    search_prefix: str
    no_commands: str
    plan: str
    plan_user: str
    plan_prefix: str
    feedback: str
    closed_room: str


@dataclass(frozen=True)
class Command:
    """What a model wants of the map.

    Attributes:
        verb: expand, contract or plan; empty for words that are no command.
        room: which room, where the command needs one and it is known.
        problem: what is wrong with it, in words.
    """

    verb: str
    room: str | None = None
    problem: str = ""


def parse_command(reply: str, vocabulary: Vocabulary) -> Command:
    """Read the first command in any text."""
    match = _COMMAND.search(strip_markup(reply[:_LONGEST_REPLY]))
    if match is None:
        return Command("", problem="not a command")
    if match["plan"]:
        return Command("plan")
    said = re.split("[,.;:(]", match["room"])[0]
    verb, found = match["verb"].lower(), vocabulary.resolve(said, vocabulary.rooms)
    return Command(verb, found.name, found.problem)


class SayPlanPlanner:
    """Asks a language model, which sees only the rooms of the map that it opens, and checks what it plans.

    Every plan starts from a map with all rooms closed, and takes up to ``searches`` commands to open and close them.
    A plan that cannot be done as far as the map tells goes back to the model with the reason, up to ``replans`` times;
    the last one is carried out whatever it is worth (Rana et al. 2023, section 3; rooms are what can be opened).

    Args:
        model: answers.
        template: the words.
        sampling: how replies are drawn; a seed is moved on from question to question.
        most_steps: how many steps a plan may have.
        grounded: hold replies to commands and plans about the house as the robot knows it.
        searches: how many commands a plan may take.
        replans: how often a plan may be mended.
    """

    name = "sayplan"

    def __init__(
        self,
        model: ChatModel,
        template: SayPlanTemplate,
        sampling: Sampling | None = None,
        most_steps: int = MOST_STEPS,
        grounded: bool = False,
        searches: int = MOST_SEARCHES,
        replans: int = MOST_REPLANS,
    ) -> None:
        self._asker = ChatSession(model, sampling or Sampling())
        self._words = template
        self._most_steps, self._grounded = most_steps, grounded
        self._searches, self._replans = searches, replans

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        opened: set[str] = set()
        earlier = list(self._search(graph, opened))
        problem = ""
        for _ in range(self._replans + 1):
            messages = self._plan_messages(graph, opened)
            if problem:
                messages += self._feedback(earlier[-1].reply, problem)
            grammar = plan_grammar(graph, self._most_steps) if self._grounded else None
            reply = self._asker.ask(messages, self._words.plan_prefix, grammar)
            parsed = parse_plan(reply.text, graph.vocabulary, most=self._most_steps)
            earlier.append(ModelCall(messages, reply))
            problem = find_problem(parsed, graph, attempts)
            if not problem:
                break
        return Plan(parsed.steps, parsed.complete, messages, reply, tuple(earlier[:-1]))

    def _search(self, graph: SceneGraph, opened: set[str]) -> Iterator[ModelCall]:
        """Have the model open and close rooms until it wants to plan."""
        done: list[str] = []
        for _ in range(self._searches):
            messages = self._search_messages(graph, opened, done)
            grammar = choice_grammar(_commands(graph.rooms, opened)) if self._grounded else None
            # A model that is free to think aloud first needs more than the words of the command.
            most = _MOST_COMMAND_TOKENS if self._grounded else None
            reply = self._asker.ask(messages, self._words.search_prefix, grammar, most)
            yield ModelCall(messages, reply)
            command = parse_command(reply.text, graph.vocabulary)
            if command.verb == "plan":
                return
            if command.room and command.verb == "expand":
                opened.add(command.room)
            elif command.room:
                opened.discard(command.room)
            done.append(command.problem or f"{command.verb} {command.room}")

    def _search_messages(self, graph: SceneGraph, opened: set[str], done: Sequence[str]) -> tuple[Message, ...]:
        words = self._words
        user = words.search_user.format(
            holding=words.describe_hand(graph),
            rooms=self._rooms(graph, opened),
            commands=", ".join(done) or words.no_commands,
        )
        return Message("system", f"{words.task}{words.search}".strip()), Message("user", user.strip())

    def _plan_messages(self, graph: SceneGraph, opened: set[str]) -> tuple[Message, ...]:
        words = self._words
        system = f"{words.task}{words.plan.format(most_steps=self._most_steps)}"
        user = words.plan_user.format(holding=words.describe_hand(graph), rooms=self._rooms(graph, opened))
        return Message("system", system.strip()), Message("user", user.strip())

    def _feedback(self, reply: Reply, problem: str) -> tuple[Message, ...]:
        words = self._words
        said = Message("assistant", f"{words.plan_prefix}{reply.text}")
        return said, Message("user", words.feedback.format(problem=problem).strip())

    def _rooms(self, graph: SceneGraph, opened: set[str]) -> str:
        words = self._words
        return "\n".join(
            words.describe_room(graph, room) if room in opened else words.closed_room.format(room=room)
            for room in graph.rooms
        )


def _commands(rooms: Sequence[str], opened: set[str]) -> Iterator[str]:
    yield "plan"
    for room in rooms:
        yield f"contract {room}" if room in opened else f"expand {room}"
