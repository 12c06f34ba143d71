"""Planners: from what the robot knows to the next few high-level actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from housewise.agent.personalize.plan_parser import ParsedStep
from housewise.language.base import Message, Reply
from housewise.worlds.house.actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph

MOST_STEPS = 10


@dataclass(frozen=True)
class ModelCall:
    """What a model was asked and what it answered."""

    messages: tuple[Message, ...]
    reply: Reply


@dataclass(frozen=True)
class Plan:
    """What to do next.

    Attributes:
        steps: at most ten, each resolved or with the reason why it could not be.
        complete: whether the planner takes the task as done after them.
        messages: what the model was asked; empty for planners without one.
        reply: what the model answered, None for planners without one.
        earlier: what the model was asked before that, on the way to this plan.
        scores: how likely the model found each action that it could choose, where it was asked that.
        others: what the model answered to the same words as well, where it was asked for several replies.
        shown: of a demonstration, where each object belongs, as in judgement.Judgements.
        choices: how many plans the model chose among; None where it was free to write any.
    """

    steps: tuple[ParsedStep, ...]
    complete: bool = False
    messages: tuple[Message, ...] = ()
    reply: Reply | None = None
    earlier: tuple[ModelCall, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    others: tuple[Plan, ...] = ()
    shown: Mapping[str, str | None] = field(default_factory=dict)
    choices: int | None = None

    @property
    def replies(self) -> tuple[Reply, ...]:
        """All that the model wrote for this plan."""
        return (*(exchange.reply for exchange in self.earlier), *([self.reply] if self.reply else []))

    @property
    def text(self) -> str:
        """The model's words; for planners without a model, the plan as a model would have written it."""
        if self.reply is not None:
            return self.reply.text
        return format_steps([*(step.raw for step in self.steps), *(["mission complete"] if self.complete else [])])


def format_steps(lines: Sequence[object]) -> str:
    """A plan as prompts ask for it, from behind ``step 1:`` on."""
    return "\n".join(
        f"step {number}: {line}" if number > 1 else str(line) for number, line in enumerate(lines, start=1)
    )


@dataclass(frozen=True)
class Attempt:
    """A step that was carried out, as the planner learns of it.

    Attributes:
        action: what was tried.
        succeeded: whether it worked.
        reason: in words, why not.
    """

    action: HighLevelAction
    succeeded: bool
    reason: str = ""


def count_failures(attempts: Sequence[Attempt]) -> dict[str, int]:
    """How often picking up an object, or placing it on a receptacle (``"mug 1 on shelf 2"``), has failed."""
    found: dict[str, int] = {}
    for attempt in attempts:
        action = attempt.action
        if attempt.succeeded or action.kind not in (ActionKind.PICK_UP, ActionKind.PLACE):
            continue
        key = action.target if action.destination is None else f"{action.target} on {action.destination}"
        found[key] = found.get(key, 0) + 1
    return found


def untried_places(thing: str, places: Sequence[str], failed: Mapping[str, int]) -> list[str]:
    """Places where placing a thing has not failed; see failures."""
    return [place for place in places if not failed.get(f"{thing} on {place}")]


def hide_hopeless_targets(graph: SceneGraph, attempts: Sequence[Attempt], most_tries: int | None) -> SceneGraph:
    """What the robot knows, without what it should not try again.

    Args:
        graph: all that it knows.
        attempts: everything tried in this episode.
        most_tries: after so many attempts to pick it up an object is left out, whether it could not be picked up or did
            not go where it was taken; after so many failures to place there what is in the hand, so is a receptacle.
            None leaves nothing out.
    """
    if most_tries is None:
        return graph
    picked = Counter(tried.action.target for tried in attempts if tried.action.kind == ActionKind.PICK_UP)
    hopeless = {key for key, count in (count_failures(attempts) | picked).items() if count >= most_tries}
    things = {thing for thing in graph.objects if thing in hopeless and thing != graph.holding}
    places = {place for place in graph.receptacles if f"{graph.holding} on {place}" in hopeless}
    return graph.without(things | places) if things or places else graph


def unentered_rooms(graph: SceneGraph, attempts: Sequence[Attempt]) -> list[str]:
    """Rooms that the robot has not tried to go to."""
    tried = visited_targets(attempts)
    return [room for room in graph.rooms if room not in tried]


def unvisited_receptacles(graph: SceneGraph, attempts: Sequence[Attempt]) -> list[str]:
    """Receptacles that the robot has not tried to go to, neither for their own sake nor for an object on them."""
    tried = visited_targets(attempts)
    tried |= {place for name in tried if (place := graph.place_of(name)) is not None}
    return [place for place in graph.receptacles if place not in tried]


def visited_targets(attempts: Sequence[Attempt]) -> set[str]:
    """What the robot has tried to go to."""
    return {attempt.action.target for attempt in attempts if attempt.action.kind == ActionKind.GO_TO}


class Planner(Protocol):
    """Decides what the robot does.

    Attributes:
        name: what records call it.
    """

    name: str

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """The next few actions.

        Args:
            graph: all that the robot knows.
            attempts: everything tried in this episode, oldest first.
        """
        ...
