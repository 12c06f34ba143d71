"""Events and states in records of STARS. They suffice to compute its scores, to show episodes and to resume them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.responses import GoalAnalysis, GoalCandidate, RetrievedGoal
from housewise.core.record import Count, Event, Figure, Frozen, Seconds, Words


class StarsInitialState(Frozen):
    """The initial state of an episode.

    Attributes:
        room: Name of the room.
        places: Where each object is found.
        wanted: Where the person accepts each object.
        closed: Fixtures that have to be closed in the end.
        instructions: What the person says, independent of the condition.
    """

    room: str
    places: dict[str, str]
    wanted: dict[str, list[str]]
    closed: list[str]
    instructions: list[Words]


class StarsFinalState(Frozen):
    """The final state of an episode: where each object is, and which fixtures are open."""

    places: dict[str, str]
    open: list[str]


class ModelUsageLine(Frozen):
    """Model usage by kind of prompt; see housewise.agent.stars.model_usage.ModelUsage."""

    calls: dict[str, Count] = Field(default_factory=dict)
    prompt_tokens: dict[str, Count] = Field(default_factory=dict)
    completion_tokens: dict[str, Count] = Field(default_factory=dict)
    finish_reasons: dict[str, Count] = Field(default_factory=dict)

    @classmethod
    def from_usage(cls, usage: ModelUsage) -> ModelUsageLine:
        """Convert a usage to its form in records."""
        return cls(**vars(usage))

    @property
    def usage(self) -> ModelUsage:
        """The usage, as agents count it."""
        return ModelUsage(**{name: Counter(counts) for name, counts in self})


class MismatchLine(Frozen):
    """One reason why a goal is not viable; see housewise.agent.stars.responses.Mismatch.

    Attributes:
        kind: Kind of the mismatch, such as ``unknown-word``.
        what: The word or state that does not fit, if there is one.
        thing: The object or fixture that it does not fit, if there is one.
    """

    kind: str
    what: Words | None = None
    thing: Words | None = None


class ResponseLine(Frozen):
    """A goal that a model wrote, and its mismatches."""

    text: Words
    probability: Figure
    source: str
    mismatches: list[MismatchLine] = Field(default_factory=list)

    @property
    def viable(self) -> bool:
        """Whether the goal has no mismatch."""
        return not self.mismatches

    @property
    def retrieved_goal(self) -> RetrievedGoal:
        """The goal as it was retrieved."""
        return RetrievedGoal(self.text, self.probability, self.source)


class ObjectEvent(Event):
    """The robot turns to an object. The following events are about it, until the next event of this type.

    Attributes:
        thing: Unique name of the object.
        noun: Noun of the object.
        description: The object with its place, such as ``mug in dish rack``.
        subtask: Part of the task to which the object belongs, by the place where it was found.
    """

    type: ClassVar[str] = "object"
    thing: str
    noun: str
    description: str
    subtask: str = ""


class RecalledEvent(Event):
    """A learned goal was recalled.

    Attributes:
        statement: The goal as the person stated or confirmed it.
        by_policy: Whether the learned actions still achieve it. Otherwise new actions are planned.
    """

    type: ClassVar[str] = "recalled"
    thing: str
    statement: Words
    by_policy: bool


class RetrievedEvent(Event):
    """A model was asked for goals.

    Attributes:
        responses: Goals, most probable first.
        usage: Model usage.
        seconds: Waiting time for the model.
    """

    type: ClassVar[str] = "retrieved"
    thing: str
    responses: list[ResponseLine] = Field(default_factory=list)
    usage: ModelUsageLine = ModelUsageLine()
    seconds: Seconds = 0.0


class RepairEvent(Event):
    """A model was asked to replace a refused goal; see RetrievedEvent.

    Attributes:
        refused_goal: The refused goal.
        reason: Reason that the model was given.
        depth: Number of repairs that led to the responses.
    """

    type: ClassVar[str] = "repair"
    thing: str
    refused_goal: Words
    reason: Words
    depth: Count
    responses: list[ResponseLine] = Field(default_factory=list)
    usage: ModelUsageLine = ModelUsageLine()
    seconds: Seconds = 0.0


class SelectionEvent(Event):
    """A goal was selected.

    Attributes:
        options: Goals in the order shown to the model; empty if no model was asked.
        answer: Reply of the model, or None if no model was asked.
        chosen: The selected goal.
        fallback: Whether the reply named no option, so that the most probable goal was used.
    """

    type: ClassVar[str] = "selection"
    thing: str
    options: list[Words] = Field(default_factory=list)
    answer: Words | None = None
    chosen: Words
    fallback: bool = False
    usage: ModelUsageLine = ModelUsageLine()
    seconds: Seconds = 0.0


class GoalQuestionEvent(Event):
    """The person is asked whether a goal is right or, without ``goal``, what the goal is."""

    type: ClassVar[str] = "question"
    thing: str
    text: Words
    goal: Words | None = None


class GoalAnswerEvent(Event):
    """The person's answer. Records with answers are kept even if the episode is interrupted.

    Attributes:
        text: The answer: yes, no, or the goal as a sentence.
        said: What the person said, in order, if it is not the sentence. Always empty in records of earlier versions.
    """

    type: ClassVar[str] = "answer"
    thing: str
    question: Words
    text: Words
    said: list[Words] = Field(default_factory=list)


class GoalEvent(Event):
    """The goal that is used.

    Attributes:
        source: Who it comes from; nobody if there is none.
    """

    type: ClassVar[str] = "goal"
    thing: str
    goal: Words = ""
    source: Literal["memory", "model", "person", "nobody"]
    mismatches: list[MismatchLine] = Field(default_factory=list)


class StarsPlanEvent(Event):
    """The actions that are planned for the goal (``acts``), or None if there is no plan or no goal."""

    type: ClassVar[str] = "plan"
    thing: str
    acts: list[str] | None = None


class ManipulationEvent(Event):
    """An action, and the reason if it failed.

    Attributes:
        steps: Number of low-level steps in a 3D house. In a symbolic room every action is one step.
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
    """Return candidates with their mismatches as record lines."""
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
    """Return the mismatches of a goal as record lines."""
    found = analysis.mismatches if analysis else ()
    return [MismatchLine(kind=each.kind.value, what=each.what, thing=each.thing) for each in found]
