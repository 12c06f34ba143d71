"""The greedy follower of geodesic paths: habitat-sim's rule for the next low-level action on the way to a goal.

The rule is that of habitat-sim's ``GreedyGeodesicFollower`` (``esp/nav/GreedyFollower.cpp``), written anew: of all ways
to turn on the spot and then take one step, the best is the one that brings the robot closest to its goal for the
fewest turns, and without running into a wall or coming close to one. Habitat-sim also watches for robots that turn to
and fro for ever. Here what a step is worth is worked out once for a place and a heading, and a turn towards the best
step only makes it better: there is nothing to watch for.
"""

from __future__ import annotations

import math
from dataclasses import replace

from housewise.worlds.house.geometry import Array, forward_of
from housewise.worlds.house.navigation import NavMesh
from housewise.worlds.house.simulator.base import STEP, TURN, Action, BodyPose

NEAR_GOAL = 0.75 * STEP
"""Where habitat-sim's follower stops unless it is told otherwise, metres from the goal."""

_MOST_TURNS = 18
_GOOD_ENOUGH = 0.99
_COST_OF_A_TURN = 0.0125
_COST_OF_COLLIDING = 0.25
_COST_OF_CLOSENESS = 0.05
_CLOSE = 0.2
_BUMP = 1e-5


class GreedyFollower:
    """Chooses the next action towards a goal.

    Args:
        navmesh: where the robot walks.
        goal: where to, (x, z), metres.
        radius: metres of way from the goal at which it has arrived.
    """

    def __init__(self, navmesh: NavMesh, goal: Array, radius: float = NEAR_GOAL) -> None:
        self._navmesh = navmesh
        self._goal = goal
        self._radius = radius
        self._steps: dict[tuple[float, float, float], tuple[float, float]] = {}

    def next_action(self, body: BodyPose) -> Action | None:
        """The next low-level action; None on arrival, or where there is no way or no step leads anywhere."""
        way = self._navmesh.distance(body.point, self._goal)
        if not self._radius <= way < math.inf:
            return None
        best, action = -_COST_OF_COLLIDING, None
        for turns in range(_MOST_TURNS + 1):
            for turn, sign in ((Action.TURN_LEFT, 1), (Action.TURN_RIGHT, -1)):
                rest, cost = self._step(replace(body, yaw=body.yaw + sign * turns * TURN))
                reward = (way - rest) / STEP - cost - turns * _COST_OF_A_TURN
                if reward > best:
                    best, action = reward, turn if turns else Action.MOVE_FORWARD
            if best > _GOOD_ENOUGH:
                break
        return action

    def _step(self, body: BodyPose) -> tuple[float, float]:
        """The way left after a step ahead, metres, and what the step costs."""
        # A robot that turns on the spot weighs the same steps again and again.
        key = (body.x, body.z, round(body.yaw % (2 * math.pi), 6))
        if key not in self._steps:
            self._steps = {known: step for known, step in self._steps.items() if known[:2] == key[:2]}
            self._steps[key] = self._weigh(body)
        return self._steps[key]

    def _weigh(self, body: BodyPose) -> tuple[float, float]:
        start = body.point
        reached = self._navmesh.move(start, start + STEP * forward_of(body.yaw)[[0, 2]])
        collided = float(((reached - start) ** 2).sum()) + _BUMP < STEP**2
        close = self._navmesh.clearance(reached) < _CLOSE
        return self._navmesh.distance(reached, self._goal), collided * _COST_OF_COLLIDING + close * _COST_OF_CLOSENESS
