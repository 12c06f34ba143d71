"""The state of the rearrangement task: where all objects are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from housewise.worlds.house.episode import HouseObject, RearrangementEpisode, ShelfState
from housewise.worlds.house.geometry import Box, Pose, yaw_rotation
from housewise.worlds.house.scene import Receptacle, Scene
from housewise.worlds.house.shelf_packing import ShelfPacker
from housewise.worlds.house.simulator.base import Simulator


@dataclass(frozen=True)
class HouseSnapshot:
    """A copy of a ``HouseState`` to which it can be restored.

    Attributes:
        placements: Receptacle of each object; None is the robot's hand.
        poses: Pose of each object's centre, the last one if the object is in the hand.
        shelves: Free and occupied space of each receptacle.
        holding: Key of the object in the hand, or None.
    """

    placements: dict[str, str | None]
    poses: dict[str, Pose]
    shelves: dict[str, ShelfState]
    holding: str | None


class HouseState:
    """The placements of all objects during an episode.

    Args:
        scene: The house.
        episode: The episode.
        simulator: A simulator that has been reset to the scene and the episode.
    """

    def __init__(self, scene: Scene, episode: RearrangementEpisode, simulator: Simulator) -> None:
        self.scene = scene
        self.episode = episode
        self.simulator = simulator
        self.objects: dict[str, HouseObject] = {thing.key: thing for thing in episode.objects}
        self.receptacles: dict[str, Receptacle] = {key: scene.by_key[key] for key in episode.receptacles}
        self.placements: dict[str, str | None] = {thing.key: thing.receptacle for thing in episode.objects}
        self.holding: str | None = None
        self._poses: dict[str, Pose] = {thing.key: thing.pose for thing in episode.objects}
        self._shelves = {
            key: ShelfPacker(episode.shelves.get(key) or ShelfState.empty(thing.box))
            for key, thing in self.receptacles.items()
        }

    @property
    def correct_by_object(self) -> dict[str, bool]:
        """Whether each object is on a correct receptacle. An object in the hand is not."""
        return {key: self.placements[key] in thing.correct for key, thing in self.objects.items()}

    @property
    def success_rate(self) -> float:
        """The success rate so far: (correct now - correct at the start) / misplaced at the start.

        It can be negative, and is 0 if nothing was misplaced at the start (LLM-Personalize, section 3).
        """
        at_start = len(self.episode.misplaced_objects)
        now = sum(not correct for correct in self.correct_by_object.values())
        return (at_start - now) / at_start if at_start else 0.0

    @property
    def snapshot(self) -> HouseSnapshot:
        """A copy of the current state for ``restore``."""
        shelves = {key: shelf.state for key, shelf in self._shelves.items()}
        return HouseSnapshot(dict(self.placements), dict(self._poses), shelves, self.holding)

    def restore(self, state: HouseSnapshot) -> None:
        """Return to a snapshot of this episode."""
        for key, place in state.placements.items():
            pose = state.poses[key]
            if (place, pose) != (self.placements[key], self._poses[key]):
                self.simulator.move_object(key, None if place is None else pose)
        self.placements, self._poses = dict(state.placements), dict(state.poses)
        self._shelves = {key: ShelfPacker(shelf) for key, shelf in state.shelves.items()}
        self.holding = state.holding

    def visible_placements(self, visible: frozenset[str]) -> dict[str, str]:
        """Return the receptacle of each object in view."""
        return {key: place for key, place in self.placements.items() if key in visible and place is not None}

    def distance_to(self, key: str) -> float:
        """Return the horizontal distance in metres to the nearest corner or the centre, as Housekeep measures reach."""
        if key == self.holding:
            return 0.0
        if key in self.receptacles:
            points = self.receptacles[key].corners
        else:
            points = np.concatenate([self._object_box(key).corners(), [self._poses[key].position]])
        return float(np.linalg.norm(points[:, [0, 2]] - self.simulator.body.point, axis=1).min())

    def pick_up(self, key: str) -> None:
        """Put an object that is on a receptacle into the robot's hand."""
        self._remove_from_receptacle(key)
        self.holding = key

    def place_object(self, key: str, receptacle: str) -> bool:
        """Put an object on a receptacle and return whether there was room for it."""
        thing = self.objects[key]
        spot = self._shelves[receptacle].insert(key, thing.size[0], thing.size[2])
        if spot is None:
            return False
        self._set_pose(key, receptacle, (spot.x, spot.z), spot.turned)
        return True

    def apply_placements(self, placements: dict[str, str | None]) -> None:
        """Put every object on the receptacle that a record names, or into the robot's hand (None).

        An object for which the packing finds no room is stacked on top of the others.
        """
        moved = [key for key, place in placements.items() if self.placements[key] != place]
        for key in moved:
            self._remove_from_receptacle(key)
        for key in moved:
            place = placements[key]
            if place is not None and not self.place_object(key, place):
                self._stack_on_top(key, place)
        held = [key for key, place in placements.items() if place is None]
        self.holding = held[0] if held else None

    def _remove_from_receptacle(self, key: str) -> None:
        receptacle = self.placements[key]
        if receptacle is not None:
            self._shelves[receptacle].remove(key)
        self.placements[key] = None
        self.simulator.move_object(key, None)

    def _stack_on_top(self, key: str, receptacle: str) -> None:
        """Put an object on top of all other objects of a receptacle."""
        middle = self.receptacles[receptacle].box.centre
        below = [self._object_box(other).top for other, place in self.placements.items() if place == receptacle]
        base = max([self.receptacles[receptacle].box.top, *below])
        self._set_pose(key, receptacle, (middle[0], middle[2]), False, base)

    def _set_pose(
        self, key: str, receptacle: str, point: tuple[float, float], turned: bool, base: float | None = None
    ) -> None:
        below = self.receptacles[receptacle].box.top if base is None else base
        position = (point[0], below + self.objects[key].size[1] / 2, point[1])
        pose = Pose(position, yaw_rotation(np.pi / 2 if turned else 0.0))
        self.placements[key], self._poses[key] = receptacle, pose
        self.simulator.move_object(key, pose)

    def _object_box(self, key: str) -> Box:
        own = Box.from_centre((0.0, 0.0, 0.0), self.objects[key].size)
        return Box.bounding(self._poses[key].apply(own.corners()))
