"""The greedy follower of geodesic paths: habitat-sim's rule for the next low-level action on the way to a goal.

The rule is that of habitat-sim's ``GreedyGeodesicFollower`` (``esp/nav/GreedyFollower.cpp``), written anew: of all ways
to turn on the spot and then take one step, the best is the one that brings the robot closest to its goal for the
fewest turns, and without running or coming close to a wall.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

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
_THRASHING = 16


class GreedyFollower:
    """Chooses the next action towards a goal.

    Args:
        navmesh: where the robot walks.
        goal: where to, (x, z), metres.
        radius: metres of way from the goal at which it has arrived.
        fix_thrashing: after 16 turns to and fro, carry out a whole plan of turns and a step without thinking again.
    """

    def __init__(self, navmesh: NavMesh, goal: Array, radius: float = NEAR_GOAL, fix_thrashing: bool = True) -> None:
        self._navmesh = navmesh
        self._goal = goal
        self._radius = radius
        self._fix_thrashing = fix_thrashing
        self._taken: list[Action] = []
        self._planned: list[Action] = []
        self._steps: dict[tuple[float, float, float], tuple[float, float]] = {}

    def next_action(self, body: BodyPose) -> Action | None:
        """The next low-level action; None on arrival, or where there is no way or no step leads anywhere."""
        if not self._planned:
            plan = self._plan(body)
            if not plan:
                return None
            self._planned = plan if self._fix_thrashing and self._thrashes() else plan[:1]
        self._taken = [*self._taken, self._planned.pop(0)][-_THRASHING:]
        return self._taken[-1]

    def _plan(self, body: BodyPose) -> list[Action]:
        """The best turns and the step after them."""
        way = self._navmesh.distance(body.point, self._goal)
        if not self._radius <= way < math.inf:
            return []
        best, plan = -_COST_OF_COLLIDING, []
        for turns in range(_MOST_TURNS + 1):
            for turn, sign in ((Action.TURN_LEFT, 1), (Action.TURN_RIGHT, -1)):
                rest, cost = self._step(replace(body, yaw=body.yaw + sign * turns * TURN))
                reward = (way - rest) / STEP - cost - turns * _COST_OF_A_TURN
                if reward > best:
                    best, plan = reward, [*[turn] * turns, Action.MOVE_FORWARD]
            if best > _GOOD_ENOUGH:
                break
        return plan

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

    def _thrashes(self) -> bool:
        """Whether it has only turned, each time against the last."""
        turns = np.array(self._taken)
        if len(turns) < _THRASHING or not np.isin(turns, (Action.TURN_LEFT, Action.TURN_RIGHT)).all():
            return False
        return bool((turns[1:] != turns[:-1]).all())
