"""Reads and validates the files of the Housekeep data; the pydantic classes have the fields that are used."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from housewise.core.errors import DataError
from housewise.core.files import open_regular
from housewise.core.printable_text import excerpt
from housewise.core.validation import validate_model
from housewise.core.yaml_files import SafeLoader, read_yaml
from housewise.worlds.house.geometry import FARTHEST, Quat
from housewise.worlds.house.spoken_names import spoken_receptacle_name

_UNIT = 1e-2
# Files of the data unpack to at most 15 times their size; malicious files may unpack to much more.
_GROWTH = 32
_LEAST = 1 << 24


class Fields(BaseModel):
    """Base class of the parts of files. Unused fields are ignored."""

    model_config = ConfigDict(allow_inf_nan=False)


def _check_unit_length(rotation: Quat) -> Quat:
    if abs(float(np.linalg.norm(rotation)) - 1) > _UNIT:
        raise ValueError("not a rotation: the length of the quaternion has to be 1")
    return rotation


def _check_printable(name: str) -> str:
    if not name.strip(" _") or not name.isprintable():
        raise ValueError("not a name: it is empty or has characters that cannot be printed")
    return name


def _check_file_name(name: str) -> str:
    if Path(name).name != name or "\\" in name:
        raise ValueError("not the name of a file: it leads to another folder")
    return name


Coordinate = Annotated[float, Field(ge=-FARTHEST, le=FARTHEST)]
"""A coordinate, metres."""
Length = Annotated[float, Field(gt=0, le=FARTHEST)]
"""A positive length, metres."""
Share = Annotated[float, Field(ge=0, le=1)]
Component = Annotated[float, Field(ge=-1 - _UNIT, le=1 + _UNIT)]
Point = tuple[Coordinate, Coordinate, Coordinate]
Spot = tuple[Coordinate, Coordinate]
Extent = tuple[Length, Length]
Turn = Annotated[tuple[Component, Component, Component, Component], AfterValidator(_check_unit_length)]
"""A quaternion (x, y, z, w) of length 1."""
Name = Annotated[str, Field(max_length=200), AfterValidator(_check_printable)]
FileName = Annotated[Name, AfterValidator(_check_file_name)]
"""The name of a file without a folder."""
Number = Annotated[int, Field(ge=0, lt=1 << 31)]


class FurnitureEntry(Fields):
    """A piece of furniture in a scene's metadata."""

    pos: Point
    rot: Turn
    room: Name | None = None


class SceneMetadata(Fields):
    """The metadata of a scene: its furniture, and pairs of furniture that stands on other furniture."""

    urdfs: dict[FileName, FurnitureEntry] = Field(min_length=1)
    default_mapping: list[tuple[str, str]] | None = None

    @field_validator("urdfs")
    @classmethod
    def _check_names(cls, urdfs: dict[str, FurnitureEntry]) -> dict[str, FurnitureEntry]:
        for file, entry in urdfs.items():
            spoken_receptacle_name(f"{entry.room}-{file}")
        return urdfs


class _Rect(Fields):
    id: Name
    size: Extent
    bottom_left: Spot


class _Match(Fields):
    rect: _Rect
    space_idx: int
    shelf_idx: int


class _Space(Fields):
    kind: str
    dims: Spot


class _Shelf(Fields):
    size: Extent
    bottom_left: Spot
    max_height: Coordinate
    spaces: list[_Space]


class PackerFields(Fields):
    """The free and occupied space on one receptacle; see worlds.house.episode.ShelfState."""

    shelves: list[_Shelf]
    bottom_left: Spot
    size: Extent
    matches: list[_Match]

    @model_validator(mode="after")
    def _check_matches(self) -> PackerFields:
        for match in self.matches:
            there = 0 <= match.shelf_idx < len(self.shelves)
            if not there or not 0 <= match.space_idx < len(self.shelves[match.shelf_idx].spaces):
                raise ValueError(f"{match.rect.id!r} is on a shelf or in a space that does not exist")
        return self


class EpisodeFields(Fields):
    """The fields of an episode in its file."""

    episode_id: Number
    start_position: Point
    start_rotation: Turn
    start_matrix: list[list[Share]]
    end_matrix: list[list[Share]]
    objs_keys: list[Name]
    objs_cats: list[Name]
    objs_pos: list[Point]
    objs_rot: list[Turn]
    objs_files: list[str] = Field(default_factory=list)
    recs_keys: list[Name] = Field(min_length=1)
    recs_packers: dict[Name, PackerFields] = Field(default_factory=dict)


class _Loader(SafeLoader):  # type: ignore[misc]
    """A safe YAML loader that also reads the tuples of the data."""


def _tuple(loader: _Loader, node: yaml.SequenceNode) -> tuple[Any, ...]:
    return tuple(loader.construct_sequence(node))


_Loader.add_constructor("tag:yaml.org,2002:python/tuple", _tuple)


def read_metadata(path: Path) -> SceneMetadata:
    """Read the metadata of a scene.

    Raises:
        DataError: If the file is damaged or a field is invalid.
    """
    return validate_model(SceneMetadata, read_yaml(path, "fetch the file again", _Loader), path, "fetch the file again")


def read_episodes(path: Path) -> dict[int, dict[str, Any]]:
    """Read the episodes of a file by number, without validation, so that an invalid one does not affect the others.

    Raises:
        DataError: If the file is damaged, or unpacks to far more than its size.
    """
    try:
        episodes = json.loads(_read_gzip(path).decode("utf-8"))["episodes"]
        if not isinstance(episodes, list) or not episodes:
            raise ValueError("it has no episode")
        return {int(episode["episode_id"]): episode for episode in episodes}
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise DataError(f"{path}: damaged or incomplete ({excerpt(error)}); fetch the file again") from error
    except MemoryError as error:
        raise DataError(f"{path}: needs more memory than is available; fetch the file again") from error


def _read_gzip(path: Path) -> bytes:
    """Read a gzip file.

    Raises:
        OSError, EOFError, zlib.error: If the file is damaged.
        ValueError: If the file unpacks to far more than its size, unlike the files of the data.
    """
    most = max(_LEAST, _GROWTH * path.stat().st_size)
    parts, size = [], 0
    with open_regular(path) as packed, gzip.open(packed) as stream:
        while part := stream.read(_LEAST):
            parts.append(part)
            size += len(part)
            if size > most:
                raise ValueError(f"it unpacks to more than {most >> 20} MB, {_GROWTH} times its size")
    return b"".join(parts)
