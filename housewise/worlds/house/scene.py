"""Scenes: houses with rooms, receptacles, walls and a navigation mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from housewise.worlds.house.geometry import Box, Pose, yaw_rotation

if TYPE_CHECKING:
    from housewise.worlds.house.navmesh import NavMesh


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh with one colour for each triangle.

    Attributes:
        vertices: (V, 3) float, metres, usually in the frame of a receptacle or an object.
        faces: (F, 3) int, indices into ``vertices``.
        colors: (F, 3) uint8, RGB.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    colors: NDArray[np.uint8]

    @classmethod
    def join(cls, meshes: Sequence[Mesh]) -> Mesh:
        """Join meshes of the same frame to one mesh."""
        if not meshes:
            return cls(np.empty((0, 3)), np.empty((0, 3), dtype=np.int64), np.empty((0, 3), dtype=np.uint8))
        offsets = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
        return cls(
            np.concatenate([mesh.vertices for mesh in meshes]),
            np.concatenate([mesh.faces + offset for mesh, offset in zip(meshes, offsets, strict=True)]),
            np.concatenate([mesh.colors for mesh in meshes]),
        )

    def transform(self, pose: Pose) -> Mesh:
        """Return the mesh in the world frame, for a pose of its own frame."""
        return Mesh(pose.apply(self.vertices), self.faces, self.colors)


@dataclass(frozen=True)
class Room:
    """A room.

    Attributes:
        name: Spoken name, for example ``"living room 0"``.
        kind: Name without its number, for example ``"living room"``.
        anchor: Key of the receptacle to which "go to <room>" leads, or None for the room's first receptacle.
    """

    name: str
    kind: str
    anchor: str | None = None


@dataclass(frozen=True, eq=False)
class Receptacle:
    """A piece of furniture that objects can be on or in. Doors, windows and pictures also count as receptacles.

    Attributes:
        key: Unique key in the data, for example ``"bathroom_0-table_7_0.urdf"``.
        name: Spoken name, for example ``"bathroom 0 table 7"``.
        kind: Kind, for example ``"bottom cabinet"``.
        room: Name of its room, or None (for some doors, windows and pictures).
        pose: Pose of the mesh's centre, world frame.
        mesh: Mesh around its own centre.
        usable: Whether the robot can place objects there (false for doors, windows and pictures).
        model: File of the textured model, for simulators that can show it, or None.
    """

    key: str
    name: str
    kind: str
    room: str | None
    pose: Pose
    mesh: Mesh
    usable: bool = True
    model: Path | None = None

    @cached_property
    def corners(self) -> NDArray[np.float64]:
        """Corners and centre of the oriented bounding box, world frame, (9, 3)."""
        own = Box.bounding(self.mesh.vertices)
        return self.pose.apply(np.concatenate([own.corners(), [own.centre]]))

    @cached_property
    def box(self) -> Box:
        """Axis-aligned box around the oriented bounding box of the mesh, as Housekeep measures receptacles."""
        return Box.bounding(self.corners)


@dataclass(frozen=True, eq=False)
class Scene:
    """A furnished house.

    Attributes:
        name: Name, for example ``"Merom_1_int"`` or ``"generated-7"``.
        rooms: Rooms, in the order in which prompts list them.
        receptacles: All receptacles of the scene; an episode may use fewer.
        structure: Mesh of walls and floor, world frame.
        navmesh: Area that the robot's centre can occupy.
        notes: One line for each part that was replaced or left out while reading.
        shell: File of textured walls, floors and ceilings that some simulators show instead of ``structure``, or None.
        navmesh_file: File of the navigation mesh, or None for a generated house.
    """

    name: str
    rooms: tuple[Room, ...]
    receptacles: tuple[Receptacle, ...]
    structure: Mesh
    navmesh: NavMesh
    notes: tuple[str, ...] = field(default=())
    shell: Path | None = None
    navmesh_file: Path | None = None

    def random_start(self, rng: np.random.Generator) -> Pose:
        """Draw a start of the robot uniformly from the navigation mesh, with a random heading."""
        x, z = self.navmesh.random_point(rng)
        return Pose((float(x), self.navmesh.height, float(z)), yaw_rotation(float(rng.uniform(-np.pi, np.pi))))

    @cached_property
    def usable_receptacles(self) -> tuple[Receptacle, ...]:
        """Receptacles in a room on which the robot can place objects."""
        return tuple(place for place in self.receptacles if place.usable and place.room is not None)

    @cached_property
    def by_key(self) -> dict[str, Receptacle]:
        """All receptacles, also those that are not usable, by key."""
        return {receptacle.key: receptacle for receptacle in self.receptacles}
