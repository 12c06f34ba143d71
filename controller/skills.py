"""Skills: how one high-level action becomes low-level ones.

A skill is a generator: it yields low-level actions, is resumed after each has been carried out, and returns an
Outcome. Walking uses the house's map (the navigation mesh), as Housekeep's own controller does; what a skill is sent
after has to be known to the robot, which is for the caller to see to.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum
from typing import Literal

import numpy as np

from housewise.controller.greedy_follower import GreedyFollower
from housewise.worlds.house.env import RearrangementEnv
from housewise.worlds.house.geometry import Array, forward_of
from housewise.worlds.house.simulator.base import STEP, TURN, Action, BodyPose, Follower
from housewise.worlds.house.world import REACH


class ActionStatus(str, Enum):
    """How a high-level action ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class SkillOutcome:
    """How a high-level action ended, and why in words."""

    status: ActionStatus
    reason: str = ""


Skill = Generator[Action, None, SkillOutcome]

SUCCESS = SkillOutcome(ActionStatus.SUCCEEDED)


def failure(reason: str) -> SkillOutcome:
    """The action was tried and did not work."""
    return SkillOutcome(ActionStatus.FAILED, reason)


def not_attempted(reason: str) -> SkillOutcome:
    """The action was not tried."""
    return SkillOutcome(ActionStatus.SKIPPED, reason)


@dataclass(frozen=True)
class ControllerSettings:
    """How the skills behave.

    Attributes:
        goal_radius: metres from the chosen standpoint at which walking ends.
        most_walk: low-level steps that one walk may take.
        most_look: low-level steps that one look may take.
        follower: how the next step of a walk is chosen: ``"own"`` turns to the next bend of the way, ``"greedy"``
            weighs every step that could be next, as habitat-sim does (controller.follower).
    """

    goal_radius: float = 0.25
    most_walk: int = 500
    most_look: int = 100
    follower: Literal["own", "greedy"] = "own"


class Controller:
    """The robot's body.

    Args:
        env: the house; the controller reads it afresh at every step.
        settings: how the skills behave.
    """

    def __init__(self, env: RearrangementEnv, settings: ControllerSettings | None = None) -> None:
        self.env = env
        self.settings = settings or ControllerSettings()

    def go_to(self, receptacle: str) -> Skill:
        """Walk to where a receptacle can be seen and reached.

        Args:
            receptacle: key; for an object, of what it stands on; for a room, of its anchor.
        """
        goal = self._standpoint(receptacle)
        self._set_out()
        follower = self._follower(goal) if self.settings.follower == "greedy" else None
        for _ in range(self.settings.most_walk):
            action = follower.next_action(self.env.simulator.body) if follower else self._towards(goal)
            if action is None:
                break
            yield action
        if self.env.world.distance(receptacle) >= REACH:
            return failure("cannot reach")
        return SUCCESS

    def look_at(self, receptacle: str) -> Skill:
        """Turn the camera until a receptacle is in view."""
        aim = np.asarray(self.env.world.receptacles[receptacle].pose.position)
        for _ in range(self.settings.most_look):
            if self._in_view(receptacle):
                return SUCCESS
            yield self._turn_to(aim)
        return SUCCESS if self._in_view(receptacle) else failure("out of sight")

    def pick_up(self, thing: str) -> Skill:
        """Take an object that is in view and within reach."""
        world = self.env.world
        if world.holding == thing:
            return SUCCESS
        if world.holding is not None:
            yield from self._grab(thing)
            return failure(f"already holding {world.objects[world.holding].name}")
        yield from self._grab(thing)
        return SUCCESS if world.holding == thing else failure(self._reason)

    def place(self, thing: str, receptacle: str) -> Skill:
        """Put the object in the hand on a receptacle that is in view and within reach."""
        world = self.env.world
        if world.holding is None:
            return not_attempted("holding nothing")
        if world.holding != thing:
            return failure(f"holding {world.objects[world.holding].name} instead")
        yield from self._grab(receptacle)
        return SUCCESS if world.holding is None else failure(self._reason)

    def _grab(self, key: str) -> Generator[Action, None, None]:
        self.env.aim(key)
        yield Action.GRAB_RELEASE

    @property
    def _reason(self) -> str:
        return self.env.last_grab.reason if self.env.last_grab else "nothing happened"

    def _set_out(self) -> None:
        """Called before a walk."""

    def _in_view(self, key: str) -> bool:
        return key in self.env.visible

    def _standpoint(self, receptacle: str) -> Array:
        """The place nearest to a receptacle from which it is in view and within reach; else the nearest place."""
        thing, simulator = self.env.world.receptacles[receptacle], self.env.simulator
        navmesh = simulator.navmesh
        centre = np.asarray(thing.pose.position)
        edges = np.concatenate([thing.box.corners(), [centre]])
        order = np.argsort(np.linalg.norm(navmesh.viewpoints - centre[[0, 2]], axis=1))
        for point in navmesh.viewpoints[order]:
            feet = np.array([point[0], navmesh.height, point[1]])
            if np.linalg.norm(edges - feet, axis=1).min() > REACH:
                break
            if receptacle in simulator.visible(self._facing(point, centre)):
                return np.asarray(point)
        return navmesh.snap(centre[[0, 2]])

    def _facing(self, point: Array, aim: Array) -> BodyPose:
        """The posture at a point that has the aim in the middle of the picture."""
        camera, navmesh = self.env.simulator.camera, self.env.simulator.navmesh
        across = aim[[0, 2]] - point
        rise = aim[1] - navmesh.height - camera.above_floor
        yaw = float(np.arctan2(-across[0], -across[1]))
        return BodyPose(float(point[0]), float(point[1]), yaw, float(np.arctan2(rise, np.linalg.norm(across))))

    def _follower(self, goal: Array) -> GreedyFollower:
        return GreedyFollower(self.env.simulator.navmesh, goal, self.settings.goal_radius)

    def _towards(self, goal: Array) -> Action | None:
        """The next low-level action on the shortest way to a point, None on arrival."""
        body, navmesh = self.env.simulator.body, self.env.simulator.navmesh
        path = navmesh.path(body.point, goal)
        if not len(path) or self._arrived(path):
            return None
        if isinstance(navmesh, Follower):
            return navmesh.next_action(body, goal)
        ahead = self._aim(path) - body.point
        turn = _signed_angle(forward_of(body.yaw)[[0, 2]], ahead)
        if abs(turn) <= TURN + 1e-5:
            return Action.MOVE_FORWARD
        return Action.TURN_LEFT if turn > 0 else Action.TURN_RIGHT

    def _aim(self, path: Array) -> Array:
        """The bend to walk to: one that is less than a step away would only make the robot turn to and fro.

        Unless the way to the next one is blocked: then the robot has to go round this bend first.
        """
        ways = path[1:] - path[0]
        far = np.flatnonzero(np.linalg.norm(ways, axis=1) > STEP / 2)
        if not len(far) or far[0] == 0:
            return np.asarray(path[1])
        return np.asarray(path[1] if self._blocked(path[0], ways[far[0]]) else path[1 + far[0]])

    def _blocked(self, point: Array, way: Array) -> bool:
        """Whether a step from a point would come to nothing, in some heading that counts as facing that way."""
        ahead = np.arctan2(way[1], way[0]) + np.array([-TURN, 0.0, TURN])
        steps = STEP * np.column_stack([np.cos(ahead), np.sin(ahead)])
        reached = [self.env.simulator.navmesh.move(point, point + step) for step in steps]
        return bool(np.linalg.norm(np.array(reached) - point, axis=1).min() < STEP / 4)

    def _arrived(self, path: Array) -> bool:
        return bool(np.linalg.norm(np.diff(path, axis=0), axis=1).sum() <= self.settings.goal_radius)

    def _turn_to(self, aim: Array) -> Action:
        """Lessen the larger of the angles between the optical axis and an aim."""
        body = self.env.simulator.body
        wanted = self._facing(body.point, aim)
        across = float(np.angle(np.exp(1j * (wanted.yaw - body.yaw))))
        up = wanted.pitch - body.pitch
        if abs(across) > abs(up):
            return Action.TURN_LEFT if across > 0 else Action.TURN_RIGHT
        return Action.LOOK_UP if up > 0 else Action.LOOK_DOWN


def _signed_angle(heading: Array, ahead: Array) -> float:
    """Radians to turn left from a heading to a direction, both (x, z), in (-pi, pi]."""
    yaw = np.arctan2(-ahead[0], -ahead[1]) - np.arctan2(-heading[0], -heading[1])
    return float(np.angle(np.exp(1j * yaw)))
