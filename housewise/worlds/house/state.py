"""The rules of the task: what can be taken, where it can be put, and what people think of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from housewise.worlds.house.episode import Episode, HouseObject, ShelfState
from housewise.worlds.house.geometry import Box, Pose, yaw_rotation
from housewise.worlds.house.scene import Receptacle, Scene
from housewise.worlds.house.shelf_packing import Shelves
from housewise.worlds.house.simulator.base import Simulator

REACH = 1.5


@dataclass(frozen=True)
class GrabResult:
    """What came of one grab or release.

    Attributes:
        moved: key of the object that changed place, None when nothing happened.
        source: receptacle that it left, None when it was in the hand.
        target: receptacle that it reached, None when it is in the hand now.
        reward: +1 for a correct placement, -1 for taking a correctly placed object, else 0.
        reason: in words, why nothing happened; empty on success.
    """

    moved: str | None = None
    source: str | None = None
    target: str | None = None
    reward: int = 0
    reason: str = ""


@dataclass(frozen=True)
class WorldState:
    """What stands where at some moment; see World.state.

    Attributes:
        placements: receptacle by object; None is the robot's hand.
        poses: by object, of its centre where it stands or stood last.
        shelves: free space by receptacle.
        holding: what is in the hand.
    """

    placements: dict[str, str | None]
    poses: dict[str, Pose]
    shelves: dict[str, ShelfState]
    holding: str | None


class World:
    """The state of an episode: what stands where, what is in the hand.

    Args:
        scene: the house.
        episode: the task.
        simulator: already reset to both.
    """

    def __init__(self, scene: Scene, episode: Episode, simulator: Simulator) -> None:
        self.scene = scene
        self.episode = episode
        self.simulator = simulator
        self.objects: dict[str, HouseObject] = {thing.key: thing for thing in episode.objects}
        self.receptacles: dict[str, Receptacle] = {key: scene.by_key[key] for key in episode.receptacles}
        self.placements: dict[str, str | None] = {thing.key: thing.receptacle for thing in episode.objects}
        self.holding: str | None = None
        self._poses: dict[str, Pose] = {thing.key: thing.pose for thing in episode.objects}
        self._shelves = {
            key: Shelves(episode.shelves.get(key) or _empty(thing.box)) for key, thing in self.receptacles.items()
        }

    @property
    def correct(self) -> dict[str, bool]:
        """Whether each object stands where people want it; what is in the hand does not."""
        return {key: self.placements[key] in thing.correct for key, thing in self.objects.items()}

    @property
    def success_rate(self) -> float:
        """(correct now - correct at the start) / misplaced at the start; it can be negative."""
        misplaced = len(self.episode.misplaced)
        at_start = len(self.objects) - misplaced
        return (sum(self.correct.values()) - at_start) / misplaced if misplaced else 0.0

    @property
    def state(self) -> WorldState:
        """What stands where now, to come back to."""
        shelves = {key: shelf.state for key, shelf in self._shelves.items()}
        return WorldState(dict(self.placements), dict(self._poses), shelves, self.holding)

    def restore(self, state: WorldState) -> None:
        """Put everything where it was."""
        for key, place in state.placements.items():
            pose = state.poses[key]
            if (place, pose) != (self.placements[key], self._poses[key]):
                self.simulator.move_object(key, None if place is None else pose)
        self.placements, self._poses = dict(state.placements), dict(state.poses)
        self._shelves = {key: Shelves(shelf) for key, shelf in state.shelves.items()}
        self.holding = state.holding

    def relations(self, visible: frozenset[str]) -> dict[str, str]:
        """Which object is on which receptacle, for the objects in view."""
        return {key: place for key, place in self.placements.items() if key in visible and place is not None}

    def distance(self, key: str) -> float:
        """Horizontal metres from the robot to a thing's centre or nearest corner, as Housekeep measures reach."""
        if key == self.holding:
            return 0.0
        if key in self.receptacles:
            points = self.receptacles[key].corners
        else:
            points = np.concatenate([self._box(key).corners(), [self._poses[key].position]])
        return float(np.linalg.norm(points[:, [0, 2]] - self.simulator.body.point, axis=1).min())

    def grab_or_release(self, target: str | None, visible: frozenset[str]) -> GrabResult:
        """Take the target object, or put what is in the hand on the target receptacle.

        Args:
            target: key of what is aimed at; None when the ray through the image centre meets nothing in reach.
            visible: keys of what is in view.
        """
        if target is None:
            return GrabResult(reason="nothing within reach")
        if self.holding is None:
            return self._take(target, visible)
        return self._put(target, visible)

    def _take(self, key: str, visible: frozenset[str]) -> GrabResult:
        if key not in self.objects:
            return GrabResult(reason="only objects can be picked up")
        source = self.placements[key]
        if source is None or not visible & {key, source}:
            return GrabResult(reason="out of sight")
        if min(self.distance(key), self.distance(source)) > REACH:
            return GrabResult(reason="too far away")
        reward = -1 if self.correct[key] else 0
        self._shelves[source].remove(key)
        self.placements[key], self.holding = None, key
        self.simulator.move_object(key, None)
        return GrabResult(key, source, None, reward)

    def _put(self, target: str, visible: frozenset[str]) -> GrabResult:
        if target not in self.receptacles:
            return GrabResult(reason="objects can only be placed on receptacles")
        if target not in visible:
            return GrabResult(reason="out of sight")
        if self.distance(target) > REACH:
            return GrabResult(reason="too far away")
        key = self.holding or ""
        if not self.stand_on(key, target):
            return GrabResult(reason="no free space")
        self.holding = None
        return GrabResult(key, None, target, 1 if self.correct[key] else 0)

    def stand_on(self, key: str, receptacle: str) -> bool:
        """Stand an object that is in nobody's place on a receptacle; False when there is no room for it."""
        thing = self.objects[key]
        spot = self._shelves[receptacle].insert(key, thing.size[0], thing.size[2])
        if spot is None:
            return False
        self._settle(key, receptacle, (spot.x, spot.z), spot.turned)
        return True

    def arrange(self, placements: dict[str, str | None]) -> None:
        """Put every object where a record says it was; None is the robot's hand.

        Where our packing has no room for what the record found room for, the object is balanced on top of the rest.
        """
        moved = [key for key, place in placements.items() if self.placements[key] != place]
        for key in moved:
            here = self.placements[key]
            if here is not None:
                self._shelves[here].remove(key)
            self.placements[key] = None
            self.simulator.move_object(key, None)
        for key in moved:
            place = placements[key]
            if place is not None and not self.stand_on(key, place):
                self._balance(key, place)
        held = [key for key, place in placements.items() if place is None]
        self.holding = held[0] if held else None

    def _balance(self, key: str, receptacle: str) -> None:
        """Stand an object on top of all that is on a receptacle."""
        middle = self.receptacles[receptacle].box.centre
        below = [self._box(other).top for other, place in self.placements.items() if place == receptacle]
        base = max([self.receptacles[receptacle].box.top, *below])
        self._settle(key, receptacle, (middle[0], middle[2]), False, base)

    def _settle(
        self, key: str, receptacle: str, point: tuple[float, float], turned: bool, base: float | None = None
    ) -> None:
        below = self.receptacles[receptacle].box.top if base is None else base
        position = (point[0], below + self.objects[key].size[1] / 2, point[1])
        pose = Pose(position, yaw_rotation(np.pi / 2 if turned else 0.0))
        self.placements[key], self._poses[key] = receptacle, pose
        self.simulator.move_object(key, pose)

    def _box(self, key: str) -> Box:
        own = Box.centred((0.0, 0.0, 0.0), self.objects[key].size)
        return Box.around(self._poses[key].apply(own.corners()))


def _empty(box: Box) -> ShelfState:
    return ShelfState((box.low[0], box.low[2]), (box.size[0], box.size[2]))
