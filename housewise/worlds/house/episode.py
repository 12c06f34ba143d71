"""Episodes of the rearrangement task: initial placements of the objects and their correct receptacles."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from housewise.worlds.house.geometry import Box, Pose, Quat, Vec3


@dataclass(frozen=True)
class ObjectModel:
    """The 3D model of an object, for simulators that can show it.

    Attributes:
        config: Object configuration of habitat-sim, a JSON file that names the meshes.
        rotation: Rotation that makes the model stand upright, world frame.
    """

    config: Path
    rotation: Quat


@dataclass(frozen=True)
class HouseObject:
    """An object that the robot can carry.

    Attributes:
        key: Key, unique in the episode, for example ``"picture_frame_1"``.
        name: Spoken name, for example ``"picture frame 1"``.
        category: Category, for example ``"picture_frame"``.
        size: Width, height and depth of its initial bounding box in metres, world axes.
        pose: Initial pose of its centre.
        receptacle: Key of its initial receptacle.
        correct: Keys of its correct receptacles.
        model: Its 3D model, or None to show a placeholder of its size.
    """

    key: str
    name: str
    category: str
    size: Vec3
    pose: Pose
    receptacle: str
    correct: frozenset[str]
    model: ObjectModel | None = None

    @property
    def is_misplaced(self) -> bool:
        """Whether its initial receptacle is not correct."""
        return self.receptacle not in self.correct


@dataclass(frozen=True)
class ShelfSpan:
    """A part of a shelf row along x in metres, which is free or occupied by one object."""

    start: float
    end: float
    occupied: bool


@dataclass(frozen=True)
class ShelfRow:
    """A row of objects on a receptacle. It runs along x, and its first object determines its depth along z.

    Attributes:
        x: Start of the row along x, metres.
        z: Start of the row along z, metres.
        length: Length along x, metres.
        depth: Depth along z, metres.
        max_depth: Depth to which the row may grow, metres.
        spans: Free and occupied parts, in order.
    """

    x: float
    z: float
    length: float
    depth: float
    max_depth: float
    spans: tuple[ShelfSpan, ...]


@dataclass(frozen=True)
class ShelfItem:
    """The row and the span of an object, by their indices."""

    object: str
    row: int
    span: int


@dataclass(frozen=True)
class ShelfState:
    """The free and occupied space on one receptacle.

    Attributes:
        low: Least x and z of the surface, metres.
        size: Extent along x and z, metres.
        rows: Rows in the order of their z; empty if the receptacle is.
        items: Objects on the receptacle.
    """

    low: tuple[float, float]
    size: tuple[float, float]
    rows: tuple[ShelfRow, ...] = ()
    items: tuple[ShelfItem, ...] = ()

    @classmethod
    def empty(cls, box: Box) -> ShelfState:
        """Return the state of an empty receptacle with a bounding box."""
        return cls((box.low[0], box.low[2]), (box.size[0], box.size[2]))


@dataclass(frozen=True)
class RearrangementEpisode:
    """An episode of the rearrangement task.

    Attributes:
        id: Number in its data set.
        scene: Name of the scene.
        start: Initial pose of the robot's feet, rotated about y only.
        receptacles: Keys of the scene's receptacles that are present, in the order of the data.
        objects: Objects to rearrange.
        shelves: Initial free and occupied space by receptacle key; receptacles without an entry are empty.
        split: Name of its split.
    """

    id: int
    scene: str
    start: Pose
    receptacles: tuple[str, ...]
    objects: tuple[HouseObject, ...]
    shelves: dict[str, ShelfState] = field(default_factory=dict)
    split: str = ""

    @property
    def misplaced_objects(self) -> tuple[HouseObject, ...]:
        """Objects whose initial receptacle is not correct."""
        return tuple(thing for thing in self.objects if thing.is_misplaced)
