"""Simulators in which a record is played again: one with a camera for people, and one in which nothing is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.geometry import Pose, Vec3
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator import RAYCAST, SimulatorChoice, open_simulator
from housewise.worlds.house.simulator.base import BodyPose, Camera, Observation
from housewise.worlds.house.simulator.delegating import DelegatingSimulator
from housewise.worlds.house.simulator.house import HouseSimulator

Picture = NDArray[np.uint8]
EYE = Camera(512, 384)
"""Finer than the robot's own camera: for people to look at."""

# Of things with fewer pixels nobody can tell what they are.
_LEAST_PIXELS = 40


class BoundingBox(NamedTuple):
    """Where something is in a picture, pixels."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, eq=False)
class CameraImage:
    """A picture, and the objects in it.

    Attributes:
        picture: (height, width, 3).
        objects: where each object is in it, by name.
        places: of all objects in the house, metres; what is in the hand has none.
    """

    picture: Picture
    objects: dict[str, BoundingBox]
    places: dict[str, Vec3]


class PlaybackSimulator(DelegatingSimulator):
    """A simulator with a further camera that takes the pictures.

    What can be grabbed depends on what the robot's own camera shows, so no other camera must replace it.

    Args:
        eye: the further camera.
        simulator: which, and where it renders.

    Raises:
        UserError: when there is no such simulator here.
    """

    def __init__(self, eye: Camera = EYE, simulator: SimulatorChoice = RAYCAST) -> None:
        super().__init__(open_simulator(simulator, ("instance",)))
        self._eye = open_simulator(simulator, ("rgb", "instance"), eye)
        self.object_poses: dict[str, Pose | None] = {}

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """See Simulator.reset."""
        self._eye.reset(scene, receptacles, objects, body)
        super().reset(scene, receptacles, objects, body)
        self.object_poses = {thing.key: thing.pose for thing in objects}

    def move_object(self, key: str, pose: Pose | None) -> None:
        """See Simulator.move_object."""
        super().move_object(key, pose)
        self._eye.move_object(key, pose)
        self.object_poses[key] = pose

    def close(self) -> None:
        """See Simulator.close."""
        self._simulator.close()
        self._eye.close()

    def photo(self) -> Picture:
        """What the robot sees now, (height, width, 3)."""
        return self._eye.observe(self.body).rgb

    def shot(self, names: Mapping[str, str]) -> CameraImage:
        """What the robot sees now, and where the objects are in it.

        Args:
            names: of the objects, by key.
        """
        seen = self._eye.observe(self.body)
        numbers = {number: names[key] for number, key in enumerate(self._eye.keys) if key in names}
        pixels = np.bincount(seen.instance.ravel(), minlength=1)
        large = [number for number in numbers if number < len(pixels) and pixels[number] >= _LEAST_PIXELS]
        extents = {numbers[number]: _extent(seen.instance == number) for number in large}
        places = {names[key]: pose.position for key, pose in self.object_poses.items() if pose is not None}
        return CameraImage(seen.rgb, extents, places)


def _extent(mask: NDArray[np.bool_]) -> BoundingBox:
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    return BoundingBox(int(columns[0]), int(rows[0]), int(columns[-1]), int(rows[-1]))


class SensorlessSimulator(HouseSimulator):
    """A house in which the robot stands where it is put and sees nothing; enough to follow a record without pictures.

    Attributes:
        object_poses: pose of each object by key; None for what is in the hand.
    """

    def __init__(self) -> None:
        super().__init__(sensors=())
        self.object_poses: dict[str, Pose | None] = {}

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """See Simulator.reset."""
        self._navmesh = scene.navmesh
        self._body = body.at(scene.navmesh.snap(body.point))
        self.object_poses = {thing.key: thing.pose for thing in objects}

    def observe(self, body: BodyPose | None = None) -> Observation:
        """Not available: there is no camera."""
        raise NotImplementedError("nothing is seen in this house")

    def visible(self, body: BodyPose | None = None) -> frozenset[str]:
        """See Simulator.visible."""
        return frozenset()

    def aimed_at(self, reach: float) -> str | None:
        """See Simulator.aimed_at."""
        return None

    def move_object(self, key: str, pose: Pose | None) -> None:
        """See Simulator.move_object."""
        self.object_poses[key] = pose

    def close(self) -> None:
        """Nothing to release."""
