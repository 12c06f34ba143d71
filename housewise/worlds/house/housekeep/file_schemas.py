"""Reads and validates the files of the Housekeep data; the pydantic classes have the fields that are used."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, field_validator, model_validator

from housewise.core.errors import DataError
from housewise.core.printable_text import excerpt
from housewise.core.validation import validate_model
from housewise.core.yaml_files import SafeLoader, read_yaml
from housewise.worlds.house.housekeep.field_types import (
    Coordinate,
    Extent,
    Fields,
    FileName,
    Name,
    Number,
    Point,
    Share,
    Spot,
    Turn,
    read_gzip,
)
from housewise.worlds.house.spoken_names import spoken_receptacle_name


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
        episodes = json.loads(read_gzip(path).decode("utf-8"))["episodes"]
        if not isinstance(episodes, list) or not episodes:
            raise ValueError("it has no episode")
        return {int(episode["episode_id"]): episode for episode in episodes}
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise DataError(f"{path}: damaged or incomplete ({excerpt(error)}); fetch the file again") from error
    except MemoryError as error:
        raise DataError(f"{path}: needs more memory than is available; fetch the file again") from error
