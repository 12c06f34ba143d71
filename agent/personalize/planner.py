"""Plans, attempts and the Planner protocol: from the robot's scene graph to the next few high-level actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from housewise.agent.personalize.plan_parser import ParsedStep
from housewise.language.base import Message, Reply
from housewise.worlds.house.high_level_actions import HOLDING_NOTHING, ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph

MAX_STEPS = 10
"""Steps of a plan that are executed (LLM-Personalize, section 3.2.2)."""


@dataclass(frozen=True)
class ModelCall:
    """A request to a model and its reply."""

    messages: tuple[Message, ...]
    reply: Reply


@dataclass(frozen=True)
class RuleSummary:
    """Rules that a model concluded from the notes about a person.

    Attributes:
        rules: The rules.
        problem: Why there are none, or empty.
        calls: The model call that led to them. Empty if they were kept from an earlier one.
    """

    rules: tuple[str, ...]
    problem: str = ""
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True)
class Plan:
    """The next steps of an episode, as a planner chose them.

    Attributes:
        steps: At most ten steps. Each has an action or the reason why the text could not be resolved to one.
        complete: Whether the planner considers the task complete after these steps.
        messages: Prompt of the model. Empty for planners without a model.
        reply: Reply of the model. None for planners without a model.
        prior_calls: Model calls that led to this plan, such as judgements and rejected plans.
        scores: Natural-log probability of each option that the planner scored.
        alternatives: Plans from the other replies to the same prompt, if several were sampled.
        demonstrated: Correct receptacle of each object in a demonstration; see judgement_text.Judgements.
        choice_count: Number of plans that the grammar allowed. None if the model could write any plan.
        summary: Rules that were concluded from the notes for this plan. None if they were not asked for.
        written_by_model: Whether the model wrote ``reply``. If not, code wrote it for replays, and it is no model call.
        unjudged_objects: Objects about which the model was asked and no judgement could be read.
    """

    steps: tuple[ParsedStep, ...]
    complete: bool = False
    messages: tuple[Message, ...] = ()
    reply: Reply | None = None
    prior_calls: tuple[ModelCall, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    alternatives: tuple[Plan, ...] = ()
    demonstrated: Mapping[str, str | None] = field(default_factory=dict)
    choice_count: int | None = None
    summary: RuleSummary | None = None
    written_by_model: bool = True
    unjudged_objects: tuple[str, ...] = ()

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        """All model calls of this plan, the one that wrote it last."""
        own = (ModelCall(self.messages, self.reply),) if self.reply and self.written_by_model else ()
        return (*self.prior_calls, *own)

    @property
    def all_calls(self) -> tuple[ModelCall, ...]:
        """The same, and the calls of its alternatives."""
        return tuple(call for plan in (self, *self.alternatives) for call in plan.calls)

    @property
    def replies(self) -> tuple[Reply, ...]:
        """All replies that the model wrote for this plan."""
        return tuple(call.reply for call in self.calls)

    @property
    def text(self) -> str:
        """The reply of the model, or for planners without one the plan as a model would write it."""
        if self.reply is not None:
            return self.reply.text
        return format_steps([*(step.raw for step in self.steps), *(["mission complete"] if self.complete else [])])


def format_steps(lines: Sequence[object]) -> str:
    """Format steps as prompts ask for them, starting behind ``step 1:``."""
    return "\n".join(
        f"step {number}: {line}" if number > 1 else str(line) for number, line in enumerate(lines, start=1)
    )


@dataclass(frozen=True)
class Attempt:
    """A step that was executed, as planners see it.

    Attributes:
        action: The action.
        succeeded: Whether it worked.
        reason: Why it failed, in words.
    """

    action: HighLevelAction
    succeeded: bool
    reason: str = ""


def count_failures(attempts: Sequence[Attempt]) -> dict[str, int]:
    """Count the failed pick-ups of each object and the failed placements of each object and receptacle.

    A placement with an empty hand says nothing about the receptacle, so it is not counted.

    Returns:
        Counts by object (``"mug 1"``) and by object and receptacle (``"mug 1 on shelf 2"``).
    """
    found: dict[str, int] = {}
    for attempt in attempts:
        action = attempt.action
        if attempt.succeeded or action.kind not in (ActionKind.PICK_UP, ActionKind.PLACE):
            continue
        if action.kind == ActionKind.PLACE and attempt.reason == HOLDING_NOTHING:
            continue
        key = action.target if action.destination is None else f"{action.target} on {action.destination}"
        found[key] = found.get(key, 0) + 1
    return found


def untried_places(thing: str, places: Sequence[str], failed: Mapping[str, int]) -> list[str]:
    """Return the receptacles on which placing an object has not failed; see count_failures."""
    return [place for place in places if not failed.get(f"{thing} on {place}")]


def hide_hopeless_targets(graph: SceneGraph, attempts: Sequence[Attempt], max_tries: int | None) -> SceneGraph:
    """Return a scene graph without objects and receptacles that have failed too often.

    Args:
        graph: Everything that the robot knows.
        attempts: Everything that was tried in this episode.
        max_tries: Limit of attempts. An object is hidden after this many pick-ups, successful or not. A receptacle
            is hidden after this many failures to place the held object on it. None hides nothing.
    """
    if max_tries is None:
        return graph
    pick_ups = Counter(tried.action.target for tried in attempts if tried.action.kind == ActionKind.PICK_UP)
    hopeless = {key for key, count in (count_failures(attempts) | pick_ups).items() if count >= max_tries}
    things = {thing for thing in graph.objects if thing in hopeless and thing != graph.holding}
    places = {place for place in graph.receptacles if f"{graph.holding} on {place}" in hopeless}
    return graph.copy_without(things | places) if things or places else graph


def listed_receptacles(graph: SceneGraph) -> list[str]:
    """Return all known receptacles in the order of prompts: room by room."""
    return [place for places in graph.tree.values() for place in places]


def unentered_rooms(graph: SceneGraph, attempts: Sequence[Attempt]) -> list[str]:
    """Return the rooms that the robot has not tried to go to."""
    tried = visited_targets(attempts)
    return [room for room in graph.rooms if room not in tried]


def unvisited_receptacles(graph: SceneGraph, attempts: Sequence[Attempt]) -> list[str]:
    """Return the receptacles that the robot has not tried to go to, directly or for an object on them."""
    tried = visited_targets(attempts)
    tried |= {place for name in tried if (place := graph.container_of(name)) is not None}
    return [place for place in graph.receptacles if place not in tried]


def placed_objects(attempts: Sequence[Attempt]) -> set[str]:
    """Return the objects that the robot has placed somewhere."""
    return {each.action.target for each in attempts if each.succeeded and each.action.kind == ActionKind.PLACE}


def visited_targets(attempts: Sequence[Attempt]) -> set[str]:
    """Return the names that the robot has tried to go to."""
    return {attempt.action.target for attempt in attempts if attempt.action.kind == ActionKind.GO_TO}


class Planner(Protocol):
    """Chooses the next steps of the robot.

    Attributes:
        name: Name in records.
    """

    name: str

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """Choose the next few actions.

        Args:
            graph: Everything that the robot knows.
            attempts: Everything that was tried in this episode, oldest first.
        """
