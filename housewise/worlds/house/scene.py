"""A house: rooms, receptacles, walls, and where a robot can walk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from housewise.worlds.house.geometry import Box, Pose

if TYPE_CHECKING:
    from housewise.worlds.house.navmesh import NavMesh


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles with one colour each, in the frame of the thing they belong to.

    Attributes:
        vertices: (V, 3) float, metres.
        faces: (F, 3) int, indices into vertices.
        colors: (F, 3) uint8, RGB.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    colors: NDArray[np.uint8]

    @classmethod
    def join(cls, meshes: Sequence[Mesh]) -> Mesh:
        """One mesh of several that share a frame."""
        if not meshes:
            return cls(np.empty((0, 3)), np.empty((0, 3), dtype=np.int64), np.empty((0, 3), dtype=np.uint8))
        offsets = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
        return cls(
            np.concatenate([mesh.vertices for mesh in meshes]),
            np.concatenate([mesh.faces + offset for mesh, offset in zip(meshes, offsets, strict=True)]),
            np.concatenate([mesh.colors for mesh in meshes]),
        )

    def placed(self, pose: Pose) -> Mesh:
        """The same mesh in the world frame."""
        return Mesh(pose.apply(self.vertices), self.faces, self.colors)


@dataclass(frozen=True)
class Room:
    """A room.

    Attributes:
        name: as spoken, for example ``"living room 0"``.
        kind: the name without its number, for example ``"living room"``.
        anchor: key of the receptacle that "go to <room>" leads to; None takes the room's first.
    """

    name: str
    kind: str
    anchor: str | None = None


@dataclass(frozen=True, eq=False)
class Receptacle:
    """A piece of furniture, or another thing, that objects can stand on or in.

    Attributes:
        key: the unique key in the data, for example ``"bathroom_0-table_7_0.urdf"``.
        name: as spoken, for example ``"bathroom 0 table 7"``.
        kind: for example ``"bottom cabinet"``.
        room: name of the room it stands in, or None (doors, windows, pictures of no room).
        pose: of the mesh's centre, world frame.
        mesh: the shape around its own centre.
        usable: whether the robot can be told to put something there (not doors, windows, pictures).
        model: file with the shape and its textures, for simulators that show those; None where there is only the mesh.
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
        """The corners of the mesh's own bounding box, and its centre, world frame, (9, 3)."""
        own = Box.around(self.mesh.vertices)
        return self.pose.apply(np.concatenate([own.corners(), [own.centre]]))

    @cached_property
    def box(self) -> Box:
        """World box of the turned bounding box of the mesh, as Housekeep measures receptacles."""
        return Box.around(self.corners)


@dataclass(frozen=True, eq=False)
class Scene:
    """A furnished house.

    Attributes:
        name: for example ``"Merom_1_int"`` or ``"generated-7"``.
        rooms: in the order in which the robot is told of them.
        receptacles: every receptacle of the scene; an episode may use fewer.
        structure: walls and floor, world frame.
        navmesh: where the robot's centre can be.
        notes: one line for each thing that was substituted or left out while reading.
        shell: file with walls, floors and ceilings and their textures, instead of structure; None where there is none.
        navmesh_file: that navmesh was read from; None for a house that was made.
    """

    name: str
    rooms: tuple[Room, ...]
    receptacles: tuple[Receptacle, ...]
    structure: Mesh
    navmesh: NavMesh
    notes: tuple[str, ...] = field(default=())
    shell: Path | None = None
    navmesh_file: Path | None = None

    @cached_property
    def by_key(self) -> dict[str, Receptacle]:
        return {receptacle.key: receptacle for receptacle in self.receptacles}
