"""The interface of simulators: a robot body that moves, a camera with sensors, and objects that can be moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from housewise.core.errors import UserError
from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.geometry import Pose
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.scene import Scene

Sensor = Literal["rgb", "depth", "instance", "semantic"]
SENSORS: tuple[Sensor, ...] = ("rgb", "depth", "instance", "semantic")

STEP = 0.25
"""Length of a step forward, metres."""
TURN = np.deg2rad(10.0)
"""Angle of a turn of the body or the camera, radians."""
LOOK_LIMIT = np.deg2rad(85.0)
"""Greatest angle by which the camera looks up or down, radians."""


class LowLevelAction(IntEnum):
    """The low-level actions of Housekeep, in its order."""

    STOP = 0
    MOVE_FORWARD = 1
    TURN_LEFT = 2
    TURN_RIGHT = 3
    LOOK_UP = 4
    LOOK_DOWN = 5
    GRAB_RELEASE = 6


@dataclass(frozen=True)
class Camera:
    """A pinhole camera.

    Attributes:
        width, height: Size of the image in pixels.
        field_of_view: Horizontal field of view, radians, less than pi.
        above_floor: Height of the lens above the robot's feet, metres.
        min_depth, max_depth: Range of the depth sensor, metres.

    Raises:
        UserError: If the image has no pixels, or the field of view or the range is impossible.
    """

    width: int = 128
    height: int = 128
    field_of_view: float = float(np.pi / 2)
    above_floor: float = 1.5
    min_depth: float = 0.5
    max_depth: float = 5.0

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise UserError(f"camera: width and height must be 1 or more, not {self.width} and {self.height}")
        if not 0 < self.field_of_view < np.pi:
            raise UserError(f"camera: field_of_view must be between 0 and pi radians, not {self.field_of_view}")
        if not 0 <= self.min_depth < self.max_depth:
            raise UserError(f"camera: min_depth {self.min_depth} and max_depth {self.max_depth} are no range of metres")


@dataclass(frozen=True)
class BodyPose:
    """Position and heading of the robot, and pitch of its camera.

    Attributes:
        x, z: Position of the feet, metres.
        yaw: Heading in radians, counter-clockwise seen from above; 0 is -z.
        pitch: Pitch of the camera in radians; positive values look up.
    """

    x: float
    z: float
    yaw: float = 0.0
    pitch: float = 0.0

    @property
    def point(self) -> NDArray[np.float64]:
        """Position (x, z) as an array."""
        return np.array([self.x, self.z])

    def moved_to(self, point: Sequence[float] | NDArray[np.float64]) -> BodyPose:
        """Return the same heading and pitch at another position."""
        return replace(self, x=float(point[0]), z=float(point[1]))


@runtime_checkable
class ActionFollower(Protocol):
    """A path follower that chooses low-level actions; the navigation meshes of some simulators implement it."""

    def next_action(self, body: BodyPose, goal: NDArray[np.float64]) -> LowLevelAction | None:
        """Return the next action on the path to a point (x, z), or None on arrival or without a path."""
        ...


@dataclass(frozen=True, eq=False)
class Observation:
    """Images of the camera's sensors. The array of a sensor that is not used is empty.

    Attributes:
        instance: (height, width) int32, instance number of each pixel; 0 for walls, floor and background.
        rgb: (height, width, 3) uint8.
        depth: (height, width) float32, metres along the optical axis, clipped to the camera's range.
        semantic: (height, width) int32, number of the kind of each pixel; 0 as for ``instance``.
    """

    instance: NDArray[np.int32]
    rgb: NDArray[np.uint8] = field(default_factory=lambda: np.empty((0, 0, 3), np.uint8))
    depth: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))
    semantic: NDArray[np.int32] = field(default_factory=lambda: np.empty((0, 0), np.int32))

    def copy(self) -> Observation:
        """Return an observation with arrays of its own."""
        return Observation(self.instance.copy(), self.rgb.copy(), self.depth.copy(), self.semantic.copy())


class Simulator(Protocol):
    """A simulated house with a robot.

    Attributes:
        camera: The robot's camera.
    """

    camera: Camera

    @property
    def navmesh(self) -> NavMesh:
        """Navigation mesh of the current scene."""

    @property
    def body(self) -> BodyPose:
        """Pose of the robot."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Key of the receptacle or object of each instance number; ``keys[0]`` is empty."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Name of the kind of each semantic number; ``kinds[0]`` is empty."""

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """Load a scene with some receptacles (and its doors), objects, and the robot."""
        ...

    def act(self, action: LowLevelAction) -> bool:
        """Move the body or the camera, and return whether the body collided with something.

        STOP and GRAB_RELEASE move nothing; the environment implements them.
        """
        ...

    def stand(self, body: BodyPose) -> None:
        """Set the pose of the robot."""
        ...

    def observe(self, body: BodyPose | None = None) -> Observation:
        """Return the images of the camera, from the robot's current pose or from another one."""
        ...

    def visible(self, body: BodyPose | None = None) -> frozenset[str]:
        """Return the keys of all receptacles and objects with a visible pixel, from the current pose or another one."""
        ...

    def aimed_at(self, reach: float) -> str | None:
        """Return the key of what the ray through the image centre hits within ``reach`` metres, or None."""
        ...

    def move_object(self, key: str, pose: Pose | None) -> None:
        """Set the pose of an object. None removes it from the house (into the robot's hand)."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...
