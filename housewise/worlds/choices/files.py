"""Files with one JSON object a line, and YAML files, read into checked objects."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from housewise.core.errors import DataError
from housewise.core.text_files import numbered_lines, parse_json, read_text
from housewise.core.validation import validate_json

MAX_FILE_BYTES = 64 << 20


class DataRow(BaseModel):
    """One line of a file; fields that are not declared are let be."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class StrictSettings(BaseModel):
    """A YAML file or a part of one; fields that are not declared are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


AnySettings = TypeVar("AnySettings", bound=StrictSettings)
AnyRow = TypeVar("AnyRow", bound=DataRow)


def read_json_lines(path: Path, kind: type[AnyRow], source: str) -> list[AnyRow]:
    """Every line of a file, in order.

    Args:
        path: a text file, UTF-8, one JSON object a line; empty lines are passed over.
        kind: what a line has to hold.
        source: what the file should be, for messages.

    Raises:
        DataError: the file is missing, empty, too large, or a line is not such an object; the message names the line,
            the field and what is expected.
    """
    remedy = f"give {source} as a text file of JSON lines"
    rows = [
        _row(path, number, line, kind, source)
        for number, line in numbered_lines(read_text(path, remedy, MAX_FILE_BYTES))
    ]
    if not rows:
        raise DataError(f"{path}: is empty; {remedy}")
    return rows


def _row(path: Path, number: int, line: str, kind: type[AnyRow], source: str) -> AnyRow:
    parse_json(line, f"{path}, line {number}", f"give {source} as JSON lines")
    return validate_json(kind, line, f"{path}, line {number}", f"is this another version of {source}?")
