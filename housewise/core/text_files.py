"""Text and JSON files of anybody's: what cannot be read is told in one line that names the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from housewise.core.errors import DataError, excerpt
from housewise.core.files import LARGEST, read_bytes

LONGEST_NUMBER = 100
"""Characters of a number."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def is_file(path: Path) -> bool:
    """Whether there is a file of a name, which may be none that a file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def read_text(path: Path, remedy: str = "save it as UTF-8 text", most: int = LARGEST) -> str:
    """Read a text file in UTF-8; a byte order mark at its beginning is left out.

    Args:
        path: of the file.
        remedy: what to do when it cannot be read, for the message.
        most: bytes that it may have.

    Raises:
        DataError: when it is missing, too large, or no UTF-8.
    """
    try:
        content = read_bytes(path, most)
        # Line ends of Windows as those of others, as open() reads them.
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); {remedy}") from error
    except ValueError as error:  # no UTF-8, or a path with NUL in it
        raise DataError(f"{path}: cannot be read ({error}); {remedy}") from error


def read_json(path: Path, remedy: str = "restore the file, or delete it") -> Any:
    """Read a JSON file; see read_text and parse_json.

    Raises:
        DataError: when it cannot be read, or is no JSON.
    """
    return parse_json(read_text(path, remedy), str(path), remedy)


def parse_json(text: str, source: str, remedy: str = "correct it") -> Any:
    """Parse JSON.

    Args:
        text: the JSON.
        source: where it is from, for the message.
        remedy: what to do when it is no JSON, for the message.

    Raises:
        DataError: when it is no JSON, has half of a surrogate pair in a text, a number of more than LONGEST_NUMBER
            digits, or is nested too deeply.
    """
    try:
        value = json.loads(text, parse_int=_integer)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except (ValueError, RecursionError) as error:
        raise DataError(f"{source}: not JSON ({_json_problem(error)}); {remedy}") from error


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text that are not empty, with their numbers from 1.

    Line feeds alone end lines: JSON texts may hold other characters at which ``str.splitlines`` breaks.
    """
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(f"a number has {len(digits)} digits")
    return int(digits)


def _json_problem(error: Exception) -> str:
    if isinstance(error, UnicodeEncodeError):
        return "a text has half of a surrogate pair, such as \\ud800"
    return "it is nested too deeply" if isinstance(error, RecursionError) else excerpt(error)
