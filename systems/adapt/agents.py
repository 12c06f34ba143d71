"""The cooks as agents: one decision is one action."""

from __future__ import annotations

import time
from collections.abc import Sequence

from housewise.agent.adapt.asking import AskingCook
from housewise.agent.adapt.cook import DONE, ScriptedCook
from housewise.agent.adapt.grammar import Nameable
from housewise.agent.adapt.planner import Briefing, ModelCook, Turn
from housewise.agent.base import Decision, Past
from housewise.core.record import Usage
from housewise.rollout.episode import Progress
from housewise.systems.adapt.world import Seen
from housewise.worlds.kitchen.actions import Impossible, parse
from housewise.worlds.kitchen.data import Verbs


class Scripted:
    """A scripted cook; see Agent.

    Args:
        name: what records call it.
        cook: knows what the person wants, or what it was told.
        progress: told of every action.
    """

    def __init__(self, name: str, cook: ScriptedCook | AskingCook, progress: Progress) -> None:
        self.name = name
        self._cook, self._progress = cook, progress

    def decide(self, observation: Seen, past: Past[Seen]) -> Decision[str]:
        """See Agent.decide."""
        if observation.question is not None and isinstance(self._cook, AskingCook):
            self._cook.hear(observation.question, observation.text)
        action = self._cook.act(observation.cooking)
        self._progress(past.decisions, past.decisions + 1, action)
        return Decision([action], done=action == DONE)


class Model:
    """A chat model that cooks; see Agent.

    Args:
        cook: asks it.
        briefing: what stays the same.
        verbs: tell whether it has declared itself done.
        progress: told of every action.
    """

    name = "llm"

    def __init__(self, cook: ModelCook, briefing: Briefing, verbs: Verbs, progress: Progress) -> None:
        self._cook, self._briefing, self._verbs, self._progress = cook, briefing, verbs, progress
        self._turns: list[Turn] = []
        self._said = ""

    def decide(self, observation: Seen, past: Past[Seen]) -> Decision[str]:
        """See Agent.decide."""
        if observation.last is not None:
            answered = observation.question is not None
            self._turns.append(Turn(self._said, observation.text, answered, observation.last.failed))
        named = Nameable.of(observation.cooking.trace.state, observation.named)
        began = time.perf_counter()
        self._said, reply = self._cook.act(self._briefing, self._turns, observation.made, named)
        usage = Usage(
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            model_seconds=time.perf_counter() - began,
        )
        self._progress(past.decisions, past.decisions + 1, self._said)
        return Decision([self._said], done=self._declares_done(), usage=usage)

    def _declares_done(self) -> bool:
        try:
            return parse(self._said, self._verbs).name == "done"
        except Impossible:
            return False


def told_lines(told: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Answers of other days, as a model reads them."""
    return tuple(f"- {question} {answer}" for question, answer in told)
