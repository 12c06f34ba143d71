"""Simulators for playback: one with an additional camera, and one without sensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from housewise.playback.bounding_boxes import BoundingBox, find_bounding_boxes
from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.geometry import Pose, Vec3
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator import RAYCAST, SimulatorChoice, open_simulator
from housewise.worlds.house.simulator.base import BodyPose, Camera, Observation
from housewise.worlds.house.simulator.delegating import DelegatingSimulator
from housewise.worlds.house.simulator.house_simulator import HouseSimulator

Picture = NDArray[np.uint8]
PLAYBACK_CAMERA = Camera(512, 384)
"""Camera for people to look at, with a higher resolution than the robot's."""


@dataclass(frozen=True, eq=False)
class CameraImage:
    """A picture and the objects in it.

    Attributes:
        picture: (height, width, 3) uint8.
        objects: Bounding box of each visible object, by name.
        places: Position of each object in the house, metres. A held object has none.
    """

    picture: Picture
    objects: dict[str, BoundingBox]
    places: dict[str, Vec3]


class PlaybackSimulator(DelegatingSimulator):
    """A simulator with an additional camera that takes the pictures.

    The additional camera does not replace the robot's own, since grabs depend on what the robot's camera sees.

    Args:
        camera: The additional camera.
        simulator: Name of the simulator, and the device on which it renders.

    Raises:
        UserError: If the simulator is not available.
    """

    def __init__(self, camera: Camera = PLAYBACK_CAMERA, simulator: SimulatorChoice = RAYCAST) -> None:
        super().__init__(open_simulator(simulator, ("instance",)))
        self._camera = open_simulator(simulator, ("rgb", "instance"), camera)
        self.object_poses: dict[str, Pose | None] = {}

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """See Simulator.reset."""
        self._camera.reset(scene, receptacles, objects, body)
        super().reset(scene, receptacles, objects, body)
        self.object_poses = {thing.key: thing.pose for thing in objects}

    def move_object(self, key: str, pose: Pose | None) -> None:
        """See Simulator.move_object."""
        super().move_object(key, pose)
        self._camera.move_object(key, pose)
        self.object_poses[key] = pose

    def close(self) -> None:
        """See Simulator.close."""
        self._simulator.close()
        self._camera.close()

    def capture_rgb(self) -> Picture:
        """Return a picture of what the robot sees, (height, width, 3)."""
        return self._camera.observe(self.body).rgb

    def capture(self, names: Mapping[str, str]) -> CameraImage:
        """Return a picture of what the robot sees and the bounding boxes of objects.

        Args:
            names: Names of the objects by key.
        """
        view = self._camera.observe(self.body)
        numbers = {number: names[key] for number, key in enumerate(self._camera.keys) if key in names}
        places = {names[key]: pose.position for key, pose in self.object_poses.items() if pose is not None}
        return CameraImage(view.rgb, find_bounding_boxes(view.instance, numbers), places)


class SensorlessSimulator(HouseSimulator):
    """A house without sensors in which the robot stands where it is put, to follow a record without pictures.

    Attributes:
        object_poses: Pose of each object by key. None for the held object.
    """

    def __init__(self) -> None:
        super().__init__(sensors=())
        self.object_poses: dict[str, Pose | None] = {}

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """See Simulator.reset."""
        self.navmesh = scene.navmesh
        self.body = body.moved_to(scene.navmesh.snap(body.point))
        self.object_poses = {thing.key: thing.pose for thing in objects}

    def observe(self, body: BodyPose | None = None) -> Observation:
        """Not available: there is no camera."""
        raise NotImplementedError("this simulator has no camera")

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
