"""STARS as an agent: one object after the other, one decision for whatever happens on the way to its goal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal

from housewise.agent.base import Decision, History
from housewise.agent.stars.learner import Brought, Course, Happening, Learner, Lesson
from housewise.agent.stars.learning import statement_of
from housewise.agent.stars.notes import notes_of_goal
from housewise.agent.stars.oversight import Question, Wish
from housewise.agent.stars.prompts import Prompts
from housewise.agent.stars.selection import Choice
from housewise.agent.stars.tasks import Task, TaskObject
from housewise.agent.stars.usage import Usage
from housewise.core import record
from housewise.rollout.episode_loop import Progress
from housewise.rollout.note_events import NoteEvent
from housewise.systems.stars.record import (
    AskedLine,
    GoalEvent,
    ObjectEvent,
    PlanEvent,
    QuestionEvent,
    RecalledEvent,
    RepairEvent,
    RetrievedEvent,
    SelectionEvent,
    mismatch_lines,
    response_lines,
)
from housewise.systems.stars.room import Sight
from housewise.worlds.kitchen.manipulation import ManipulationAction

StarsAction = ManipulationAction | Question | Wish


class StarsAgent:
    """Turns what a learner does with each object into decisions.

    Args:
        task: what there is.
        learner: finds out where things belong.
        prompts: have the reasons why goals are refused, in words.
        person: whose memory goals go into.
        lessons: where each object's lesson goes when it is over.
        progress: told of every object.
    """

    name = "stars"

    def __init__(
        self,
        task: Task,
        learner: Learner,
        prompts: Prompts,
        person: str,
        lessons: Callable[[Lesson], None],
        progress: Progress = lambda done, of, words: None,
    ) -> None:
        self._task, self._learner, self._prompts, self._person = task, learner, prompts, person
        self._lessons, self._progress = lessons, progress
        self._next = 0
        self._course: Course | None = None

    def decide(self, observation: Sight, past: History[Sight]) -> Decision[StarsAction]:
        """See Agent.decide."""
        objects = self._task.objects
        if self._course is None and self._next == len(objects):
            return Decision([], done=True)
        about = objects[self._next]
        self._progress(self._next, len(objects), about.seen)
        before, began = self._learner.usage.copy(), time.perf_counter()
        events: list[record.Event] = []
        said = observation.said
        if self._course is None:
            self._course, said = self._learner.course(about, observation.state), None
            events.append(_object_event(about))
        try:
            happening = self._course.send(said)
        except StopIteration as end:
            return self._over(about, end.value, events)
        asked, seconds = self._learner.usage.since(before), time.perf_counter() - began
        events.append(self._event(about, happening, AskedLine.of(asked), seconds))
        actions = [happening] if isinstance(happening, Question | Wish) else []
        return Decision(actions, tuple(events), usage=_usage(asked, seconds))

    def _over(self, about: TaskObject, lesson: Lesson, events: Sequence[record.Event]) -> Decision[StarsAction]:
        """What has been found out is done."""
        self._course, self._next = None, self._next + 1
        self._lessons(lesson)
        thing = about.thing.name
        found: list[record.Event] = [*events]
        if lesson.recalled is not None:
            statement = lesson.recalled.note.statement
            found.append(RecalledEvent(thing=thing, statement=statement, by_policy=lesson.recalled.by_policy))
        found.append(_goal_event(lesson))
        found.append(PlanEvent(thing=thing, acts=None if lesson.path is None else [str(act) for act in lesson.path]))
        if lesson.learned is not None and lesson.used is not None:
            notes = notes_of_goal(lesson.learned, self._task, about, lesson.used, self._person)
            found += [NoteEvent(note=note) for note in notes]
        return Decision(lesson.path or (), tuple(found), done=self._next == len(self._task.objects))

    def _event(self, about: TaskObject, happening: Happening, asked: AskedLine, seconds: float) -> record.Event:
        thing = about.thing.name
        if isinstance(happening, Question):
            return QuestionEvent(thing=thing, text=str(happening), goal=happening.goal)
        if isinstance(happening, Wish):
            return QuestionEvent(thing=thing, text=str(happening))
        if isinstance(happening, Choice):
            return SelectionEvent(
                thing=thing,
                options=list(happening.options),
                answer=happening.answer,
                chosen=happening.candidate.text,
                fallback=happening.fallback,
                asked=asked,
                seconds=seconds,
            )
        return self._brought(thing, happening, asked, seconds)

    def _brought(self, thing: str, brought: Brought, asked: AskedLine, seconds: float) -> record.Event:
        responses, wrong = response_lines(brought.candidates), brought.mends
        if wrong is None:
            return RetrievedEvent(thing=thing, responses=responses, asked=asked, seconds=seconds)
        return RepairEvent(
            thing=thing,
            wrong=wrong.text,
            reason=self._prompts.reason(wrong.analysis.mismatches[0]),
            depth=wrong.repairs + 1,
            responses=responses,
            asked=asked,
            seconds=seconds,
        )


def _object_event(about: TaskObject) -> ObjectEvent:
    return ObjectEvent(thing=about.thing.name, noun=about.thing.noun, seen=about.seen, subtask=about.subtask)


def _goal_event(lesson: Lesson) -> GoalEvent:
    thing, used = lesson.about.thing.name, lesson.used
    if lesson.stated is not None:
        return GoalEvent(thing=thing, goal=lesson.stated, by="person", mismatches=mismatch_lines(used))
    if used is None:
        return GoalEvent(thing=thing, by="nobody")
    goal = lesson.choices[-1].candidate.text if lesson.choices else statement_of(used, lesson.about)
    by: Literal["memory", "model"] = "memory" if lesson.recalled else "model"
    return GoalEvent(thing=thing, goal=goal, by=by, mismatches=mismatch_lines(used))


def _usage(asked: Usage, seconds: float) -> record.Usage:
    return record.Usage(
        prompt_tokens=sum(asked.prompt_tokens.values()),
        completion_tokens=sum(asked.completion_tokens.values()),
        model_seconds=seconds if asked.calls else 0.0,
    )
