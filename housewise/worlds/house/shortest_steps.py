"""About the least work that a task takes, from where everything stands: what an episode's steps are compared with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from housewise.worlds.house.episode import RearrangementEpisode
from housewise.worlds.house.navmesh import Array
from housewise.worlds.house.scene import Receptacle, Scene
from housewise.worlds.house.simulator.base import STEP
from housewise.worlds.house.state import REACH


def estimate_shortest_steps(scene: Scene, episode: RearrangementEpisode) -> float | None:
    """Estimate how many low-level steps a robot needs that knows where everything is and where it is wanted.

    It takes the nearest misplaced object first, carries it to the nearest receptacle where people want it, and goes on
    from there. Counted are one grab and one release for each object, and steps forward along the shortest ways around
    walls and furniture, less the robot's reach where a way begins or ends at furniture. Turning, looking, searching and
    room on receptacles are left out, so that hardly any robot is as fast; another order may be a little shorter.

    Args:
        scene: The house.
        episode: What stands where at the start. Objects that people want nowhere are left out.

    Returns:
        The steps, or None where nothing can be tidied or the robot cannot get there.
    """
    waiting = [
        (scene.by_key[thing.receptacle], places)
        for thing in episode.misplaced_objects
        if (places := [scene.by_key[key] for key in episode.receptacles if key in thing.correct])
    ]
    count, metres = len(waiting), 0.0
    x, _, z = episode.start.position
    here, reach = np.array([x, z]), REACH
    while waiting:
        ways = [_way(scene, here, source) - reach for source, _ in waiting]
        source, places = waiting.pop(int(np.argmin(ways)))
        place, carried = _nearest(scene, source, places)
        metres += max(0.0, min(ways)) + max(0.0, carried - 2 * REACH)
        here, reach = _middle(place), 2 * REACH
    return 2 * count + metres / STEP if count and np.isfinite(metres) else None


def _nearest(scene: Scene, source: Receptacle, places: Sequence[Receptacle]) -> tuple[Receptacle, float]:
    """The nearest of some receptacles, and how far it is in metres."""
    ways = [_way(scene, _middle(place), source) for place in places]
    nearest = int(np.argmin(ways))
    return places[nearest], ways[nearest]


def _way(scene: Scene, point: Array, source: Receptacle) -> float:
    """Metres to a piece of furniture that things are taken from; the navmesh keeps what it works out for such ends."""
    return scene.navmesh.distance(point, _middle(source))


def _middle(place: Receptacle) -> Array:
    return np.asarray(place.box.centre)[[0, 2]]
