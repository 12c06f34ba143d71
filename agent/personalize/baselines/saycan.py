"""SayCan: executes one feasible action at a time, the one that the model finds likely (Ahn et al. 2022)."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence

from housewise.agent.personalize.chat_session import ChatSession
from housewise.agent.personalize.grammar import COMPLETE, choice_grammar
from housewise.agent.personalize.plan_parser import ParsedStep
from housewise.agent.personalize.plan_simulator import PlanSimulator
from housewise.agent.personalize.planner import Attempt, ModelCall, Plan
from housewise.agent.personalize.prompt import HouseTemplate
from housewise.agent.personalize.step_phrasing import canonical_steps
from housewise.agent.personalize.step_splitter import split_into_steps
from housewise.agent.template_text import template_text
from housewise.language.base import ChatModel, ChatRequest, Message, Reply, Sampling, Scorer
from housewise.worlds.house.high_level_actions import HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph

ActionOptions = dict[str, HighLevelAction | None]
"""Feasible actions by their text. None ends the task."""

_MAX_ATTEMPTS = 30
_LONGEST_REPLY = 20_000
_NUMBER = re.compile(r"(?<!\d)\d{1,6}(?!\d)")


class SayCanTemplate(HouseTemplate):
    """Texts of the prompt; see ``housekeep_configs/prompts/saycan.yaml``."""

    default_name = "saycan"
    system: str = template_text()
    user: str = template_text("holding", "rooms", "done")
    done: str = template_text("steps")
    nothing_done: str = template_text()
    failed: str = template_text("step", "reason")
    prefix: str = template_text("step")
    choose: str = template_text("actions")
    choice: str = template_text("number", "action")


class SayCanPlanner:
    """Plans one action, drawn from the feasible ones by how likely the model is to write each next.

    Feasibility follows from the scene graph and earlier steps (affordances of 0 or 1 in Ahn et al. 2022, section 3,
    which takes the most likely action: temperature 0). Ending the task becomes an option when every room has been seen
    or tried, since short texts are likely and "mission complete" is the shortest. A model that cannot score texts, such
    as a chat server, chooses from a numbered list instead.

    Args:
        model: Model that scores or chooses.
        template: Texts of the prompt.
        sampling: Temperature and seed of the draw.
        grounded: Whether a grammar restricts a choosing model to the numbers of the list.
    """

    name = "saycan"

    def __init__(
        self, model: ChatModel, template: SayCanTemplate, sampling: Sampling | None = None, grounded: bool = False
    ) -> None:
        self._model, self._words, self._grounded = model, template, grounded
        self._sampling = sampling or Sampling()
        self._session = ChatSession(model, self._sampling)
        self._random = random.Random(self._sampling.seed)

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        simulator = PlanSimulator(graph, attempts)
        options: ActionOptions = {str(action): action for action in simulator.feasible_actions()}
        if simulator.may_complete or not options:
            options[COMPLETE] = None
        messages = self._messages(graph, attempts)
        if isinstance(self._model, Scorer):
            return self._score(self._model, messages, options, len(attempts) + 1)
        return self._choose(messages, options)

    def _score(self, model: Scorer, messages: tuple[Message, ...], options: ActionOptions, step: int) -> Plan:
        request = ChatRequest(messages, self._sampling, self._words.prefix.format(step=step))
        # Score the end of the line too: without it, "pick up mug 1" is always at least as likely as "pick up mug 12".
        scores = model.score(request, [f" {option}\n" for option in options])
        option = list(options)[sample_index(scores, self._sampling.temperature, self._random.random())]
        scored = dict(zip(options, scores, strict=True))
        return Plan(_steps(option, options), option == COMPLETE, messages, Reply(option), scores=scored)

    def _choose(self, messages: tuple[Message, ...], options: ActionOptions) -> Plan:
        words = self._words
        listed = [words.choice.format(number=number, action=option) for number, option in enumerate(options, start=1)]
        question = f"{messages[-1].content}\n{words.choose.format(actions=chr(10).join(listed))}".strip()
        prompt = (*messages[:-1], Message("user", question))
        numbers = (str(number) for number in range(1, len(options) + 1))
        reply = self._session.ask(prompt, grammar=choice_grammar(numbers, lead="") if self._grounded else None)
        option = select_option(reply.text, list(options))
        if option is None:
            return Plan((ParsedStep(reply.text.strip(), None, "none of the listed actions"),), False, prompt, reply)
        # The plan's reply is the action, so that it can be replayed. The model's own text is an earlier call.
        steps, complete = _steps(option, options), option == COMPLETE
        return Plan(steps, complete, prompt, Reply(option), prior_calls=(ModelCall(prompt, reply),))

    def _messages(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> tuple[Message, ...]:
        words = self._words
        first = max(0, len(attempts) - _MAX_ATTEMPTS)
        steps = [
            self._describe_attempt(number, attempt) for number, attempt in enumerate(attempts[first:], start=first + 1)
        ]
        user = words.user.format(
            holding=words.describe_hand(graph),
            rooms="\n".join(words.describe_room(graph, room) for room in graph.rooms),
            done=words.done.format(steps="\n".join(steps)) if steps else words.nothing_done.format(),
        )
        return Message("system", words.system.strip()), Message("user", user.strip())

    def _describe_attempt(self, number: int, attempt: Attempt) -> str:
        step = f"{self._words.prefix.format(step=number)} {attempt.action}"
        return step if attempt.succeeded else self._words.failed.format(step=step, reason=attempt.reason)


def sample_index(scores: Sequence[float], temperature: float, point: float) -> int:
    """Draw an index by log-probabilities.

    Args:
        scores: Natural-log probabilities, at least one.
        temperature: Sampling temperature. 0 takes the most likely index.
        point: A number in [0, 1) that decides the draw.
    """
    best = max(range(len(scores)), key=scores.__getitem__)
    if temperature <= 0:
        return best
    weights = [math.exp((score - scores[best]) / temperature) for score in scores]
    left = point * math.fsum(weights)
    for index, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return index
    return best


def select_option(reply: str, options: Sequence[str]) -> str | None:
    """Return the option that a reply names: by a number at its beginning, by its text, or by any number."""
    text = reply[:_LONGEST_REPLY].strip().lower()
    numbers = [int(found) for found in _NUMBER.findall(text)]
    forms = (form.replace("_", " ") for line in split_into_steps(text) for form in canonical_steps(line))
    named = [option for option in options if option in text] or [form for form in forms if form in options]
    first = numbers[0] if numbers and re.match(r"\W*\d", text) else 0
    if 1 <= first <= len(options):
        return options[first - 1]
    if named:
        return max(named, key=len)
    return next((options[number - 1] for number in numbers if 1 <= number <= len(options)), None)


def _steps(option: str, options: ActionOptions) -> tuple[ParsedStep, ...]:
    action = options[option]
    return (ParsedStep(option, action),) if action is not None else ()
