"""Skills: how the robot carries out a high-level action by low-level ones.

A skill is a generator. It yields low-level actions, is resumed after each of them, and returns a SkillOutcome. Walks
use the navigation mesh of the house, as Housekeep's own controller does. The caller ensures that the target of a skill
is known to the robot.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum
from typing import Literal

import numpy as np
from pydantic import Field

from housewise.controller.bend_follower import BendFollower
from housewise.controller.greedy_follower import GreedyFollower
from housewise.core.settings import MAX_COUNT, Settings
from housewise.worlds.house.env import RearrangementEnv
from housewise.worlds.house.geometry import Array
from housewise.worlds.house.grab_rules import REACH
from housewise.worlds.house.high_level_actions import HOLDING_NOTHING
from housewise.worlds.house.simulator.base import BodyPose, LowLevelAction


class ActionStatus(str, Enum):
    """How a high-level action ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class SkillOutcome:
    """How a high-level action ended, and the reason in words."""

    status: ActionStatus
    reason: str = ""


Skill = Generator[LowLevelAction, None, SkillOutcome]

SUCCESS = SkillOutcome(ActionStatus.SUCCEEDED)


def failure(reason: str) -> SkillOutcome:
    """Return the outcome of an action that was tried and did not work."""
    return SkillOutcome(ActionStatus.FAILED, reason)


def not_attempted(reason: str) -> SkillOutcome:
    """Return the outcome of an action that was not tried."""
    return SkillOutcome(ActionStatus.SKIPPED, reason)


class ControllerSettings(Settings):
    """Settings of the robot's movements."""

    kind: Literal["standard", "published"] = "standard"
    """Controller: standard, or published, which behaves as in the published logs of LLM-Personalize and ignores the
    other settings."""
    goal_radius: float = Field(default=0.25, gt=0)
    """Distance from the chosen standpoint at which a walk ends, in metres."""
    max_walk: int = Field(default=500, ge=1, le=MAX_COUNT)
    """Maximum number of low-level steps of a walk."""
    max_look: int = Field(default=100, ge=0, le=MAX_COUNT)
    """Maximum number of camera actions of one look at a receptacle."""
    follower: Literal["own", "greedy"] = "own"
    """How a walk chooses its next step: own turns to the next bend of the path (``bend_follower``), greedy evaluates
    every possible step, as habitat-sim does (``greedy_follower``)."""


class Controller:
    """Makes the skills of the robot.

    Args:
        env: The house. Its state is read at every step.
        settings: Settings of the skills.
    """

    def __init__(self, env: RearrangementEnv, settings: ControllerSettings | None = None) -> None:
        self.env = env
        self.settings = settings or ControllerSettings()

    def go_to(self, receptacle: str) -> Skill:
        """Walk to where a receptacle can be seen and reached.

        Args:
            receptacle: Key of the receptacle. For an object, the receptacle it is on; for a room, its anchor.
        """
        goal = self._standpoint(receptacle)
        self._before_walk()
        make_follower = GreedyFollower if self.settings.follower == "greedy" else BendFollower
        follower = make_follower(self.env.simulator.navmesh, goal, self.settings.goal_radius)
        for _ in range(self.settings.max_walk):
            action = follower.next_action(self.env.simulator.body)
            if action is None:
                break
            yield action
        if self.env.world.distance_to(receptacle) >= REACH:
            return failure("cannot reach")
        return SUCCESS

    def look_at(self, receptacle: str) -> Skill:
        """Turn the camera until a receptacle is in view."""
        aim = np.asarray(self.env.world.receptacles[receptacle].pose.position)
        for _ in range(self.settings.max_look):
            if receptacle in self.env.visible:
                return SUCCESS
            yield self._next_camera_action(aim)
        return SUCCESS if receptacle in self.env.visible else failure("out of sight")

    def pick_up(self, thing: str) -> Skill:
        """Pick up an object that is in view and within reach, which ``grab_rules`` checks."""
        world = self.env.world
        held = world.holding
        if held == thing:
            return SUCCESS
        yield from self._grab(thing)
        if held is not None:
            return failure(f"already holding {world.objects[held].name}")
        return SUCCESS if world.holding == thing else failure(self._grab_reason)

    def place(self, thing: str, receptacle: str) -> Skill:
        """Place the object in the hand on a receptacle that is in view and within reach."""
        world = self.env.world
        if world.holding is None:
            return not_attempted(HOLDING_NOTHING)
        if world.holding != thing:
            return failure(f"holding {world.objects[world.holding].name} instead")
        yield from self._grab(receptacle)
        return SUCCESS if world.holding is None else failure(self._grab_reason)

    def _grab(self, key: str) -> Generator[LowLevelAction, None, None]:
        self.env.aim(key)
        yield LowLevelAction.GRAB_RELEASE

    @property
    def _grab_reason(self) -> str:
        return self.env.last_grab.reason if self.env.last_grab else "nothing happened"

    def _before_walk(self) -> None:
        """Called before each walk."""

    def _standpoint(self, receptacle: str) -> Array:
        """Return the nearest point to a receptacle that can see and reach it, else the nearest point of the mesh."""
        thing, simulator = self.env.world.receptacles[receptacle], self.env.simulator
        navmesh = simulator.navmesh
        centre = np.asarray(thing.pose.position)
        edges = np.concatenate([thing.box.corners(), [centre]])
        order = np.argsort(np.linalg.norm(navmesh.viewpoints - centre[[0, 2]], axis=1), kind="stable")
        for point in navmesh.viewpoints[order]:
            feet = np.array([point[0], navmesh.height, point[1]])
            if np.linalg.norm(edges - feet, axis=1).min() > REACH:
                break
            if receptacle in simulator.visible(self._pose_facing(point, centre)):
                return np.asarray(point)
        return navmesh.snap(centre[[0, 2]])

    def _pose_facing(self, point: Array, aim: Array) -> BodyPose:
        """Return the body pose at a point that has a target in the middle of the picture."""
        camera, navmesh = self.env.simulator.camera, self.env.simulator.navmesh
        across = aim[[0, 2]] - point
        rise = aim[1] - navmesh.height - camera.above_floor
        yaw = float(np.arctan2(-across[0], -across[1]))
        return BodyPose(float(point[0]), float(point[1]), yaw, float(np.arctan2(rise, np.linalg.norm(across))))

    def _next_camera_action(self, aim: Array) -> LowLevelAction:
        """Return the camera action that reduces the larger angle between the optical axis and a target."""
        body = self.env.simulator.body
        wanted = self._pose_facing(body.point, aim)
        across = float(np.angle(np.exp(1j * (wanted.yaw - body.yaw))))
        up = wanted.pitch - body.pitch
        if abs(across) > abs(up):
            return LowLevelAction.TURN_LEFT if across > 0 else LowLevelAction.TURN_RIGHT
        return LowLevelAction.LOOK_UP if up > 0 else LowLevelAction.LOOK_DOWN
