"""What a simulator offers: a body that moves, a camera, and things that can be moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.geometry import Pose
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.scene import Scene

Sensor = Literal["rgb", "depth", "instance", "semantic"]
SENSORS: tuple[Sensor, ...] = ("rgb", "depth", "instance", "semantic")

STEP = 0.25
TURN = np.deg2rad(10.0)
LOOK_LIMIT = np.deg2rad(85.0)


class Action(IntEnum):
    """Housekeep's low-level actions, in its order."""

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
        width, height: in pixels.
        field_of_view: horizontal, radians.
        above_floor: height of the lens above the robot's feet, metres.
        min_depth, max_depth: what the depth sensor can tell, metres.
    """

    width: int = 128
    height: int = 128
    field_of_view: float = float(np.pi / 2)
    above_floor: float = 1.5
    min_depth: float = 0.5
    max_depth: float = 5.0


@dataclass(frozen=True)
class BodyPose:
    """Where the robot stands and looks.

    Attributes:
        x, z: of its feet, metres.
        yaw: heading in radians, 0 looks along -z, counter-clockwise seen from above.
        pitch: of the camera in radians, positive looks up.
    """

    x: float
    z: float
    yaw: float = 0.0
    pitch: float = 0.0

    @property
    def point(self) -> NDArray[np.float64]:
        """(x, z)."""
        return np.array([self.x, self.z])

    def at(self, point: Sequence[float] | NDArray[np.float64]) -> BodyPose:
        """The same posture elsewhere."""
        return replace(self, x=float(point[0]), z=float(point[1]))


@runtime_checkable
class Follower(Protocol):
    """Knows by itself how a body gets somewhere step by step; navigation meshes of some simulators do."""

    def next_action(self, body: BodyPose, goal: NDArray[np.float64]) -> Action | None:
        """The next low-level action on the way to a point (x, z); None on arrival, or where there is no way."""
        ...


@dataclass(frozen=True, eq=False)
class Observation:
    """What the camera shows; a sensor that was not asked for is an empty array.

    Attributes:
        rgb: (height, width, 3) uint8.
        depth: (height, width) float32, metres along the optical axis, within the camera's range.
        instance: (height, width) int32, number of the thing in each pixel, 0 for walls, floor and nothing.
        semantic: (height, width) int32, number of its kind, 0 likewise.
    """

    rgb: NDArray[np.uint8]
    depth: NDArray[np.float32]
    instance: NDArray[np.int32]
    semantic: NDArray[np.int32]


class Simulator(Protocol):
    """A house with a robot in it.

    Attributes:
        camera: the robot's.
        navmesh: of the current scene.
        body: where the robot is.
        keys: key of each thing by its instance number; ``keys[0]`` is empty.
        kinds: name of each kind by its semantic number; ``kinds[0]`` is empty.
    """

    camera: Camera

    @property
    def navmesh(self) -> NavMesh: ...

    @property
    def body(self) -> BodyPose: ...

    @property
    def keys(self) -> tuple[str, ...]: ...

    @property
    def kinds(self) -> tuple[str, ...]: ...

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """Set up a house: the scene with those receptacles (and its doors), the objects, the robot."""
        ...

    def act(self, action: Action) -> bool:
        """Move the body or the camera; returns whether something was in the way.

        STOP and GRAB_RELEASE move nothing: what they mean is for the task to say.
        """
        ...

    def stand(self, body: BodyPose) -> None:
        """Put the robot somewhere at once."""
        ...

    def observe(self, body: BodyPose | None = None) -> Observation:
        """What the camera shows, from where the robot is or would be."""
        ...

    def visible(self, body: BodyPose | None = None) -> frozenset[str]:
        """Keys of the things that fill at least one pixel, from where the robot is or would be."""
        ...

    def aimed_at(self, reach: float) -> str | None:
        """Key of the first thing on the ray through the image centre, None beyond reach (metres)."""
        ...

    def move_object(self, key: str, pose: Pose | None) -> None:
        """Put an object somewhere; None takes it out of the house (into the robot's hand)."""
        ...

    def close(self) -> None:
        """Release what the simulator holds."""
        ...
