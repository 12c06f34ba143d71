"""The controller behind the published LLM-Personalize logs, with its habits.

Three habits of the published code shape its logs. Setting out for a place levels the camera at once, but the picture
that later looks are judged by is the last one taken; so "look at" can succeed at something that is out of sight by
then, and the grab that follows fails. And walking ends within half a metre of the chosen standpoint, measured
between corners of the navigation mesh. A third habit: "place X on Y" puts down whatever is in the hand, X or not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from housewise.controller.skills import Controller, ControllerSettings, Skill
from housewise.worlds.house.env import RearrangementEnv
from housewise.worlds.house.geometry import Array


class PublishedController(Controller):
    """Moves as the robot in the published logs did."""

    def __init__(self, env: RearrangementEnv) -> None:
        super().__init__(env, ControllerSettings(goal_radius=0.5))

    def place(self, thing: str, receptacle: str) -> Skill:
        """Put down what is in the hand, whatever the instruction called it."""
        return super().place(self.env.world.holding or thing, receptacle)

    def _set_out(self) -> None:
        simulator = self.env.simulator
        simulator.stand(replace(simulator.body, pitch=0.0))

    def _aim(self, path: Array) -> Array:
        return np.asarray(path[1])

    def _arrived(self, path: Array) -> bool:
        navmesh = self.env.simulator.navmesh
        nearest = navmesh.viewpoints[np.argmin(np.linalg.norm(navmesh.viewpoints - path[0], axis=1))]
        away = float(np.linalg.norm(path[-1] - path[0]))
        return max(navmesh.distance(nearest, path[-1]), away) <= self.settings.goal_radius
