"""Habitat's own navigation: Recast's and Detour's mesh, asked through habitat-sim's PathFinder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from household.errors import DataError
from household.navigation import Array, NavMesh


class PathFinderNavMesh(NavMesh):
    """A navigation mesh as habitat-sim reads it from its file; see household.navigation.NavMesh.

    Viewpoints and area are those of the same file as we read it.

    Args:
        file: Recast's ``.navmesh``.
        like: the mesh as we read it.

    Raises:
        DataError: when habitat-sim cannot read the file.
    """

    def __init__(self, file: Path, like: NavMesh) -> None:
        from habitat_sim import nav

        super().__init__(like.area, like.height, like.viewpoints)
        self._nav: Any = nav
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

    def _shortest(self, start: ArrayLike, end: ArrayLike) -> Any:
        way = self._nav.ShortestPath()
        way.requested_start = self._world(self.snap(start))
        way.requested_end = self._world(self.snap(end))
        self.pathfinder.find_path(way)
        return way

    def _world(self, point: ArrayLike) -> Any:
        x, z = np.asarray(point, dtype=np.float32)
        return np.array([x, self.height, z], dtype=np.float32)
