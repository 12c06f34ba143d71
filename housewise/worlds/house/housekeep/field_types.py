"""Types of the fields of Housekeep's files, with their bounds: coordinates, lengths, rotations and names."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from housewise.core.files import open_regular
from housewise.worlds.house.geometry import FARTHEST, Quat

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


def read_gzip(path: Path) -> bytes:
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
