"""The robot in a house: its scene graph, and the execution of high-level actions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from housewise.controller.skills import Controller, Skill, SkillOutcome, failure, not_attempted
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import ROBOT, NodeKind, SceneGraph, SymbolicObservation
from housewise.worlds.house.simulator.base import LowLevelAction

ACTION_LETTERS = {
    LowLevelAction.STOP: "s",
    LowLevelAction.MOVE_FORWARD: "f",
    LowLevelAction.TURN_LEFT: "l",
    LowLevelAction.TURN_RIGHT: "r",
    LowLevelAction.LOOK_UP: "u",
    LowLevelAction.LOOK_DOWN: "d",
    LowLevelAction.GRAB_RELEASE: "g",
}
"""Letter of each low-level action in records."""

Placements = dict[str, str]
"""Name of the receptacle by name of the object. ``robot`` is the hand."""


@dataclass
class ActionResult:
    """The result of a high-level action.

    Attributes:
        outcome: Whether it worked, and why not.
        start, end: Number of low-level steps before and after it.
        low_level_actions: Letters of its low-level actions; see ACTION_LETTERS.
        aim_targets: Key of the target of each grab or release, or an empty text without one.
        path: (x, z, yaw) after each low-level action, metres and radians.
        discovered: Objects and receptacles that were seen for the first time.
        moves: Receptacle before and after, for each object that was moved.
        reward: Sum of the rewards.
        seconds: Duration.
    """

    outcome: SkillOutcome
    start: int
    end: int = 0
    low_level_actions: str = ""
    aim_targets: list[str] = field(default_factory=list)
    path: list[tuple[float, float, float]] = field(default_factory=list)
    discovered: list[str] = field(default_factory=list)
    moves: dict[str, tuple[str, str]] = field(default_factory=dict)
    reward: float = 0.0
    seconds: float = 0.0


class RobotInHouse:
    """A robot that knows what it has seen.

    Args:
        env: The house, already reset to the task.
        controller: Moves the robot.
        on_step: Called with the number of low-level steps after each of them, or None.

    Attributes:
        graph: Scene graph: everything that the robot knows.
    """

    def __init__(
        self, env: RearrangementEnv, controller: Controller, on_step: Callable[[int], None] | None = None
    ) -> None:
        self.env, self._controller, self.on_step = env, controller, on_step
        world = env.world
        self._names = {key: place.name for key, place in world.receptacles.items()}
        self._names |= {key: thing.name for key, thing in world.objects.items()}
        self._keys = {name: key for key, name in self._names.items()}
        self._rooms = {thing.name: thing.room for thing in world.receptacles.values() if thing.usable and thing.room}
        self._anchors = room_anchors(RearrangementTask(world.scene, world.episode))
        self.graph = SceneGraph(self._anchors)
        self._update_graph()

    @property
    def is_out_of_steps(self) -> bool:
        """Whether the episode's low-level steps are used up."""
        return self.env.steps >= self.env.max_steps

    @property
    def placements(self) -> Placements:
        """Where every object is, whether the robot knows it or not."""
        places = self.env.world.placements
        return {self._names[key]: self._names[place] if place else ROBOT for key, place in places.items()}

    def execute(self, action: HighLevelAction | None, problem: str = "") -> ActionResult:
        """Execute a high-level action.

        Args:
            action: The action with names that the robot knows, or None if the step could not be resolved to one.
            problem: The reason why it could not.
        """
        started, before = time.perf_counter(), self.placements
        known = set(self.graph.graph)
        result = ActionResult(not_attempted(problem), self.env.steps)
        if action is not None:
            skill = self._select_skill(action)
            result.outcome = skill if isinstance(skill, SkillOutcome) else self._run_skill(skill, result)
            if action.kind == ActionKind.GO_TO and action.target in self._anchors:
                self.graph.mark_visited(action.target)
        after = self.placements
        result.end = self.env.steps
        result.discovered = [name for name in self.graph.graph if name not in known]
        result.moves = {name: (before[name], after[name]) for name in after if before[name] != after[name]}
        result.seconds = time.perf_counter() - started
        return result

    @contextmanager
    def dry_run(self) -> Iterator[None]:
        """Undo afterwards whatever is executed within this context, without reporting its steps."""
        state, graph, on_step = self.env.state, self.graph, self.on_step
        self.graph, self.on_step = graph.copy(), None
        try:
            yield
        finally:
            self.env.restore(state)
            self.graph, self.on_step = graph, on_step

    def _select_skill(self, action: HighLevelAction) -> Skill | SkillOutcome:
        """Return the skill of an action, or its outcome if the skill need not run."""
        target, kind = action.target, action.kind
        if kind == ActionKind.PICK_UP:
            return self._controller.pick_up(self._keys[target])
        if kind == ActionKind.PLACE:
            return self._controller.place(self._keys[target], self._keys[action.destination or ""])
        place = self.graph.container_of(target) if self.graph.kind_of(target) == NodeKind.OBJECT else target
        if place is None or place == ROBOT:
            return failure(f"{target} is in the hand")
        key = self._anchors.get(place) or self._keys[place]
        return self._controller.go_to(key) if kind == ActionKind.GO_TO else self._controller.look_at(key)

    def _run_skill(self, skill: Skill, result: ActionResult) -> SkillOutcome:
        """Run a skill's low-level actions and update the scene graph after each."""
        try:
            action = next(skill)
            while not self.is_out_of_steps:
                aimed = self.env.aim_target
                _, reward, _, _, _ = self.env.step(action)
                body = self.env.simulator.body
                result.low_level_actions += ACTION_LETTERS[action]
                result.path.append((round(body.x, 3), round(body.z, 3), round(float(body.yaw), 3)))
                result.reward += reward
                if action == LowLevelAction.GRAB_RELEASE:
                    result.aim_targets.append(aimed or "")
                self._update_graph()
                if self.on_step is not None:
                    self.on_step(self.env.steps)
                action = skill.send(None)
        except StopIteration as end:
            outcome: SkillOutcome = end.value
            return outcome
        skill.close()
        return failure("out of steps")

    def _update_graph(self) -> None:
        """Add what is in view to the scene graph."""
        world, visible = self.env.world, self.env.visible
        receptacles = {
            self._names[key]: room
            for key in visible
            if key in world.receptacles and (room := self._rooms.get(self._names[key]))
        }
        relations = world.visible_placements(visible)
        objects = {self._names[key]: self._names[place] for key, place in relations.items()}
        just_placed = self.graph.holding
        if just_placed is not None and world.holding is None:
            objects[just_placed] = self._names[world.placements[self._keys[just_placed]] or ""]
        holding = self._names[world.holding] if world.holding else None
        self.graph.update(
            SymbolicObservation(dict(sorted(receptacles.items())), dict(sorted(objects.items())), holding), self._rooms
        )


def room_anchors(task: RearrangementTask) -> dict[str, str]:
    """Return the receptacle that stands for each room, in the order in which the robot knows the rooms.

    A room without a usable receptacle in the episode has nothing to go to and cannot hold objects. The robot does not
    know it.
    """
    places = [task.scene.by_key[key] for key in task.episode.receptacles]
    anchors: dict[str, str] = {}
    for room in task.scene.rooms:
        inside = [place.key for place in places if place.room == room.name and place.usable]
        if inside:
            anchors[room.name] = room.anchor if room.anchor in inside else inside[0]
    return anchors
