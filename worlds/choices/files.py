"""Files with one JSON object a line, and YAML files, read into checked objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from housewise.core.errors import DataError
from housewise.core.yamls import parse_yaml

_MOST_BYTES = 64 << 20


class Row(BaseModel):
    """One line of a file; fields that are not declared are let be."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Settings(BaseModel):
    """A YAML file or a part of one; fields that are not declared are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


AnySettings = TypeVar("AnySettings", bound=Settings)
AnyRow = TypeVar("AnyRow", bound=Row)


def read_rows(path: Path, kind: type[AnyRow], source: str) -> list[AnyRow]:
    """Every line of a file, in order.

    Args:
        path: a text file, UTF-8, one JSON object a line; empty lines are passed over.
        kind: what a line has to hold.
        source: what the file should be, for messages.

    Raises:
        DataError: the file is missing, empty, too large, or a line is not such an object; the message names the line,
            the field and what is expected.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise DataError(f"{path}: larger than {_MOST_BYTES >> 20} MB, not {source}; give the file itself")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}); give {source} as a text file of JSON lines") from error
    rows = [_row(path, number, line, kind, source) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not rows:
        raise DataError(f"{path}: is empty; give {source} as a text file of JSON lines")
    return rows


def read_yaml(path: Path, kind: type[AnySettings]) -> AnySettings:
    """What a YAML file says.

    Raises:
        DataError: the file is missing, no YAML, or wrong; the message names the field.
    """
    try:
        return kind.model_validate(parse_yaml(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(f"{path}: cannot be read as YAML ({str(error).splitlines()[0]})") from error
    except ValidationError as error:
        raise DataError(f"{path}: {_first(error)}") from error


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'all of it'}: {first['msg'].lower()}"


def _row(path: Path, number: int, line: str, kind: type[AnyRow], source: str) -> AnyRow:
    try:
        json.loads(line)
    except ValueError as error:
        raise DataError(f"{path}, line {number}: not JSON ({error}); give {source} as JSON lines") from error
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        raise DataError(f"{path}, line {number}: {_first(error)}; is this another version of {source}?") from error
