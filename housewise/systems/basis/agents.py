"""Assistants as agents. One decision is one turn of the assistant."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from housewise.agent.base import Decision, History
from housewise.agent.basis.descriptions import DescriptionOf, usual_look
from housewise.agent.basis.knowledge import KnowledgeSwitches
from housewise.agent.basis.views import (
    Assistant,
    AssistantTurn,
    AssistantView,
    Perception,
    build_assistant_view,
    build_oracle_view,
)
from housewise.core.record import Usage
from housewise.rollout.episode_loop import Progress
from housewise.systems.basis.earlier_turns import EarlierTurns
from housewise.systems.basis.record import GuidanceEvent
from housewise.systems.basis.world import SessionObservation

BuildView = Callable[[SessionObservation], AssistantView]
"""Builds what the assistant may know."""


class GuidingAgent:
    """An assistant; see Agent.

    Args:
        open_assistant: Creates the assistant of an attempt, by its number from 1.
        build_view: Builds what it may know.
        progress: Called before every turn.
        max_actions: Maximum number of the person's actions per attempt, for the progress.
        earlier: Turns of interrupted attempts at the session.
    """

    def __init__(
        self,
        open_assistant: Callable[[int], Assistant[Any]],
        build_view: BuildView,
        progress: Progress,
        max_actions: int,
        earlier: EarlierTurns,
    ) -> None:
        self._max_actions, self._earlier = max_actions, earlier
        self._open_assistant, self._build_view, self._progress = open_assistant, build_view, progress
        self._attempt = 0

    def decide(self, observation: SessionObservation, history: History[SessionObservation]) -> Decision[AssistantTurn]:
        """See Agent.decide. The assistant is silent until the person has done something."""
        if observation.attempt != self._attempt:
            self._attempt, self._assistant = observation.attempt, self._open_assistant(observation.attempt)
        if not observation.turns:
            return Decision([AssistantTurn("")])
        turns = observation.turns
        self._progress(len(turns), self._max_actions, str(turns[-1].action))
        event = self._earlier.guidance(observation.attempt, len(turns)) or self._ask(observation)
        turn = AssistantTurn(event.thought, event.speech or None, event.is_parsed)
        return Decision([turn], (event,), usage=event.usage or Usage())

    def _ask(self, observation: SessionObservation) -> GuidanceEvent:
        """Let the assistant speak."""
        began = time.perf_counter()
        turn = self._assistant.turn(self._build_view(observation))
        usage = turn.usage.plus(Usage(model_seconds=time.perf_counter() - began)) if turn.usage != Usage() else None
        return GuidanceEvent(
            thought=turn.thought,
            speech=turn.speech or "",
            is_parsed=turn.is_parsed,
            usage=usage,
            oracle_speech=observation.oracle_speech,
        )


def oracle_view(observation: SessionObservation) -> AssistantView:
    """Return what the scripted oracle knows."""
    return build_oracle_view(observation.state, observation.surroundings, observation.turns)


def model_view(
    perception: Perception, knowledge: KnowledgeSwitches, is_brief: bool = False, describe: DescriptionOf = usual_look
) -> BuildView:
    """Return a function that builds what a chat model may know; see build_assistant_view."""
    return lambda seen: build_assistant_view(
        seen.state, seen.surroundings, seen.turns, perception, knowledge, is_brief, describe=describe
    )
