"""The symbolic room as a world, with the person in it: acts change the room, questions are answered by the person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from housewise.agent.stars.learner import Episode, Learner, Lesson
from housewise.agent.stars.measures import measures
from housewise.agent.stars.oversight import NO, YES, Question, User, Wish
from housewise.agent.stars.tasks import Task
from housewise.systems.stars.house import Body
from housewise.systems.stars.record import ActionEvent, AnswerEvent, StarsFinal
from housewise.systems.stars.told import Told
from housewise.worlds.base import Step
from housewise.worlds.kitchen.manipulation import OPEN_TAG, ManipulationAction, apply_action, find_obstacle
from housewise.worlds.kitchen.state import State

_LONGEST_ANSWER = 2000


@dataclass(frozen=True)
class Sight:
    """What the robot perceives: all of the room, and what the person has said last."""

    state: State
    said: str | None = None


class Room:
    """The room of a task.

    Args:
        task: how it is found.
        learner: counts what is asked and said.
        user: answers.
        told: what the person has said before.
        body: does the acts in a house in 3D; None where the room is symbols alone.
    """

    def __init__(self, task: Task, learner: Learner, user: User, told: Told, body: Body | None = None) -> None:
        self._task, self._learner, self._user, self._told, self._body = task, learner, user, told, body
        self.lessons: list[Lesson] = []
        self._state = task.start()

    def reset(self) -> Sight:
        """See World.reset."""
        return Sight(self._state)

    def step(self, action: ManipulationAction | Question | Wish) -> Step[Sight]:
        """See World.step."""
        if isinstance(action, ManipulationAction):
            return self._act(action)
        thing, question = action.about.thing.name, str(action)
        said = self._told.answer(action.about, question)
        said = (self._ask(action) if said is None else said)[:_LONGEST_ANSWER]
        return Step(Sight(self._state, said), (AnswerEvent(thing=thing, question=question, text=said),), cost=0)

    def scores(self) -> Mapping[str, float]:
        """See World.scores."""
        learner = self._learner
        done = self._task.completion(self._state)
        return measures(Episode(tuple(self.lessons), learner.dialogue, learner.usage, done))

    def final(self) -> Mapping[str, Any]:
        """See World.final."""
        things = [found.thing.name for found in self._task.objects]
        places = {name: self._state.holder(name) or "" for name in things}
        is_open = [fixture.name for fixture in self._task.fixtures if self._state.has_tag(fixture.name, OPEN_TAG)]
        return StarsFinal(places=places, open=is_open).model_dump()

    def _act(self, act: ManipulationAction) -> Step[Sight]:
        reason, steps = find_obstacle(self._state, act) or "", 1
        if self._body and not reason:
            reason, steps = self._body.carry_out(act)
        if not reason:
            self._state = apply_action(self._state, act)
        event = ActionEvent(act=str(act), done=not reason, reason=reason, steps=steps)
        return Step(Sight(self._state), (event,), steps, blocked=bool(reason))

    def _ask(self, what: Question | Wish) -> str:
        if isinstance(what, Wish):
            return self._user.states(what.about)
        return YES if self._user.confirms(what) else NO
