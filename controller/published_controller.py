"""The controller behind the published LLM-Personalize logs, with its deviations.

The published code deviates from its description in four ways, which show in its logs. A walk first levels the camera
without a low-level action, but later looks are still judged by the last picture; so "look at" can succeed although the
target is out of sight, and the grab after it fails. Walks follow habitat-sim's greedy follower and end less than half a
metre from the chosen standpoint. Looks measure the height of a target in the plane of y and z, so that it depends on
the heading. And "place X on Y" releases whatever is in the hand, whether it is X or not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from housewise.controller.skills import Controller, ControllerSettings, Skill
from housewise.worlds.house.env import RearrangementEnv
from housewise.worlds.house.geometry import Array, forward_vector
from housewise.worlds.house.simulator.base import LowLevelAction

PUBLISHED = ControllerSettings(goal_radius=0.5, max_look=21, follower="greedy")
"""Settings of the published robot's code."""


class PublishedController(Controller):
    """Moves the robot as in the published logs."""

    def __init__(self, env: RearrangementEnv) -> None:
        super().__init__(env, PUBLISHED)

    def place(self, thing: str, receptacle: str) -> Skill:
        """Release the object in the hand, whatever the step calls it."""
        return super().place(self.env.world.holding or thing, receptacle)

    def _before_walk(self) -> None:
        simulator = self.env.simulator
        simulator.stand(replace(simulator.body, pitch=0.0))

    def _next_camera_action(self, aim: Array) -> LowLevelAction:
        body, camera = self.env.simulator.body, self.env.simulator.camera
        camera_position = np.array([body.x, self.env.simulator.navmesh.height + camera.above_floor, body.z])
        wanted = aim - camera_position
        # The optical axis.
        ray = np.asarray(np.cos(body.pitch) * forward_vector(body.yaw) + [0.0, np.sin(body.pitch), 0.0])
        cross = ray[0] * wanted[2] - ray[2] * wanted[0]
        turn = float(np.arctan2(cross, ray[0] * wanted[0] + ray[2] * wanted[2]))
        rise = _angle_from_vertical(ray) - _angle_from_vertical(wanted)
        if abs(turn) > abs(rise):
            return LowLevelAction.TURN_LEFT if turn < 0 else LowLevelAction.TURN_RIGHT
        return LowLevelAction.LOOK_UP if rise > 0 else LowLevelAction.LOOK_DOWN


def _angle_from_vertical(way: Array) -> float:
    """Return the angle between the vertical and a direction's projection on the plane of y and z, radians."""
    return float(np.arctan2(abs(way[2]), way[1]))
