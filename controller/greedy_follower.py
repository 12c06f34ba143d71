"""The greedy follower of geodesic paths: habitat-sim's rule for the next low-level action on the way to a goal.

This is a new implementation of the rule of habitat-sim's ``GreedyGeodesicFollower`` (``esp/nav/GreedyFollower.cpp``).
Of all turns on the spot followed by one step, it chooses the one that brings the robot closest to its goal with the
fewest turns, without colliding with a wall or coming close to one. Habitat-sim also detects robots that turn left and
right forever. That cannot happen here: the reward of a step is computed once per position and heading, and each turn
towards the best step improves the reward.
"""

from __future__ import annotations

import math
from dataclasses import replace

from housewise.worlds.house.geometry import Array, forward_vector
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.simulator.base import STEP, TURN, BodyPose, LowLevelAction

NEAR_GOAL = 0.75 * STEP
"""Distance from the goal at which habitat-sim's follower stops by default, metres."""

_MAX_TURNS = 18
_GOOD_REWARD = 0.99
_TURN_COST = 0.0125
_COLLISION_COST = 0.25
_OBSTACLE_COST = 0.05
_MIN_CLEARANCE = 0.2
_COLLISION_TOLERANCE = 1e-5


class GreedyFollower:
    """Chooses the next action on the way to a goal.

    Args:
        navmesh: Navigation mesh of the house.
        goal: Goal (x, z), metres.
        radius: Geodesic distance from the goal at which the robot has arrived, metres.
    """

    def __init__(self, navmesh: NavMesh, goal: Array, radius: float = NEAR_GOAL) -> None:
        self._navmesh = navmesh
        self._goal = goal
        self._radius = radius
        self._steps: dict[tuple[float, float, float], tuple[float, float]] = {}

    def next_action(self, body: BodyPose) -> LowLevelAction | None:
        """Return the next low-level action. None on arrival, or if no step leads closer."""
        way = self._navmesh.distance(body.point, self._goal)
        if not self._radius <= way < math.inf:
            return None
        best, action = -_COLLISION_COST, None
        for turns in range(_MAX_TURNS + 1):
            for turn, sign in ((LowLevelAction.TURN_LEFT, 1), (LowLevelAction.TURN_RIGHT, -1)):
                rest, cost = self._step(replace(body, yaw=body.yaw + sign * turns * TURN))
                reward = (way - rest) / STEP - cost - turns * _TURN_COST
                if reward > best:
                    best, action = reward, turn if turns else LowLevelAction.MOVE_FORWARD
            if best > _GOOD_REWARD:
                break
        return action

    def _step(self, body: BodyPose) -> tuple[float, float]:
        """Return the geodesic distance left after a step ahead, metres, and the cost of the step."""
        # A robot that turns on the spot evaluates the same steps repeatedly.
        key = (body.x, body.z, round(body.yaw % (2 * math.pi), 6))
        if key not in self._steps:
            self._steps = {known: step for known, step in self._steps.items() if known[:2] == key[:2]}
            self._steps[key] = self._evaluate_step(body)
        return self._steps[key]

    def _evaluate_step(self, body: BodyPose) -> tuple[float, float]:
        start = body.point
        reached = self._navmesh.move(start, start + STEP * forward_vector(body.yaw)[[0, 2]])
        collided = float(((reached - start) ** 2).sum()) + _COLLISION_TOLERANCE < STEP**2
        is_close = self._navmesh.clearance(reached) < _MIN_CLEARANCE
        return self._navmesh.distance(reached, self._goal), collided * _COLLISION_COST + is_close * _OBSTACLE_COST
