"""What is recorded of an episode of STARS, object by object: enough to count, to show, and to go on from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from housewise.agent.stars.analysis import GoalAnalysis
from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.repair import GoalCandidate
from housewise.agent.stars.search_tree import RetrievedGoal
from housewise.core.record import Count, Event, Figure, Frozen, Seconds, Words


class StarsInitialState(Frozen):
    """What an episode begins with.

    Attributes:
        room: what it is called.
        places: where each object is found.
        wanted: where the person of the task accepts each object.
        closed: fixtures that have to be closed in the end.
        instructions: what the person says whatever happens.
    """

    room: str
    places: dict[str, str]
    wanted: dict[str, list[str]]
    closed: list[str]
    instructions: list[Words]


class StarsFinalState(Frozen):
    """How an episode ended: where each object is, and which fixtures are open."""

    places: dict[str, str]
    open: list[str]


class ModelUsageLine(Frozen):
    """What models read and wrote for something, by kind of prompt."""

    calls: dict[str, Count] = Field(default_factory=dict)
    prompt_tokens: dict[str, Count] = Field(default_factory=dict)
    completion_tokens: dict[str, Count] = Field(default_factory=dict)
    finish_reasons: dict[str, Count] = Field(default_factory=dict)

    @classmethod
    def from_usage(cls, usage: ModelUsage) -> ModelUsageLine:
        """Counts as they are recorded."""
        return cls(**vars(usage))

    @property
    def usage(self) -> ModelUsage:
        """The counts."""
        return ModelUsage(**self.model_dump())


class MismatchLine(Frozen):
    """One thing that is wrong with a goal; see housewise.agent.stars.analysis.Mismatch."""

    kind: str
    what: Words | None = None
    thing: Words | None = None


class ResponseLine(Frozen):
    """A goal that a model wrote, and the verdict on it: viable where nothing is wrong."""

    text: Words
    probability: Figure
    source: str
    mismatches: list[MismatchLine] = Field(default_factory=list)

    @property
    def viable(self) -> bool:
        """Whether it can be understood, seen and done."""
        return not self.mismatches

    @property
    def retrieved(self) -> RetrievedGoal:
        """The goal as it was retrieved."""
        return RetrievedGoal(self.text, self.probability, self.source)


class ObjectEvent(Event):
    """The robot turns to an object; all that follows is about it, until the next one.

    Attributes:
        thing, noun: what tells it from others, and what it is called.
        seen: with its place.
        subtask: what is done with the objects of that place.
    """

    type: ClassVar[str] = "object"
    thing: str
    noun: str
    seen: str
    subtask: str = ""


class RecalledEvent(Event):
    """A goal was known.

    Attributes:
        statement: in the words of who stated it, or confirmed it.
        by_policy: whether the way that was learned with it still leads there.
    """

    type: ClassVar[str] = "recalled"
    thing: str
    statement: Words
    by_policy: bool


class RetrievedEvent(Event):
    """Goals that a model brought.

    Attributes:
        responses: the likeliest first.
        asked: what that took.
        seconds: of waiting for the model.
    """

    type: ClassVar[str] = "retrieved"
    thing: str
    responses: list[ResponseLine] = Field(default_factory=list)
    asked: ModelUsageLine = ModelUsageLine()
    seconds: Seconds = 0.0


class RepairEvent(Event):
    """Goals in the place of one that was refused; see RetrievedEvent.

    Attributes:
        wrong: the goal that was refused.
        reason: what the model was told is wrong with it.
        depth: how many repairs led to what was brought.
    """

    type: ClassVar[str] = "repair"
    thing: str
    wrong: Words
    reason: Words
    depth: Count
    responses: list[ResponseLine] = Field(default_factory=list)
    asked: ModelUsageLine = ModelUsageLine()
    seconds: Seconds = 0.0


class SelectionEvent(Event):
    """One of several goals was chosen.

    Attributes:
        options: as they were shown; none where no model was asked.
        answer: the model's; None where none was asked.
        chosen: the goal.
        fallback: whether the answer named no option, so that the likeliest was taken.
    """

    type: ClassVar[str] = "selection"
    thing: str
    options: list[Words] = Field(default_factory=list)
    answer: Words | None = None
    chosen: Words
    fallback: bool = False
    asked: ModelUsageLine = ModelUsageLine()
    seconds: Seconds = 0.0


class GoalQuestionEvent(Event):
    """Something is put to the person: whether a goal is right, or, without one, what the goal is."""

    type: ClassVar[str] = "question"
    thing: str
    text: Words
    goal: Words | None = None


class GoalAnswerEvent(Event):
    """What the person said. Records with answers are kept even where the episode was cut off."""

    type: ClassVar[str] = "answer"
    thing: str
    question: Words
    text: Words


class GoalEvent(Event):
    """The goal that is used.

    Attributes:
        by: whose it is; nobody's where there is none.
    """

    type: ClassVar[str] = "goal"
    thing: str
    goal: Words = ""
    by: Literal["memory", "model", "person", "nobody"]
    mismatches: list[MismatchLine] = Field(default_factory=list)


class StarsPlanEvent(Event):
    """The way to the goal; None where there is no way, or no goal."""

    type: ClassVar[str] = "plan"
    thing: str
    acts: list[str] | None = None


class ManipulationEvent(Event):
    """An act, and why it could not be done, where it could not.

    Attributes:
        steps: low-level steps that it took in a house in 3D; in symbols every act is one.
    """

    type: ClassVar[str] = "action"
    act: str
    done: bool = True
    reason: str = ""
    steps: Count = 1


EVENTS: Sequence[type[Event]] = (
    ObjectEvent,
    RecalledEvent,
    RetrievedEvent,
    RepairEvent,
    SelectionEvent,
    GoalQuestionEvent,
    GoalAnswerEvent,
    GoalEvent,
    StarsPlanEvent,
    ManipulationEvent,
)


def response_lines(candidates: Sequence[GoalCandidate]) -> list[ResponseLine]:
    """Goals with their verdicts, as they are recorded."""
    return [
        ResponseLine(
            text=each.text,
            probability=each.response.probability,
            source=each.response.source,
            mismatches=mismatch_lines(each.analysis),
        )
        for each in candidates
    ]


def mismatch_lines(analysis: GoalAnalysis | None) -> list[MismatchLine]:
    """What is wrong with a goal, as it is recorded."""
    found = analysis.mismatches if analysis else ()
    return [MismatchLine(kind=each.kind.value, what=each.what, thing=each.thing) for each in found]
