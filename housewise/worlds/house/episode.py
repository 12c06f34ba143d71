"""An episode: what stands where at the start, and where people want it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from housewise.worlds.house.geometry import Pose, Quat, Vec3


@dataclass(frozen=True)
class ObjectModel:
    """The model of an object, for simulators that show it.

    Attributes:
        config: habitat-sim's object configuration, a JSON file that names the meshes.
        rotation: turns the model so that it stands as people put it, world frame.
    """

    config: Path
    rotation: Quat


@dataclass(frozen=True)
class HouseObject:
    """A thing that can be carried.

    Attributes:
        key: unique in the episode, for example ``"picture_frame_1"``.
        name: as spoken, ``"picture frame 1"``.
        category: ``"picture_frame"``.
        size: width, height and depth of its box as it stands, metres, world axes.
        pose: of its centre at the start.
        receptacle: key of the receptacle that it stands on at the start.
        correct: keys of the receptacles where people want it.
        model: what it looks like; None where a stand-in of its size has to do.
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
    def misplaced(self) -> bool:
        """Whether it starts where people do not want it."""
        return self.receptacle not in self.correct


@dataclass(frozen=True)
class ShelfSpan:
    """A stretch of a shelf row along x, metres; occupied by one object or free."""

    start: float
    end: float
    occupied: bool


@dataclass(frozen=True)
class ShelfRow:
    """A row on top of a receptacle: it runs along x and is as deep (along z) as its first object needs.

    Attributes:
        x: where the row starts.
        z: where the row starts in depth.
        length: along x.
        depth: along z.
        max_depth: how deep the row may still grow.
        spans: free and occupied stretches, in order.
    """

    x: float
    z: float
    length: float
    depth: float
    max_depth: float
    spans: tuple[ShelfSpan, ...]


@dataclass(frozen=True)
class ShelfItem:
    """Where an object lies: in which row and which of its spans."""

    object: str
    row: int
    span: int


@dataclass(frozen=True)
class ShelfState:
    """The free and the taken space on one receptacle.

    Attributes:
        low: least x and z of the surface.
        size: extent along x and z.
        rows: from the surface's front edge on; empty when nothing stands there.
        items: the objects that stand there.
    """

    low: tuple[float, float]
    size: tuple[float, float]
    rows: tuple[ShelfRow, ...] = ()
    items: tuple[ShelfItem, ...] = ()


@dataclass(frozen=True)
class Episode:
    """One task: a scene, a start, objects and the places where people want them.

    Attributes:
        id: number in its data set.
        scene: name of the scene.
        start: pose of the robot's feet; it turns about y only.
        receptacles: keys of the scene's receptacles that take part, in the data's order.
        objects: the things to keep in order.
        shelves: known free space by receptacle key; receptacles that lack are empty.
        split: name of the split it comes from.
    """

    id: int
    scene: str
    start: Pose
    receptacles: tuple[str, ...]
    objects: tuple[HouseObject, ...]
    shelves: dict[str, ShelfState] = field(default_factory=dict)
    split: str = ""

    @property
    def misplaced(self) -> tuple[HouseObject, ...]:
        return tuple(thing for thing in self.objects if thing.misplaced)
