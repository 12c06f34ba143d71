"""The symbolic room as a world with a person: actions change the room, and the person answers questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from housewise.agent.stars.episode_measures import episode_measures
from housewise.agent.stars.lessons import NO, YES, GoalQuestion, GoalRequest, ObjectLesson, StatedGoal
from housewise.agent.stars.oversight import OversightUser
from housewise.agent.stars.stars_loop import GoalLearner
from housewise.agent.stars.tasks import StarsTask
from housewise.systems.stars.earlier_replies import EarlierReplies
from housewise.systems.stars.house_body import HouseBody
from housewise.systems.stars.record import GoalAnswerEvent, ManipulationEvent, StarsFinalState
from housewise.worlds.base import Step
from housewise.worlds.kitchen.manipulation import OPEN_TAG, ManipulationAction, apply_action, find_obstacle
from housewise.worlds.kitchen.state import State

_LONGEST_ANSWER = 2000


@dataclass(frozen=True)
class RoomObservation:
    """What the robot observes: the state of the room, and what the person said last."""

    state: State
    said: str | StatedGoal | None = None


class RoomWorld:
    """The room of a task.

    Description:
        The symbolic room of STARS (experiment design), with a person who confirms or states goals.

    Mission space:
        Bring every object to where the person wants it, such as "tidy kitchen".

    Action space:
        ``ManipulationAction``, ``GoalQuestion`` (is this the goal?) or ``GoalRequest`` (what is the goal?).

    Observation space:
        ``RoomObservation``: the full state of the room, and the person's last answer.

    Rewards:
        None. ``scores`` has the paper's measures of an episode.

    Termination:
        The agent declares the task complete.

    Args:
        task: The task.
        learner: Goal learner, which counts usage and dialogue.
        user: Answers questions.
        earlier_replies: Replies of interrupted attempts.
        body: Carries out actions in a 3D house. None for a purely symbolic room.
    """

    def __init__(
        self,
        task: StarsTask,
        learner: GoalLearner,
        user: OversightUser,
        earlier_replies: EarlierReplies,
        body: HouseBody | None = None,
    ) -> None:
        self._task, self._learner, self._user, self._earlier_replies, self._body = (
            task,
            learner,
            user,
            earlier_replies,
            body,
        )
        self.lessons: list[ObjectLesson] = []
        self._state = task.start()

    def reset(self) -> RoomObservation:
        """See World.reset."""
        return RoomObservation(self._state)

    def step(self, action: ManipulationAction | GoalQuestion | GoalRequest) -> Step[RoomObservation]:
        """See World.step."""
        if isinstance(action, ManipulationAction):
            return self._act(action)
        thing, question = action.about.thing.name, str(action)
        answer = self._earlier_replies.answer(action.about, question)
        if answer is None:
            goal = self._ask(action)
            text, *said = (each[:_LONGEST_ANSWER] for each in (goal.sentence, *goal.said))
            answer = GoalAnswerEvent(thing=thing, question=question, text=text, said=said)
        if isinstance(action, GoalRequest) or answer.text not in (YES, NO):
            heard = RoomObservation(self._state, StatedGoal(answer.text, tuple(answer.said)))
        else:
            heard = RoomObservation(self._state, answer.text)
        return Step(heard, (answer,), cost=0)

    def scores(self) -> Mapping[str, float]:
        """See World.scores."""
        learner = self._learner
        return episode_measures(self.lessons, learner.dialogue, learner.usage, self._task.completion(self._state))

    def final(self) -> Mapping[str, Any]:
        """See World.final."""
        things = [found.thing.name for found in self._task.objects]
        places = {name: self._state.holder(name) or "" for name in things}
        is_open = [fixture.name for fixture in self._task.fixtures if self._state.has_tag(fixture.name, OPEN_TAG)]
        return StarsFinalState(places=places, open=is_open).model_dump()

    def _act(self, act: ManipulationAction) -> Step[RoomObservation]:
        reason, steps = find_obstacle(self._state, act) or "", 1
        if self._body and not reason:
            reason, steps = self._body.carry_out(act)
        if not reason:
            self._state = apply_action(self._state, act)
        event = ManipulationEvent(act=str(act), done=not reason, reason=reason, steps=steps)
        return Step(RoomObservation(self._state), (event,), steps, blocked=bool(reason))

    def _ask(self, what: GoalQuestion | GoalRequest) -> StatedGoal:
        if isinstance(what, GoalRequest):
            return self._user.states(what.about)
        reply = self._user.confirms(what)
        return reply if isinstance(reply, StatedGoal) else StatedGoal(YES if reply else NO)
