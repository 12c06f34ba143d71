"""The loop of one episode: the agent decides, the world executes the actions, and every event is recorded at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from housewise.agent.base import Agent, Decide, Decision, History
from housewise.core.record import EventWriter, Header, Result, Usage
from housewise.rollout.world_results import check_final, check_scores
from housewise.worlds.base import World

O = TypeVar("O")  # noqa: E741 - observations, as the field writes them
A = TypeVar("A")

COMPLETE, OUT_OF_PLANS = "complete", "out of plans"
"""How an agent ends an episode: it declares the task done, or has used up its decisions. See also Step.end_reason."""

Progress = Callable[[int, int, str], None]
"""Called as `progress(done, total, message)` while an episode is played."""


@dataclass(frozen=True)
class EpisodeLimits:
    """When an episode ends early, and when a plan is abandoned before its last action.

    Attributes:
        plans: Maximum number of decisions, or None if only the world ends the episode.
        idle_plans: Maximum number of consecutive decisions that take no step of the world, or None for no maximum.
        replan_when_blocked: Whether the agent decides again after a failed action that the rest of its plan depends on.
    """

    plans: int | None = 150
    idle_plans: int | None = 10
    replan_when_blocked: bool = True


class EpisodeLoop(Generic[O, A]):
    """Plays one episode.

    Args:
        world: World in which the episode takes place.
        agent: Agent that decides, or a function in place of its method ``decide``.
        writer: Receives the events of the record.
        limits: Limits of the episode, or None for the defaults.
        progress: Called before every decision.
    """

    def __init__(
        self,
        world: World[O, A],
        agent: Agent[O, A] | Decide[O, A],
        writer: EventWriter,
        limits: EpisodeLimits | None = None,
        progress: Progress = lambda done, of, words: None,
    ) -> None:
        self._world, self._writer = world, writer
        decide: Any = getattr(agent, "decide", agent)
        self._decide_next: Decide[O, A] = decide
        self._limits, self._progress = limits or EpisodeLimits(), progress
        self._history: History[O] = History()
        self._usage = Usage()
        self._idle, self._over, self._end_reason = 0, False, ""

    def play(self, header: Header) -> Result:
        """Play the episode to its end and return its result.

        Args:
            header: First line of the record.

        Returns:
            The last line of the record.
        """
        began = time.perf_counter()
        self._writer.write(header)
        self._observation = self._world.reset()
        ended = OUT_OF_PLANS
        while self._can_continue():
            decision = self._decide()
            followed = self._follow(decision)
            if self._over or (followed and decision.done):
                ended = self._end_reason if self._over else COMPLETE
                break
        result = self._result(ended, time.perf_counter() - began, header.system)
        self._writer.write(result)
        return result

    def _can_continue(self) -> bool:
        plans, idle = self._limits.plans, self._limits.idle_plans
        return (plans is None or self._history.decisions < plans) and (idle is None or self._idle < idle)

    def _decide(self) -> Decision[A]:
        done = self._history.decisions
        self._progress(done, self._limits.plans or done + 1, f"plan {done}")
        decision = self._decide_next(self._observation, self._history)
        for event in decision.events:
            self._writer.write(event)
        self._history.decisions += 1
        self._usage = self._usage.plus(decision.usage)
        return decision

    def _follow(self, decision: Decision[A]) -> bool:
        """Execute the actions of a decision. Return False if they were abandoned before the last one."""
        before, followed = self._history.cost, True
        for action in decision.actions:
            step = self._world.step(action)
            for event in step.events:
                self._writer.write(event)
            self._observation = step.observation
            self._history.steps.append(step)
            self._history.cost += step.cost
            self._usage = self._usage.plus(step.usage)
            self._over, self._end_reason = step.over, step.end_reason
            if step.over or (step.blocked and self._limits.replan_when_blocked):
                followed = False
                break
        self._idle = self._idle + 1 if self._history.cost == before else 0
        return followed

    def _result(self, ended: str, seconds: float, system: str) -> Result:
        counted = {"plans": self._history.decisions, "steps": self._history.cost, "complete": ended == COMPLETE}
        return Result(
            end_reason=ended,
            scores={**counted, **check_scores(self._world.scores(), system)},
            usage=self._usage.model_copy(update={"seconds": seconds}),
            final=check_final(self._world.final(), system),
        )
