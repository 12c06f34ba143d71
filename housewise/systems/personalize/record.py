"""Records of LLM-Personalize: plans, actions, and the first and last placement of every object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from housewise.core.errors import UserError
from housewise.core.files import find_paths
from housewise.core.record import Count, Event, Frozen, Header, Record, Result, Seconds, Tokens, Words
from housewise.core.record_files import FINISHED
from housewise.core.validation import validate_model
from housewise.rollout.episode_loop import COMPLETE
from housewise.rollout.record_reader import read_record

Placements = dict[str, str]
"""Name of the receptacle by name of the object. ``robot`` is the hand."""

LAST_CORRECT = "last_correct_step"
"""Score: the low-level step in which an object was last placed on a correct receptacle, counted from 1."""

# Larger than any house, and than any turn of the robot.
_Near = Annotated[float, Field(ge=-1e4, le=1e4)]


class InitialState(Frozen):
    """The state of a house before the first action.

    Attributes:
        scene, episode: The house and the number of its episode.
        task_set: Name of the task set, or empty if the episode is not from one.
        simulator: Name of the simulator.
        rooms: Rooms that the robot knows from the start.
        placements: Receptacle of every object.
        correct: Receptacles on which the person wants each object.
    """

    scene: str
    episode: Count
    task_set: str = ""
    simulator: str
    rooms: list[str]
    placements: Placements
    correct: dict[str, list[str]]


class FinalState(Frozen):
    """The state of a house after the last action: the receptacle of every object."""

    placements: Placements


class ReplyRecord(Frozen):
    """A reply of a model.

    Attributes:
        reply: Text of the reply.
        thoughts: Reasoning of the model before the reply, which is not part of it.
        finish_reason: Why the reply ended; see housewise.language.base.FinishReason. Empty without a model.
        prompt_tokens, completion_tokens: Number of tokens.
    """

    reply: Words
    thoughts: Words = ""
    finish_reason: str = ""
    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0


class ModelCallRecord(ReplyRecord):
    """A request to a model and its reply that led to a plan."""

    prompt: list[dict[str, Words]]


class AlternativeReply(ReplyRecord):
    """Another reply to the same prompt, and the results of its plan, which was executed and then undone."""

    complete: bool = False
    reward: float = 0.0
    succeeded_steps: list[Words] = Field(default_factory=list)
    """Its steps that succeeded, as written."""
    moved_objects: list[str] = Field(default_factory=list)
    discovered_count: Count = 0


class PlanEvent(ReplyRecord, Event):
    """A plan, with the prompt and the reply of the model."""

    type: ClassVar[str] = "plan"
    plan: Count
    step: Count
    prompt: list[dict[str, Words]] = Field(default_factory=list)
    model_seconds: Seconds = 0.0
    complete: bool = False
    scene_graph: dict[str, dict[str, tuple[str, ...]]] = Field(default_factory=dict)
    """Scene graph of the robot: objects by receptacle by room."""
    prior_calls: list[ModelCallRecord] = Field(default_factory=list)
    """Model calls before the plan's own. Their tokens are included above."""
    scores: dict[str, float] = Field(default_factory=dict)
    """Natural-log probability of each option that the planner scored."""
    choice_count: Count | None = None
    """Number of plans among which the model chose. None if it could write any plan, and in earlier records."""
    alternatives: list[AlternativeReply] = Field(default_factory=list)
    """Other replies to the same prompt, if several were sampled."""
    unjudged_objects: list[str] = Field(default_factory=list)
    """Objects about which the model was asked as JSON and no judgement could be read."""

    @property
    def known_things(self) -> set[str]:
        """Objects in the scene graph of the robot."""
        return {thing for places in self.scene_graph.values() for things in places.values() for thing in things}

    @property
    def second_look(self) -> bool:
        """Whether the model considered the task complete and the robot visited missed places instead."""
        return bool(self.prior_calls) and not self.prompt

    @property
    def chosen_by_model(self) -> bool:
        """Whether the model chose the plan: not if its judgements allowed only one, or code replaced it."""
        return bool(self.prompt) and self.choice_count != 1


class SummaryEvent(Event):
    """Rules that the model concluded from the notes about the person, for the prompts of the episode.

    Attributes:
        rules: The rules.
        problem: Why there are none, or empty.
    """

    type: ClassVar[str] = "note_summary"
    rules: tuple[Words, ...]
    problem: Words = ""


class ActionEvent(Event):
    """A step of a plan and its result."""

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
    low_level_actions: str = ""
    """One letter per low-level action: f forward, l and r turn, u and d look, g grab or release."""
    aim_targets: list[str] = Field(default_factory=list)
    """Key of the target of each ``g``."""
    path: list[tuple[_Near, _Near, _Near]] = Field(default_factory=list)
    """(x, z, yaw) after each low-level action, metres and radians."""
    discovered: list[str] = Field(default_factory=list)
    moves: dict[str, tuple[str, str]] = Field(default_factory=dict)
    reward: float = 0.0
    seconds: Seconds = 0.0

    @property
    def correct_placement_step(self) -> int | None:
        """Low-level step of a placement on a correct receptacle, counted from 1. None for other actions."""
        released = self.low_level_actions.rfind("g")
        return self.start + released + 1 if self.reward > 0 and released >= 0 else None


@dataclass(frozen=True, repr=False)
class HouseRecord:
    """A finished episode in a house.

    Attributes:
        record: The record as it was read.
        initial_state: State before the first action.
        final: State after the last action.
    """

    record: Record
    initial_state: InitialState
    final: FinalState

    @classmethod
    def from_record(cls, record: Record, path: Path) -> HouseRecord:
        """Return a record of any system as a record of a house.

        Raises:
            UserError: If the record is from another system or damaged.
        """
        if record.header.system != "personalize":
            raise UserError(f"{path}: is an episode of {record.header.system}, not one in a house")
        remedy = "delete the file to run the episode again"
        initial_state = validate_model(InitialState, record.header.initial_state, path, remedy)
        return cls(record, initial_state, validate_model(FinalState, record.result.final, path, remedy))

    def __repr__(self) -> str:
        return f"<HouseRecord: {self.record.summary}>"

    @property
    def name(self) -> str:
        """File name without its suffix."""
        return self.record.name

    @property
    def header(self) -> Header:
        """Header: settings and task of the episode."""
        return self.record.header

    @property
    def result(self) -> Result:
        """Result: scores and how the episode ended."""
        return self.record.result

    @property
    def success_rate(self) -> float:
        """(Correct at the end - correct at the start) / misplaced at the start."""
        return self.record.result.scores["success_rate"]

    @cached_property
    def plans(self) -> list[PlanEvent]:
        """Plans in order."""
        return self.record.of_type(PlanEvent)

    @cached_property
    def actions(self) -> list[ActionEvent]:
        """Actions in order."""
        return self.record.of_type(ActionEvent)

    def actions_of(self, plan: PlanEvent) -> list[ActionEvent]:
        """Return the actions of a plan in order."""
        return [action for action in self.actions if action.plan == plan.plan]

    @property
    def known_things(self) -> set[str]:
        """Objects that the robot discovered, or knew when a plan was asked for."""
        discovered = {thing for action in self.actions for thing in action.discovered}
        return discovered.union(*(plan.known_things for plan in self.plans))


def read_house_record(path: Path) -> HouseRecord:
    """Read the finished record of an episode in a house.

    Raises:
        UserError: If it is damaged or from another system. The message names file and line.
    """
    return HouseRecord.from_record(read_record(path), path)


def read_house_records(folder: Path) -> Iterator[HouseRecord]:
    """Read all finished records of a folder, by name."""
    return (read_house_record(path) for path in find_paths(folder, f"*{FINISHED}"))


def displaced_objects(actions: Sequence[ActionEvent]) -> list[str]:
    """Return objects whose receptacle differs before and after some actions, in the order of their first move."""
    first: dict[str, str] = {}
    last: dict[str, str] = {}
    for action in actions:
        for thing, (before, after) in action.moves.items():
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
    if result.end_reason == COMPLETE or scores["correct_end"] < scores["objects"]:
        return ""
    since = f" at step {scores[LAST_CORRECT]:.0f}" if LAST_CORRECT in scores else ""
    return f"all in place{since}, kept looking until step {scores['steps']:.0f}"
