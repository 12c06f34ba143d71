"""Navigation with habitat-sim's PathFinder, which uses Recast and Detour."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from housewise.core.errors import DataError
from housewise.worlds.house.navmesh import Array, NavMesh
from housewise.worlds.house.simulator.base import STEP, TURN, BodyPose, LowLevelAction

_NEAR = 0.75 * STEP
"""Distance from the goal at which the follower stops, metres; the default of habitat-sim."""
_THRASHING = 16
"""Number of alternating turns after which the follower moves forward; the default of habitat-sim."""


class PathFinderNavMesh(NavMesh):
    """A navigation mesh that habitat-sim reads from its file; see housewise.worlds.house.navmesh.NavMesh.

    Args:
        file: A ``.navmesh`` file of Recast.
        like: The same mesh from our own reader, which provides the area and the viewpoints.

    Raises:
        DataError: If habitat-sim cannot read the file.
    """

    def __init__(self, file: Path, like: NavMesh) -> None:
        import magnum
        from habitat_sim import nav

        super().__init__(like.area, like.height, like.viewpoints)
        self._nav: Any = nav
        self._magnum: Any = magnum
        self._goal: Array | None = None
        self.pathfinder: Any = nav.PathFinder()
        if not file.is_file() or not self.pathfinder.load_nav_mesh(str(file)):
            raise DataError(f"{file}: habitat-sim cannot read this navigation mesh; fetch the file again")

    def contains(self, point: ArrayLike) -> bool:
        """See NavMesh.contains."""
        return bool(self.pathfinder.is_navigable(self._world(point)))

    def snap(self, point: ArrayLike) -> Array:
        """See NavMesh.snap."""
        snapped = np.asarray(self.pathfinder.snap_point(self._world(point)), dtype=np.float64)
        return super().snap(point) if np.isnan(snapped).any() else snapped[[0, 2]]

    def sees(self, start: ArrayLike, end: ArrayLike) -> bool:
        """See NavMesh.sees."""
        reached = self.pathfinder.try_step_no_sliding(self._world(start), self._world(end))
        return bool(np.linalg.norm(np.asarray(reached)[[0, 2]] - np.asarray(end)) < 1e-3)

    def path(self, start: ArrayLike, end: ArrayLike) -> Array:
        """See NavMesh.path."""
        way = self._shortest(start, end)
        return np.asarray(way.points, dtype=np.float64)[:, [0, 2]] if len(way.points) else np.empty((0, 2))

    def distance(self, start: ArrayLike, end: ArrayLike) -> float:
        """See NavMesh.distance."""
        return float(self._shortest(start, end).geodesic_distance)

    def move(self, start: ArrayLike, end: ArrayLike) -> Array:
        """See NavMesh.move."""
        reached = self.pathfinder.try_step(self._world(start), self._world(end))
        return np.asarray(reached, dtype=np.float64)[[0, 2]]

    def next_action(self, body: BodyPose, goal: NDArray[np.float64]) -> LowLevelAction | None:
        """See ActionFollower. Uses habitat-sim's greedy follower of geodesic shortest paths."""
        if self._goal is None or not np.array_equal(self._goal, goal):
            self._follower.reset()
            self._goal = np.array(goal)
        turned = self._magnum.Quaternion.rotation(self._magnum.Rad(body.yaw), self._magnum.Vector3.y_axis())
        here, there = (self._magnum.Vector3(*map(float, self._world(point))) for point in (body.point, self.snap(goal)))
        return self._actions.get(self._follower.next_action_along(turned, here, there))

    @cached_property
    def _follower(self) -> Any:
        from habitat_sim.agent import ActuationSpec, ObjectControls

        controls = ObjectControls()
        controls.move_filter_fn = self.pathfinder.try_step
        turn = float(np.rad2deg(TURN))

        def mover(name: str, amount: float) -> Callable[[Any], bool]:
            specification = ActuationSpec(amount)
            return lambda node: bool(controls(node, name, specification, True))

        moves = (mover("move_forward", STEP), mover("turn_left", turn), mover("turn_right", turn))
        return self._nav.GreedyGeodesicFollowerImpl(self.pathfinder, *moves, _NEAR, STEP, TURN, True, _THRASHING)

    @cached_property
    def _actions(self) -> dict[Any, LowLevelAction]:
        codes = self._nav.GreedyFollowerCodes
        return {
            codes.FORWARD: LowLevelAction.MOVE_FORWARD,
            codes.LEFT: LowLevelAction.TURN_LEFT,
            codes.RIGHT: LowLevelAction.TURN_RIGHT,
        }

    def _shortest(self, start: ArrayLike, end: ArrayLike) -> Any:
        way = self._nav.ShortestPath()
        way.requested_start = self._world(self.snap(start))
        way.requested_end = self._world(self.snap(end))
        self.pathfinder.find_path(way)
        return way

    def _world(self, point: ArrayLike) -> Any:
        x, z = np.asarray(point, dtype=np.float32)
        return np.array([x, self.height, z], dtype=np.float32)
