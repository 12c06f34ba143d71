"""SayCan: executes one feasible action at a time, the one that the model chooses (Ahn et al. 2022)."""

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
from housewise.core.errors import UserError
from housewise.core.template_text import template_text
from housewise.language.base import ChatModel, ChatRequest, Message, Reply, Sampling, Scorer
from housewise.worlds.house.high_level_actions import HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph

ActionOptions = dict[str, HighLevelAction | None]
"""Feasible actions by their text. None ends the task."""

_LONGEST_REPLY = 20_000
_UNLISTED = "none of the listed actions"
_BETWEEN_NAMES = "and|as|at|because|before|but|by|for|from|if|in|into|near|next|on|or|since|so|step|then|to|where|with"
# Names of receptacles begin with that of their room: "go to hall 1 table 9" does not name "go to hall 1".
_END_OF_NAME = rf"(?!\w)(?! (?!(?:{_BETWEEN_NAMES})\b)[a-z]+(?: [a-z]+){{0,2}} \d)"


class SayCanTemplate(HouseTemplate):
    """Texts of the prompt; see ``housekeep_configs/prompts/saycan.yaml``."""

    default_name = "saycan"
    system: str = template_text()
    user: str = template_text("holding", "rooms", "done", "actions")
    done: str = template_text("steps")
    nothing_done: str = template_text()


class SayCanPlanner:
    """Plans one action, which the model chooses among the feasible ones (LLM-Personalize, appendix A.3).

    The prompt lists the feasible actions and those that were executed. Feasibility follows from the scene graph and
    earlier steps (affordances of 0 or 1 in Ahn et al. 2022, section 3). Ending the task is always possible.

    Args:
        model: Model that chooses.
        template: Texts of the prompt.
        sampling: Sampling configuration of the reply, or temperature and seed of the draw.
        grounded: Whether a grammar restricts replies to the listed actions.
        score: Whether the action is drawn by how likely the model is to write it, as in Ahn et al. 2022, who take the
            most likely one (temperature 0). The model has to be a ``Scorer``.
    """

    name = "saycan"

    def __init__(
        self,
        model: ChatModel,
        template: SayCanTemplate,
        sampling: Sampling | None = None,
        grounded: bool = False,
        score: bool = False,
    ) -> None:
        self._model, self._words, self._grounded = model, template, grounded
        self._sampling = sampling or Sampling()
        self._session = ChatSession(model, self._sampling)
        self._random = random.Random(self._sampling.seed)
        self._scorer = model if score and isinstance(model, Scorer) else None
        if score and self._scorer is None:
            raise UserError(
                "score_actions=true needs a model that scores texts, such as a local one; use score_actions=false"
            )

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        simulator = PlanSimulator(graph, attempts, must_look=False)
        options: ActionOptions = {str(action): action for action in simulator.feasible_actions()} | {COMPLETE: None}
        messages = self._messages(graph, attempts, options)
        if self._scorer is not None:
            return self._score(self._scorer, messages, options)
        return self._choose(messages, options)

    def _score(self, scorer: Scorer, messages: tuple[Message, ...], options: ActionOptions) -> Plan:
        # Score the end of the line too: without it, "pick up mug 1" is always at least as likely as "pick up mug 12".
        scores = scorer.score(ChatRequest(messages, self._sampling), [f"{option}\n" for option in options])
        option = list(options)[sample_index(scores, self._sampling.temperature, self._random)]
        scored = dict(zip(options, scores, strict=True))
        steps, reply = _steps(option, options), Reply(option)
        return Plan(steps, option == COMPLETE, messages, reply, scores=scored, written_by_model=False)

    def _choose(self, messages: tuple[Message, ...], options: ActionOptions) -> Plan:
        reply = self._session.ask(messages, grammar=choice_grammar(options, lead="") if self._grounded else None)
        option = select_option(reply.text, list(options))
        if option is None:
            steps: tuple[ParsedStep, ...] = (ParsedStep(reply.text.strip(), None, _UNLISTED),)
        else:
            steps = _steps(option, options)
        # The plan's reply is what was carried out, so that it can be replayed: the model's own text, an earlier call,
        # may name an action that was not listed.
        carried_out = Reply(_UNLISTED if option is None else option, reply.finish_reason)
        calls = (ModelCall(messages, reply),)
        return Plan(steps, option == COMPLETE, messages, carried_out, calls, written_by_model=False)

    def _messages(self, graph: SceneGraph, attempts: Sequence[Attempt], options: ActionOptions) -> tuple[Message, ...]:
        words, steps = self._words, [str(attempt.action) for attempt in attempts if attempt.succeeded]
        user = words.user.format(
            holding=words.describe_hand(graph),
            rooms=words.describe_rooms(graph),
            done=words.done.format(steps=", ".join(steps)) if steps else words.nothing_done.format(),
            actions=", ".join(options),
        )
        return Message("system", words.system.strip()), Message("user", user.strip())


def sample_index(scores: Sequence[float], temperature: float, rng: random.Random) -> int:
    """Draw an index by log-probabilities.

    Args:
        scores: Natural-log probabilities, at least one.
        temperature: Sampling temperature. 0 takes the most likely index.
        rng: Random numbers of the draw.
    """
    best = max(scores)
    if temperature <= 0:
        return scores.index(best)
    weights = [math.exp((score - best) / temperature) for score in scores]
    return rng.choices(range(len(scores)), weights)[0]


def select_option(reply: str, options: Sequence[str]) -> str | None:
    """Return the option that a reply names, by its text or in other words for it."""
    text = reply[:_LONGEST_REPLY].strip().lower()
    forms = (form.replace("_", " ") for line in split_into_steps(text) for form in canonical_steps(line))
    # Whole words: "pick up mug 12" does not name "pick up mug 1".
    whole = [option for option in options if re.search(rf"(?<!\w){re.escape(option)}{_END_OF_NAME}", text)]
    named = whole or [form for form in forms if form in options]
    return max(named, key=len, default=None)


def _steps(option: str, options: ActionOptions) -> tuple[ParsedStep, ...]:
    action = options[option]
    return (ParsedStep(option, action),) if action is not None else ()
