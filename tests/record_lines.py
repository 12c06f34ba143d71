"""Changes the lines of a record as JSON objects, whatever their version."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def read_lines(path: Path) -> list[Any]:
    """Return the lines of a record."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path: Path, lines: list[Any]) -> None:
    """Write the lines of a record."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@contextmanager
def changed_lines(path: Path) -> Iterator[list[Any]]:
    """Give the lines of a record to a ``with`` block that changes them, and write them back."""
    lines = read_lines(path)
    yield lines
    write_lines(path, lines)
