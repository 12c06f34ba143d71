"""What the fields of the data's files may hold, said once: finite numbers, places in a house, names to be told."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from housewise.core.files import open_regular
from housewise.worlds.house.geometry import FARTHEST, Quat

_UNIT = 1e-2
# Files of the data unpack to 15 times their size at most, made-up ones that repeat themselves to more.
_GROWTH = 32
_LEAST = 1 << 24


class Fields(BaseModel):
    """Part of a file; what we do not use of it is left out."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


def _check_unit_length(rotation: Quat) -> Quat:
    if abs(float(np.linalg.norm(rotation)) - 1) > _UNIT:
        raise ValueError("not a rotation: the length of a quaternion has to be 1")
    return rotation


def _check_printable(name: str) -> str:
    if not name.strip(" _") or not name.isprintable():
        raise ValueError("not a name: it is empty, or has letters that cannot be shown")
    return name


def _check_file_name(name: str) -> str:
    if Path(name).name != name or "\\" in name:
        raise ValueError("not the name of a file: it leads elsewhere")
    return name


Coordinate = Annotated[float, Field(ge=-FARTHEST, le=FARTHEST)]
"""Metres from the origin along an axis."""
Length = Annotated[float, Field(gt=0, le=FARTHEST)]
"""Metres."""
Share = Annotated[float, Field(ge=0, le=1)]
Component = Annotated[float, Field(ge=-1 - _UNIT, le=1 + _UNIT)]
Point = tuple[Coordinate, Coordinate, Coordinate]
Spot = tuple[Coordinate, Coordinate]
Extent = tuple[Length, Length]
Turn = Annotated[tuple[Component, Component, Component, Component], AfterValidator(_check_unit_length)]
"""A quaternion (x, y, z, w) of length 1."""
Name = Annotated[str, Field(max_length=200), AfterValidator(_check_printable)]
FileName = Annotated[Name, AfterValidator(_check_file_name)]
"""Of a file in a folder that we choose."""
Number = Annotated[int, Field(ge=0, lt=1 << 31)]


def read_gzip(path: Path) -> bytes:
    """What a gzip file holds.

    Raises:
        OSError, EOFError, zlib.error: when it is damaged.
        ValueError: when it unpacks to many times its size, as no file of the data does.
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
