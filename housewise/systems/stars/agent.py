"""STARS as an agent: it takes one object after the other, with one decision per step of learning its goal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal

from housewise.agent.base import Decision, History
from housewise.agent.stars.goal_memory import goal_statement
from housewise.agent.stars.goal_notes import goal_to_notes
from housewise.agent.stars.lessons import (
    GoalQuestion,
    GoalRequest,
    GoalSelection,
    GoalsRetrieved,
    LearningEvent,
    LearningSteps,
    ObjectLesson,
)
from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.prompts import StarsPrompts
from housewise.agent.stars.stars_loop import GoalLearner
from housewise.agent.stars.tasks import StarsTask, TaskObject
from housewise.core import record
from housewise.rollout.episode_loop import Progress
from housewise.rollout.note_events import NoteEvent
from housewise.systems.stars.record import (
    GoalEvent,
    GoalQuestionEvent,
    ModelUsageLine,
    ObjectEvent,
    RecalledEvent,
    RepairEvent,
    RetrievedEvent,
    SelectionEvent,
    StarsPlanEvent,
    mismatch_lines,
    response_lines,
)
from housewise.systems.stars.world import RoomObservation
from housewise.worlds.kitchen.manipulation import ManipulationAction

StarsAction = ManipulationAction | GoalQuestion | GoalRequest


class StarsAgent:
    """Turns the steps of a goal learner into decisions; see Agent.

    Args:
        task: The task.
        learner: Goal learner.
        prompts: Templates of the reasons why goals are refused.
        person: Person of the memory that goals go into.
        lessons: Receives the lesson of each object.
        progress: Called before every step.
    """

    def __init__(
        self,
        task: StarsTask,
        learner: GoalLearner,
        prompts: StarsPrompts,
        person: str,
        lessons: Callable[[ObjectLesson], None],
        progress: Progress = lambda done, of, words: None,
    ) -> None:
        self._task, self._learner, self._prompts, self._person = task, learner, prompts, person
        self._lessons, self._progress = lessons, progress
        self._next = 0
        self._course: LearningSteps | None = None

    def decide(self, observation: RoomObservation, history: History[RoomObservation]) -> Decision[StarsAction]:
        """See Agent.decide."""
        objects = self._task.objects
        if self._course is None and self._next == len(objects):
            return Decision([], done=True)
        about = objects[self._next]
        self._progress(self._next, len(objects), about.description)
        before, began = self._learner.usage.copy(), time.perf_counter()
        events: list[record.Event] = []
        said = observation.said
        if self._course is None:
            self._course, said = self._learner.learn_object(about, observation.state), None
            events.append(_object_event(about))
        try:
            happening = self._course.send(said)
        except StopIteration as end:
            return self._finish_object(about, end.value, events)
        asked, seconds = self._learner.usage.since(before), time.perf_counter() - began
        events.append(self._learning_event(about, happening, ModelUsageLine.from_usage(asked), seconds))
        actions = [happening] if isinstance(happening, GoalQuestion | GoalRequest) else []
        return Decision(actions, tuple(events), usage=_record_usage(asked, seconds))

    def _finish_object(
        self, about: TaskObject, lesson: ObjectLesson, events: Sequence[record.Event]
    ) -> Decision[StarsAction]:
        """Return the decision that carries out the plan for an object."""
        self._course, self._next = None, self._next + 1
        self._lessons(lesson)
        thing = about.thing.name
        found: list[record.Event] = [*events]
        if lesson.recalled is not None:
            statement = lesson.recalled.note.statement
            found.append(RecalledEvent(thing=thing, statement=statement, by_policy=lesson.recalled.by_policy))
        found.append(_goal_event(lesson))
        found.append(
            StarsPlanEvent(thing=thing, acts=None if lesson.path is None else [str(act) for act in lesson.path])
        )
        if lesson.learned is not None and lesson.used is not None:
            notes = goal_to_notes(lesson.learned, self._task, about, lesson.used, self._person)
            found += [NoteEvent(note=note) for note in notes]
        return Decision(lesson.path or (), tuple(found), done=self._next == len(self._task.objects))

    def _learning_event(
        self, about: TaskObject, happening: LearningEvent, asked: ModelUsageLine, seconds: float
    ) -> record.Event:
        thing = about.thing.name
        if isinstance(happening, GoalQuestion):
            return GoalQuestionEvent(thing=thing, text=str(happening), goal=happening.goal)
        if isinstance(happening, GoalRequest):
            return GoalQuestionEvent(thing=thing, text=str(happening))
        if isinstance(happening, GoalSelection):
            return SelectionEvent(
                thing=thing,
                options=list(happening.options),
                answer=happening.answer,
                chosen=happening.candidate.text,
                fallback=happening.fallback,
                usage=asked,
                seconds=seconds,
            )
        return self._goals_event(thing, happening, asked, seconds)

    def _goals_event(self, thing: str, brought: GoalsRetrieved, asked: ModelUsageLine, seconds: float) -> record.Event:
        responses, wrong = response_lines(brought.candidates), brought.mends
        if wrong is None:
            return RetrievedEvent(thing=thing, responses=responses, usage=asked, seconds=seconds)
        return RepairEvent(
            thing=thing,
            refused_goal=wrong.text,
            reason=self._prompts.reason(wrong.analysis.mismatches[0]),
            depth=wrong.repairs + 1,
            responses=responses,
            usage=asked,
            seconds=seconds,
        )


def _object_event(about: TaskObject) -> ObjectEvent:
    return ObjectEvent(
        thing=about.thing.name, noun=about.thing.noun, description=about.description, subtask=about.subtask
    )


def _goal_event(lesson: ObjectLesson) -> GoalEvent:
    thing, used = lesson.about.thing.name, lesson.used
    if lesson.stated is not None:
        return GoalEvent(thing=thing, goal=lesson.stated, source="person", mismatches=mismatch_lines(used))
    if used is None:
        return GoalEvent(thing=thing, source="nobody")
    goal = lesson.choices[-1].candidate.text if lesson.choices else goal_statement(used, lesson.about)
    by: Literal["memory", "model"] = "memory" if lesson.recalled else "model"
    return GoalEvent(thing=thing, goal=goal, source=by, mismatches=mismatch_lines(used))


def _record_usage(asked: ModelUsage, seconds: float) -> record.Usage:
    return record.Usage(
        prompt_tokens=asked.prompt_tokens.total(),
        completion_tokens=asked.completion_tokens.total(),
        model_seconds=seconds if asked.calls else 0.0,
        finish_reasons=dict(asked.finish_reasons),
    )
