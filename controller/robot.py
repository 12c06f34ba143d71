"""The robot in a house: what it sees and knows, and what becomes of the high-level actions that it is told to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from housewise.controller.skills import Controller, Skill, SkillOutcome, failure, not_attempted
from housewise.worlds.house.actions import ActionKind, HighLevelAction
from housewise.worlds.house.env import RearrangementEnv, Task
from housewise.worlds.house.scene_graph import ROBOT, NodeKind, SceneGraph, View
from housewise.worlds.house.simulator.base import Action

ACTION_LETTERS = {
    Action.STOP: "s",
    Action.MOVE_FORWARD: "f",
    Action.TURN_LEFT: "l",
    Action.TURN_RIGHT: "r",
    Action.LOOK_UP: "u",
    Action.LOOK_DOWN: "d",
    Action.GRAB_RELEASE: "g",
}

Placements = dict[str, str]
"""Spoken name of the receptacle by spoken name of the object; ``robot`` is the hand."""


@dataclass(frozen=True)
class ActionResult:
    """What became of a high-level action.

    Attributes:
        outcome: whether it worked, and why not.
        start, end: low-level steps before and after it.
        letters: its low-level actions, see LETTERS.
        aimed: key that each grab or release referred to.
        path: (x, z, yaw) after each low-level action, metres and radians.
        discovered: objects and receptacles seen for the first time.
        moved: where each object that changed place was and is.
        reward: of the person for whom the house is tidied.
        seconds: that it took.
    """

    outcome: SkillOutcome
    start: int
    end: int
    letters: str
    aimed: list[str]
    path: list[tuple[float, float, float]]
    discovered: list[str]
    moved: dict[str, tuple[str, str]]
    reward: float
    seconds: float


@dataclass
class _Trace:
    """The low-level side of one high-level action."""

    letters: str = ""
    aimed: list[str] = field(default_factory=list)
    path: list[tuple[float, float, float]] = field(default_factory=list)
    reward: float = 0.0

    def add(self, action: Action, aimed: str | None, env: RearrangementEnv, reward: float) -> None:
        body = env.simulator.body
        self.letters += ACTION_LETTERS[action]
        self.path.append((round(body.x, 3), round(body.z, 3), round(float(body.yaw), 3)))
        self.reward += reward
        if action == Action.GRAB_RELEASE:
            self.aimed.append(aimed or "")


class RobotInHouse:
    """A robot that knows what it has seen.

    Args:
        env: the house, already reset to the task.
        controller: moves the robot.
        stepped: told of every low-level step.

    Attributes:
        graph: all that the robot knows.
        stepped: see above.
    """

    def __init__(
        self, env: RearrangementEnv, controller: Controller, on_step: Callable[[int], None] = lambda steps: None
    ) -> None:
        self.env, self._controller, self.on_step = env, controller, on_step
        world = env.world
        self._names = {key: place.name for key, place in world.receptacles.items()}
        self._names |= {key: thing.name for key, thing in world.objects.items()}
        self._keys = {name: key for key, name in self._names.items()}
        self._rooms = {thing.name: thing.room for thing in world.receptacles.values() if thing.usable and thing.room}
        self._anchors = room_anchors(Task(world.scene, world.episode))
        self.graph = SceneGraph(self._anchors)
        self._see()

    @property
    def is_out_of_steps(self) -> bool:
        """Whether the episode's low-level steps are used up."""
        return self.env.steps >= self.env.max_steps

    @property
    def placements(self) -> Placements:
        """Where everything is, whether the robot knows it or not."""
        places = self.env.world.placements
        return {self._names[key]: self._names[place] if place else ROBOT for key, place in places.items()}

    def execute(self, action: HighLevelAction | None, problem: str = "") -> ActionResult:
        """Do what was said.

        Args:
            action: with names that the robot knows; None where it could not be told what was meant.
            problem: why not.
        """
        began, start, before = time.perf_counter(), self.env.steps, self.placements
        known = set(self.graph.graph)
        trace, outcome = _Trace(), not_attempted(problem)
        if action is not None:
            skill = self._skill(action)
            outcome = skill if isinstance(skill, SkillOutcome) else self._drive(skill, trace)
            if action.kind == ActionKind.GO_TO and action.target in self._anchors:
                self.graph.enter(action.target)
        after = self.placements
        return ActionResult(
            outcome,
            start,
            self.env.steps,
            trace.letters,
            trace.aimed,
            trace.path,
            [name for name in self.graph.graph if name not in known],
            {name: (before[name], after[name]) for name in after if before[name] != after[name]},
            trace.reward,
            time.perf_counter() - began,
        )

    @contextmanager
    def dry_run(self) -> Iterator[None]:
        """Take back afterwards whatever is done meanwhile; nobody is told of its steps."""
        state, graph, on_step = self.env.state, self.graph, self.on_step
        self.graph, self.on_step = graph.copy(), lambda steps: None
        try:
            yield
        finally:
            self.env.restore(state)
            self.graph, self.on_step = graph, on_step

    def _skill(self, action: HighLevelAction) -> Skill | SkillOutcome:
        """What the body has to do, or why it need not try."""
        target, kind = action.target, action.kind
        if kind == ActionKind.PICK_UP:
            return self._controller.pick_up(self._keys[target])
        if kind == ActionKind.PLACE:
            return self._controller.place(self._keys[target], self._keys[action.destination or ""])
        if self.graph.kind(target) == NodeKind.ROOM:
            return self._enter(target, kind)
        if self.graph.kind(target) == NodeKind.OBJECT:
            place = self.graph.place_of(target)
            if place in (None, ROBOT):
                return failure(f"{target} is in the hand")
            target = place or ""
        go = kind == ActionKind.GO_TO
        return self._controller.go_to(self._keys[target]) if go else self._controller.look_at(self._keys[target])

    def _enter(self, room: str, kind: ActionKind) -> Skill:
        anchor = self._anchors[room]
        return self._controller.go_to(anchor) if kind == ActionKind.GO_TO else self._controller.look_at(anchor)

    def _drive(self, skill: Skill, trace: _Trace) -> SkillOutcome:
        """Carry out a skill's low-level actions, looking around after each."""
        try:
            action = next(skill)
            while not self.is_out_of_steps:
                aimed = self.env.aimed
                _, reward, _, _, _ = self.env.step(action)
                trace.add(action, aimed, self.env, reward)
                self._see()
                self.on_step(self.env.steps)
                action = skill.send(None)
        except StopIteration as end:
            outcome: SkillOutcome = end.value
            return outcome
        skill.close()
        return failure("out of steps")

    def _see(self) -> None:
        """Let the scene graph take in what is in view."""
        world, visible = self.env.world, self.env.visible
        receptacles = {
            self._names[key]: room
            for key in visible
            if key in world.receptacles and (room := self._rooms.get(self._names[key]))
        }
        relations = world.relations(visible)
        objects = {self._names[key]: self._names[place] for key, place in relations.items()}
        just_placed = self.graph.holding
        if just_placed is not None and world.holding is None:
            objects[just_placed] = self._names[world.placements[self._keys[just_placed]] or ""]
        holding = self._names[world.holding] if world.holding else None
        self.graph.update(View(dict(sorted(receptacles.items())), dict(sorted(objects.items())), holding), self._rooms)


def room_anchors(task: Task) -> dict[str, str]:
    """The receptacle that stands for each room, in the order in which the robot is told of the rooms.

    A room without a usable receptacle in the episode has nothing to go to, and nothing can be there: the robot is not
    told of it.
    """
    places = [task.scene.by_key[key] for key in task.episode.receptacles]
    anchors: dict[str, str] = {}
    for room in task.scene.rooms:
        inside = [place.key for place in places if place.room == room.name and place.usable]
        if inside:
            anchors[room.name] = room.anchor if room.anchor in inside else inside[0]
    return anchors
