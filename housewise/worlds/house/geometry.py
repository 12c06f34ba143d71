"""Poses and boxes. The world frame is right-handed with y up, in metres; quaternions are (x, y, z, w)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]
Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]

FARTHEST = 100.0
"""Greatest distance from the origin in metres, which bounds the cost of drawing and searching a house."""

IDENTITY: Quat = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Pose:
    """Position and rotation of a centre in the world frame."""

    position: Vec3
    rotation: Quat = IDENTITY

    def __post_init__(self) -> None:
        if not all(map(isfinite, (*self.position, *self.rotation))) or not any(self.rotation):
            raise ValueError(f"not a pose: position {self.position}, rotation {self.rotation}")

    def apply(self, points: ArrayLike) -> Array:
        """Transform points (N, 3) from the local frame to the world frame."""
        rotated = Rotation.from_quat(self.rotation).apply(np.asarray(points, dtype=np.float64))
        return np.asarray(rotated + np.asarray(self.position), dtype=np.float64)

    def pre_rotate(self, first: Quat) -> Pose:
        """Return the pose with a rotation in the local frame applied first."""
        together = Rotation.from_quat(self.rotation) * Rotation.from_quat(first)
        return Pose(self.position, quat(together.as_quat()))


@dataclass(frozen=True)
class Box:
    """An axis-aligned box in the world frame, metres."""

    low: Vec3
    high: Vec3

    @classmethod
    def bounding(cls, points: ArrayLike) -> Box:
        """Return the smallest box that contains points (N, 3)."""
        array = np.asarray(points, dtype=np.float64)
        return cls(vec3(array.min(axis=0)), vec3(array.max(axis=0)))

    @classmethod
    def from_centre(cls, centre: ArrayLike, size: ArrayLike) -> Box:
        """Return the box of a size (3,) around a centre (3,)."""
        middle, half = np.asarray(centre, dtype=np.float64), np.asarray(size, dtype=np.float64) / 2
        return cls(vec3(middle - half), vec3(middle + half))

    @property
    def size(self) -> Vec3:
        """Extent along x, y and z, metres."""
        return vec3(np.subtract(self.high, self.low))

    @property
    def centre(self) -> Vec3:
        """Position of the middle, metres."""
        return vec3(np.add(self.low, self.high) / 2)

    @property
    def top(self) -> float:
        """Height of its upper side, which is its greatest y, metres."""
        return self.high[1]

    @property
    def footprint(self) -> shapely.Polygon:
        """The rectangle of the box in the horizontal plane, (x, z)."""
        return shapely.box(self.low[0], self.low[2], self.high[0], self.high[2])

    def corners(self) -> Array:
        """Return the eight corners, (8, 3)."""
        low, high = self.low, self.high
        return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def vec3(values: Sequence[float] | NDArray[np.floating]) -> Vec3:
    """Convert three numbers to a tuple of floats."""
    x, y, z = (float(v) for v in values)
    return (x, y, z)


def quat(values: Sequence[float] | NDArray[np.floating]) -> Quat:
    """Convert four numbers to a tuple of floats."""
    x, y, z, w = (float(v) for v in values)
    return (x, y, z, w)


def yaw_rotation(yaw: float) -> Quat:
    """Return the rotation by yaw radians about the y axis, counter-clockwise seen from above."""
    return (0.0, float(np.sin(yaw / 2)), 0.0, float(np.cos(yaw / 2)))


def yaw_from_rotation(rotation: Quat) -> float:
    """Return the heading in radians of an agent whose rotation is about the y axis."""
    forward = Rotation.from_quat(rotation).apply([0.0, 0.0, -1.0])
    return float(np.arctan2(-forward[0], -forward[2]))


def forward_vector(yaw: float) -> Array:
    """Return the horizontal unit vector (3,) in which an agent with this heading looks; yaw 0 is -z."""
    return np.array([-np.sin(yaw), 0.0, -np.cos(yaw)])
