"""SayPlan: searches the scene graph, plans, simulates the plan, and plans again (Rana et al. 2023)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from housewise.agent.personalize.chat_session import ChatSession
from housewise.agent.personalize.grammar import choice_grammar, plan_grammar
from housewise.agent.personalize.plan_normalizer import ANY
from housewise.agent.personalize.plan_parser import PLAIN, parse_plan
from housewise.agent.personalize.plan_simulator import find_problem
from housewise.agent.personalize.planner import MAX_STEPS, Attempt, ModelCall, Plan
from housewise.agent.personalize.prompt import HouseTemplate
from housewise.core.template_text import template_text
from housewise.language.base import ChatModel, Message, Reply, Sampling
from housewise.language.markup import strip_markup
from housewise.worlds.house.name_resolution import Vocabulary
from housewise.worlds.house.scene_graph import SceneGraph

MAX_SEARCHES = 10
"""Search commands per plan (Rana et al. 2023)."""
MAX_REPLANS = 5
"""Corrections per plan (Rana et al. 2023)."""

_COMMAND = re.compile(
    r"\b(?P<verb>expand|contract)(?:_?room)?\b\W*(?:\w{1,20}\W{0,2}[:=]\W*)?(?P<room>[^\n]*)"
    r"|\b(?P<plan>plan)\b(?P<lead>\W{0,3}:| is\b| to\b)?",
    re.IGNORECASE,
)
_LONGEST_REPLY = 20_000
_MAX_COMMAND_TOKENS = 40


class SayPlanTemplate(HouseTemplate):
    """Texts of the prompts; see ``housekeep_configs/prompts/sayplan.yaml``."""

    default_name = "sayplan"
    task: str = template_text()
    search: str = template_text()
    search_user: str = template_text("holding", "rooms", "commands")
    search_prefix: str
    no_commands: str
    plan: str = template_text("most_steps")
    plan_user: str = template_text("holding", "rooms")
    plan_prefix: str
    feedback: str = template_text("problem")
    closed_room: str = template_text("room")


@dataclass(frozen=True)
class SearchCommand:
    """A command of the semantic search.

    Attributes:
        verb: ``expand``, ``contract`` or ``plan``. Empty if the text is not a command.
        room: The room of the command, if it is known.
        problem: What is wrong with the command, in words.
    """

    verb: str
    room: str | None = None
    problem: str = ""


def parse_command(reply: str, vocabulary: Vocabulary) -> SearchCommand:
    """Parse the first command in a text."""
    commands = list(_COMMAND.finditer(strip_markup(reply[:_LONGEST_REPLY])))
    if not commands:
        return SearchCommand("", problem="not a command")
    # In "my plan: expand the kitchen", the plan is only the introduction of a command.
    match = next((each for each in commands if not each["lead"]), commands[0])
    if match["plan"]:
        return SearchCommand("plan")
    room = re.split("[,.;:(]", match["room"])[0]
    verb, found = match["verb"].lower(), vocabulary.resolve(room, vocabulary.rooms)
    return SearchCommand(verb, found.name, found.problem)


class SayPlanPlanner:
    """Asks a language model that sees only the rooms it opens, and simulates its plans.

    Each plan starts from a graph with all rooms closed, whose receptacles and objects have states and affordances
    (LLM-Personalize, appendix A.3). The model may use up to ``searches`` commands to open and close
    rooms. An infeasible plan goes back to the model with the reason, up to ``replans`` times; the last plan is executed
    in any case (Rana et al. 2023, section 3; here only rooms can be opened).

    Args:
        model: Model that searches and plans.
        template: Texts of the prompts.
        sampling: Sampling configuration. A seed is increased by one per request.
        max_steps: Maximum number of steps of a plan.
        grounded: Whether grammars restrict replies to commands and plans about the known house.
        searches: Maximum number of search commands per plan.
        replans: Maximum number of corrections per plan.
        normalize: Whether plans in other forms than the prompt's are understood.
    """

    name = "sayplan"

    def __init__(
        self,
        model: ChatModel,
        template: SayPlanTemplate,
        sampling: Sampling | None = None,
        max_steps: int = MAX_STEPS,
        grounded: bool = False,
        searches: int = MAX_SEARCHES,
        replans: int = MAX_REPLANS,
        normalize: bool = True,
    ) -> None:
        self._session = ChatSession(model, sampling or Sampling())
        self._words = template
        self._max_steps, self._grounded = max_steps, grounded
        self._searches, self._replans = searches, replans
        self._form = ANY if normalize else PLAIN

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        open_rooms: set[str] = set()
        earlier = list(self._search(graph, open_rooms))
        problem = ""
        for _ in range(self._replans + 1):
            messages = self._plan_messages(graph, open_rooms)
            if problem:
                messages += self._feedback(earlier[-1].reply, problem)
            grammar = plan_grammar(graph, self._max_steps) if self._grounded else None
            reply = self._session.ask(messages, self._words.plan_prefix, grammar)
            parsed = parse_plan(reply.text, graph.vocabulary, self._max_steps, self._form)
            earlier.append(ModelCall(messages, reply))
            problem = find_problem(parsed, graph, attempts)
            if not problem:
                break
        return Plan(parsed.steps, parsed.complete, messages, reply, tuple(earlier[:-1]))

    def _search(self, graph: SceneGraph, open_rooms: set[str]) -> Iterator[ModelCall]:
        """Let the model open and close rooms until it plans."""
        done: list[str] = []
        for _ in range(self._searches):
            messages = self._search_messages(graph, open_rooms, done)
            grammar = choice_grammar(_commands(graph.rooms, open_rooms)) if self._grounded else None
            # Without a grammar, the model may reason before the command, which takes more tokens.
            max_tokens = _MAX_COMMAND_TOKENS if self._grounded else None
            reply = self._session.ask(messages, self._words.search_prefix, grammar, max_tokens)
            yield ModelCall(messages, reply)
            command = parse_command(reply.text, graph.vocabulary)
            if command.verb == "plan":
                return
            if command.room and command.verb == "expand":
                open_rooms.add(command.room)
            elif command.room:
                open_rooms.discard(command.room)
            done.append(command.problem or f"{command.verb} {command.room}")

    def _search_messages(self, graph: SceneGraph, open_rooms: set[str], done: Sequence[str]) -> tuple[Message, ...]:
        words = self._words
        user = words.search_user.format(
            holding=words.describe_hand(graph),
            rooms=self._rooms(graph, open_rooms),
            commands=", ".join(done) or words.no_commands,
        )
        return Message("system", f"{words.task}{words.search}".strip()), Message("user", user.strip())

    def _plan_messages(self, graph: SceneGraph, open_rooms: set[str]) -> tuple[Message, ...]:
        words = self._words
        system = f"{words.task}{words.plan.format(most_steps=self._max_steps)}"
        user = words.plan_user.format(holding=words.describe_hand(graph), rooms=self._rooms(graph, open_rooms))
        return Message("system", system.strip()), Message("user", user.strip())

    def _feedback(self, reply: Reply, problem: str) -> tuple[Message, ...]:
        words = self._words
        answer = Message("assistant", f"{words.plan_prefix}{reply.text}")
        return answer, Message("user", words.feedback.format(problem=problem).strip())

    def _rooms(self, graph: SceneGraph, open_rooms: set[str]) -> str:
        words = self._words
        return "\n".join(
            words.describe_room(graph, room) if room in open_rooms else words.closed_room.format(room=room)
            for room in graph.rooms
        )


def _commands(rooms: Sequence[str], open_rooms: set[str]) -> Iterator[str]:
    yield "plan"
    for room in rooms:
        yield f"contract {room}" if room in open_rooms else f"expand {room}"
