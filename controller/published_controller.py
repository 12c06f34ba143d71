"""The controller behind the published LLM-Personalize logs, with its habits.

Four habits of the published code shape its logs. Setting out for a place levels the camera at once, but the picture
that later looks are judged by is the last one taken; so "look at" can succeed at something that is out of sight by
then, and the grab that follows fails. Walking is by habitat-sim's greedy follower, and ends less than half a metre of
way from the chosen standpoint. Looking takes for the height of a thing above the optical axis what shows in the plane
of y and z, so that it depends on the heading. And "place X on Y" puts down whatever is in the hand, X or not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from housewise.controller.skills import Controller, ControllerSettings, Skill
from housewise.worlds.house.env import RearrangementEnv
from housewise.worlds.house.geometry import Array, forward_of
from housewise.worlds.house.simulator.base import Action, BodyPose

PUBLISHED = ControllerSettings(goal_radius=0.5, most_look=21, follower="greedy")
"""As the published robot's code has it."""


class PublishedController(Controller):
    """Moves as the robot in the published logs did."""

    def __init__(self, env: RearrangementEnv) -> None:
        super().__init__(env, PUBLISHED)

    def place(self, thing: str, receptacle: str) -> Skill:
        """Put down what is in the hand, whatever the instruction called it."""
        return super().place(self.env.world.holding or thing, receptacle)

    def _set_out(self) -> None:
        simulator = self.env.simulator
        simulator.stand(replace(simulator.body, pitch=0.0))

    def _turn_to(self, aim: Array) -> Action:
        body, camera = self.env.simulator.body, self.env.simulator.camera
        lens = np.array([body.x, self.env.simulator.navmesh.height + camera.above_floor, body.z])
        ray, wanted = _ray(body), aim - lens
        across = ray[0] * wanted[2] - ray[2] * wanted[0]
        turn = float(np.arctan2(across, ray[0] * wanted[0] + ray[2] * wanted[2]))
        rise = _from_upright(ray) - _from_upright(wanted)
        if abs(turn) > abs(rise):
            return Action.TURN_LEFT if turn < 0 else Action.TURN_RIGHT
        return Action.LOOK_UP if rise > 0 else Action.LOOK_DOWN


def _ray(body: BodyPose) -> Array:
    """The optical axis, (3,)."""
    return np.asarray(np.cos(body.pitch) * forward_of(body.yaw) + [0.0, np.sin(body.pitch), 0.0])


def _from_upright(way: Array) -> float:
    """Radians from upright, of a direction's shadow on the plane of y and z."""
    return float(np.arctan2(abs(way[2]), way[1]))
