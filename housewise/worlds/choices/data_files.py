"""Helpers for data files: JSON Lines with validated rows, and comma-separated lists."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from housewise.core.errors import DataError
from housewise.core.text_files import numbered_lines, parse_json, read_text
from housewise.core.validation import validate_json

MAX_FILE_BYTES = 64 << 20


class DataRow(BaseModel):
    """Base of rows of JSON Lines. Undeclared fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


AnyRow = TypeVar("AnyRow", bound=DataRow)


def read_json_lines(path: Path, kind: type[AnyRow], source: str) -> list[AnyRow]:
    """Read all rows of a JSON Lines file, in order.

    Args:
        path: A UTF-8 text file with one JSON object per line. Empty lines are ignored.
        kind: The class of a row.
        source: What the file should be, for messages.

    Raises:
        DataError: The file is missing, empty or too large, or a line is invalid. The message names the line and field.
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


def split_list(text: str, separator: str = ",") -> tuple[str, ...]:
    """Split a text at a separator, and remove spaces and empty parts."""
    return tuple(part.strip() for part in text.split(separator) if part.strip())
