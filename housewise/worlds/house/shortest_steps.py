"""Estimates how few low-level steps a task needs, as a reference for the steps of an episode."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from housewise.worlds.house.episode import RearrangementEpisode
from housewise.worlds.house.grab_rules import REACH
from housewise.worlds.house.navmesh import Array
from housewise.worlds.house.scene import Receptacle, Scene
from housewise.worlds.house.simulator.base import STEP


def estimate_shortest_steps(scene: Scene, episode: RearrangementEpisode) -> float | None:
    """Estimate the number of low-level steps of a robot that knows all placements and correct receptacles.

    The robot carries the nearest misplaced object to its nearest correct receptacle and continues from there. The
    estimate counts a grab and a release for each object, and steps forward along shortest paths, minus the robot's
    reach at furniture. It ignores turning, looking, searching and free space, so a robot is rarely as fast. Another
    order of the objects may be a little shorter.

    Args:
        scene: The house.
        episode: The episode. Objects without a correct receptacle are ignored.

    Returns:
        The number of steps, or None if no object can be placed correctly or the robot cannot reach one.
    """
    waiting = [
        (scene.by_key[thing.receptacle], places)
        for thing in episode.misplaced_objects
        if (places := [scene.by_key[key] for key in episode.receptacles if key in thing.correct])
    ]
    count, metres = len(waiting), 0.0
    x, _, z = episode.start.position
    # Distances are to the middle of furniture, and the robot stops within its reach. So a path from its start is
    # shorter by one reach, and a path between two pieces of furniture by two.
    here, reach = np.array([x, z]), REACH
    while waiting:
        distances = [_distance(scene, here, source) - reach for source, _ in waiting]
        source, places = waiting.pop(int(np.argmin(distances)))
        place, carried = _nearest(scene, source, places)
        metres += max(0.0, min(distances)) + max(0.0, carried - 2 * REACH)
        here, reach = _centre(place), 2 * REACH
    return 2 * count + metres / STEP if count and np.isfinite(metres) else None


def _nearest(scene: Scene, source: Receptacle, places: Sequence[Receptacle]) -> tuple[Receptacle, float]:
    """Return the nearest of some receptacles and its distance in metres."""
    # Every path ends at the source, because the navmesh caches paths by their end.
    distances = [_distance(scene, _centre(place), source) for place in places]
    nearest = int(np.argmin(distances))
    return places[nearest], distances[nearest]


def _distance(scene: Scene, point: Array, source: Receptacle) -> float:
    """Return the distance from a point to a receptacle in metres."""
    return scene.navmesh.distance(point, _centre(source))


def _centre(place: Receptacle) -> Array:
    return np.asarray(place.box.centre)[[0, 2]]
