"""What is recorded of an episode in a house: plans, actions, where everything was and where it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, ValidationError

from housewise.core.errors import UserError
from housewise.core.files import find_paths
from housewise.core.record import FINISHED, Count, Event, Frozen, Header, Record, Result, Seconds, Tokens, Words
from housewise.rollout.episode_loop import COMPLETE
from housewise.rollout.record_reader import read_record

Placements = dict[str, str]
"""Spoken name of the receptacle by spoken name of the object; ``robot`` is the hand."""

LAST_CORRECT = "last_correct_step"
"""Score: the low-level step in which an object was last placed on a correct receptacle, counted from 1."""

# Far beyond any house, and any turn that a robot makes.
_Near = Annotated[float, Field(ge=-1e4, le=1e4)]


class InitialState(Frozen):
    """What an episode begins with.

    Attributes:
        scene, episode: the house, and which of its episodes.
        task_set: the list that it was taken from, empty for none.
        simulator: in which it was played.
        rooms: as the robot is told of them.
        placements: where everything stands.
        correct: receptacles where the person wants each object.
    """

    scene: str
    episode: Count
    task_set: str = ""
    simulator: str
    rooms: list[str]
    placements: Placements
    correct: dict[str, list[str]]


class FinalState(Frozen):
    """How an episode ended: where everything is."""

    placements: Placements


class ModelCallRecord(Frozen):
    """What a model was asked and what it answered on the way to a plan."""

    prompt: list[dict[str, Words]]
    reply: Words
    thoughts: Words = ""
    finish_reason: str = ""
    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0


class AlternativeReply(Frozen):
    """Another reply to the same prompt, and what it would have done: it was tried, and then taken back."""

    reply: Words
    thoughts: Words = ""
    finish_reason: str = ""
    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0
    complete: bool = False
    reward: float = 0.0
    done: list[Words] = Field(default_factory=list)
    """Its steps that succeeded, as written."""
    moved: list[str] = Field(default_factory=list)
    discovered: Count = 0


class PlanEvent(Event):
    """A plan: what the model was asked and what it answered."""

    type: ClassVar[str] = "plan"
    plan: Count
    step: Count
    prompt: list[dict[str, Words]] = Field(default_factory=list)
    reply: Words
    thoughts: Words = ""
    """What the model thought before it, which is no part of it."""
    finish_reason: str = ""
    """Why the reply ended, see housewise.language.base.FinishReason; empty where no model was asked."""
    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0
    model_seconds: Seconds = 0.0
    complete: bool = False
    known: dict[str, dict[str, tuple[str, ...]]] = Field(default_factory=dict)
    """What the robot knew: objects by receptacle by room."""
    earlier: list[ModelCallRecord] = Field(default_factory=list)
    """What was asked before, where a planner asks more than once or takes a second look; the tokens of all are counted
    above."""
    scores: dict[str, float] = Field(default_factory=dict)
    """Log-probability of each action that the planner could choose."""
    choices: Count | None = None
    """How many plans the model chose among; None where it was free to write any, and in earlier records."""
    tried: list[AlternativeReply] = Field(default_factory=list)
    """Other replies to the same prompt, where several were asked for."""

    @property
    def known_things(self) -> set[str]:
        """Objects that the robot knew of."""
        return {thing for places in self.known.values() for things in places.values() for thing in things}

    @property
    def second_look(self) -> bool:
        """Whether the model had taken the task as done, and the robot looked where it had not been."""
        return bool(self.earlier) and not self.prompt

    @property
    def chosen_by_model(self) -> bool:
        """Whether the model chose it: not what follows from its judgements alone, nor what was done instead."""
        return bool(self.prompt) and self.choices != 1


class ActionEvent(Event):
    """A step of a plan, and what came of it."""

    type: ClassVar[str] = "action"
    plan: Count
    raw: Words
    action: str | None = None
    kind: str | None = None
    target: str | None = None
    destination: str | None = None
    status: Literal["succeeded", "failed", "skipped"]
    reason: str = ""
    start: Count
    end: Count
    low_level: str = ""
    """One letter per low-level action: f forward, l and r turn, u and d look, g grab or release."""
    aimed: list[str] = Field(default_factory=list)
    """Key that each ``g`` referred to."""
    path: list[tuple[_Near, _Near, _Near]] = Field(default_factory=list)
    """(x, z, yaw) after each low-level action, metres and radians."""
    discovered: list[str] = Field(default_factory=list)
    moved: dict[str, tuple[str, str]] = Field(default_factory=dict)
    reward: float = 0.0
    seconds: Seconds = 0.0

    @property
    def correct_placement_step(self) -> int | None:
        """The low-level step in which it placed something where people want it, counted from 1; None if it did not."""
        released = self.low_level.rfind("g")
        return self.start + released + 1 if self.reward > 0 and released >= 0 else None


@dataclass(frozen=True, repr=False)
class HouseRecord:
    """A finished episode in a house.

    Attributes:
        record: as it was read.
        setting: what it began with.
        final: where everything ended.
    """

    record: Record
    setting: InitialState
    final: FinalState

    @classmethod
    def of(cls, record: Record, path: Path) -> HouseRecord:
        """A record of any system's as one of an episode in a house.

        Raises:
            UserError: when it is of another system, or damaged.
        """
        if record.header.system != "personalize":
            raise UserError(f"{path}: is an episode of {record.header.system}, not one in a house")
        try:
            setting = InitialState.model_validate(record.header.setting)
            return cls(record, setting, FinalState.model_validate(record.result.final))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"]))
            raise UserError(f"{path}: {field}: {first['msg']}; delete the file to run the episode again") from error

    def __repr__(self) -> str:
        return f"<HouseRecord: {self.record.summary}>"

    @property
    def name(self) -> str:
        """Name of the file without its ending."""
        return self.record.name

    @property
    def header(self) -> Header:
        """What was set."""
        return self.record.header

    @property
    def result(self) -> Result:
        """How it ended."""
        return self.record.result

    @property
    def success_rate(self) -> float:
        """(Correct at the end - correct at the start) / misplaced at the start."""
        return self.record.result.scores["success_rate"]

    @cached_property
    def plans(self) -> list[PlanEvent]:
        """In order."""
        return self.record.of_type(PlanEvent)

    @cached_property
    def actions(self) -> list[ActionEvent]:
        """In order."""
        return self.record.of_type(ActionEvent)

    @property
    def known_things(self) -> set[str]:
        """Objects that the robot discovered, or knew of when it was asked for a plan."""
        discovered = {thing for action in self.actions for thing in action.discovered}
        return discovered.union(*(plan.known_things for plan in self.plans))


def read_house_record(path: Path) -> HouseRecord:
    """A finished record of an episode in a house.

    Raises:
        UserError: when it is damaged or of another system; the message names file and line.
    """
    return HouseRecord.of(read_record(path), path)


def read_house_records(folder: Path) -> Iterator[HouseRecord]:
    """Every finished record of a folder, by name."""
    return (read_house_record(path) for path in find_paths(folder, f"*{FINISHED}"))


def displaced_objects(actions: Sequence[ActionEvent]) -> list[str]:
    """Objects that stand elsewhere after some actions than before them, in the order in which they were taken."""
    first: dict[str, str] = {}
    last: dict[str, str] = {}
    for action in actions:
        for thing, (before, after) in action.moved.items():
            first.setdefault(thing, before)
            last[thing] = after
    return [thing for thing in first if first[thing] != last[thing]]


def describe_continued_search(result: Result) -> str:
    """Describe an episode that had placed everything correctly but was not declared complete.

    Args:
        result: Result of the episode.

    Returns:
        When the last object was placed and how long the robot searched on, or an empty string for other episodes.
    """
    scores = result.scores
    if result.ended == COMPLETE or scores["correct_end"] < scores["objects"]:
        return ""
    since = f" at step {scores[LAST_CORRECT]:.0f}" if LAST_CORRECT in scores else ""
    return f"all in place{since}, kept looking until step {scores['steps']:.0f}"
