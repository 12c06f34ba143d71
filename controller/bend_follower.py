"""The robot's own follower of paths: it turns towards the next bend of the shortest path and steps."""

from __future__ import annotations

import numpy as np

from housewise.worlds.house.geometry import Array, forward_vector
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.simulator.base import STEP, TURN, ActionFollower, BodyPose, LowLevelAction


class BendFollower:
    """Chooses the next action on the shortest path to a goal.

    Args:
        navmesh: Navigation mesh of the house. A mesh that follows paths itself is asked for the action.
        goal: Goal (x, z), metres.
        radius: Length of the path at which the robot has arrived, metres.
    """

    def __init__(self, navmesh: NavMesh, goal: Array, radius: float) -> None:
        self._navmesh = navmesh
        self._goal = goal
        self._radius = radius

    def next_action(self, body: BodyPose) -> LowLevelAction | None:
        """Return the next low-level action, or None on arrival."""
        path = self._navmesh.path(body.point, self._goal)
        # An empty path, for a goal that cannot be reached, has no length.
        if np.linalg.norm(np.diff(path, axis=0), axis=1).sum() <= self._radius:
            return None
        if isinstance(self._navmesh, ActionFollower):
            return self._navmesh.next_action(body, self._goal)
        ahead = self._next_bend(path) - body.point
        turn = _signed_angle(forward_vector(body.yaw)[[0, 2]], ahead)
        if abs(turn) <= TURN + 1e-5:
            return LowLevelAction.MOVE_FORWARD
        return LowLevelAction.TURN_LEFT if turn > 0 else LowLevelAction.TURN_RIGHT

    def _next_bend(self, path: Array) -> Array:
        """Return the bend of a path to walk to.

        A bend that is less than a step away is skipped, since the robot would only turn left and right in front of it.
        It is not skipped if the way to the next bend is blocked.
        """
        ways = path[1:] - path[0]
        far = np.flatnonzero(np.linalg.norm(ways, axis=1) > STEP / 2)
        if not len(far) or far[0] == 0:
            return np.asarray(path[1])
        return np.asarray(path[1] if self._is_blocked(path[0], ways[far[0]]) else path[1 + far[0]])

    def _is_blocked(self, point: Array, way: Array) -> bool:
        """Whether a step from a point would fail, in some heading that counts as facing a direction."""
        ahead = np.arctan2(way[1], way[0]) + np.array([-TURN, 0.0, TURN])
        steps = STEP * np.column_stack([np.cos(ahead), np.sin(ahead)])
        reached = [self._navmesh.move(point, point + step) for step in steps]
        return bool(np.linalg.norm(np.array(reached) - point, axis=1).min() < STEP / 4)


def _signed_angle(heading: Array, ahead: Array) -> float:
    """Return the left turn from a heading to a direction, both (x, z), in radians in (-pi, pi]."""
    yaw = np.arctan2(-ahead[0], -ahead[1]) - np.arctan2(-heading[0], -heading[1])
    return float(np.angle(np.exp(1j * yaw)))
