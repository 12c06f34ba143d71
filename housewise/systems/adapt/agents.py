"""The cooks as agents. One decision is one action."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from housewise.agent.adapt.action_grammar import NameableThings
from housewise.agent.adapt.planner_prompt import Briefing, CookingTurn, Interaction, QuestionPolicy
from housewise.agent.adapt.policy import AllowedAction, LLMPolicy, PolicyReply
from housewise.agent.adapt.scripted_cook.asking_cook import AskingCook
from housewise.agent.adapt.scripted_cook.exploring_cook import ExploringCook
from housewise.agent.adapt.scripted_cook.oracle_cook import DONE, OracleCook
from housewise.agent.base import Decision, History
from housewise.core.record import Event
from housewise.language.history_fitting import ask_with_history
from housewise.rollout.episode_loop import Progress
from housewise.systems.adapt.record import ThoughtEvent
from housewise.systems.adapt.world import BreakfastObservation
from housewise.worlds.kitchen.action_parser import ImpossibleAction, parse_action
from housewise.worlds.kitchen.kitchen_data import KitchenVerbs


class ScriptedCookAgent:
    """A scripted cook; see Agent.

    Args:
        cook: Scripted cook.
        progress: Called before every action.
    """

    def __init__(self, cook: OracleCook | AskingCook | ExploringCook, progress: Progress) -> None:
        self._cook, self._progress = cook, progress

    def decide(self, observation: BreakfastObservation, history: History[BreakfastObservation]) -> Decision[str]:
        """See Agent.decide."""
        cook = self._cook
        if observation.question is not None and isinstance(cook, AskingCook):
            cook.take_answer(observation.question, observation.text)
        if isinstance(cook, ExploringCook):
            action = cook.act(observation.cooking, observation.named)
        else:
            action = cook.act(observation.cooking)
        self._progress(history.decisions, history.decisions + 1, action)
        return Decision([action], done=action == DONE)


class LLMCookAgent:
    """A chat model that cooks; see Agent.

    Args:
        policy: Predicts the next action.
        briefing: What stays the same throughout the episode.
        verbs: Verbs of the kitchen.
        asking: When the model may ask.
        max_questions: Maximum number of questions.
        progress: Called before every action.
    """

    def __init__(
        self,
        policy: LLMPolicy,
        briefing: Briefing,
        verbs: KitchenVerbs,
        asking: QuestionPolicy,
        max_questions: int,
        progress: Progress,
    ) -> None:
        self._policy, self._briefing, self._verbs, self._progress = policy, briefing, verbs, progress
        self._asking, self._left = asking, max_questions
        self._turns: list[CookingTurn] = []
        self._next = CookingTurn("", "")

    def decide(self, observation: BreakfastObservation, history: History[BreakfastObservation]) -> Decision[str]:
        """See Agent.decide."""
        self._take_in(observation)
        named = NameableThings.from_state(observation.cooking.trace.state, observation.named)
        may, began = self._may(observation), time.perf_counter()

        def ask(history: Sequence[str | CookingTurn]) -> PolicyReply:
            known = tuple(each for each in history if isinstance(each, str))
            turns = tuple(each for each in history if not isinstance(each, str))
            briefing = replace(self._briefing, known=known)
            return self._policy.act(Interaction(briefing, turns, observation.made), named, may)

        # Answers of other days are left out first.
        shown: list[str | CookingTurn] = [*self._briefing.known, *self._turns]
        said = ask_with_history(shown, ask)
        usage = said.usage.model_copy(update={"model_seconds": time.perf_counter() - began})
        self._next = CookingTurn(said.action, "", made=observation.made, thought=said.thought)
        self._progress(history.decisions, history.decisions + 1, said.action)
        events: tuple[Event, ...] = (ThoughtEvent(text=said.thought),) if said.thought else ()
        return Decision([said.action], events, self._declares_done(said.action), usage)

    def _take_in(self, observation: BreakfastObservation) -> None:
        """Store the result of the last action."""
        if observation.last is not None:
            self._left -= observation.question is not None and not observation.recalled
            self._turns.append(observation.turn(self._next.action, self._next.made, self._next.thought))

    def _may(self, observation: BreakfastObservation) -> AllowedAction:
        if self._asking == "never" or self._left <= 0:
            return "act"
        *before, last = [turn.action for turn in self._turns] or [""]
        asked = last.startswith("Ask ")
        if self._asking == "always":
            # An action has to follow, so that a refused question is not repeated forever.
            return "act" if asked else "ask"
        # Repeated questions are not allowed, because a model could alternate between two questions forever.
        return "act" if asked and last in before else "either"

    def _declares_done(self, said: str) -> bool:
        try:
            return parse_action(said, self._verbs).name == "done"
        except ImpossibleAction:
            return False


def format_known_answers(told: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Format answers of other days for the prompt."""
    return tuple(f"- {question} {answer}" for question, answer in told)
