"""Reads text and JSON files of any origin; an error is one line that names the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from housewise.core.errors import DataError
from housewise.core.files import LARGEST, read_bytes
from housewise.core.printable_text import excerpt

LONGEST_NUMBER = 100
"""Maximum number of characters of a number."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def is_file(path: Path) -> bool:
    """Whether there is a file of a name; False for a name that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def read_text(path: Path, remedy: str = "save it as UTF-8 text", most: int = LARGEST) -> str:
    """Read a text file in UTF-8, without a byte order mark and with line feeds as line ends.

    Args:
        path: Path of the file.
        remedy: What to do about an error, for the message.
        most: Maximum size in bytes.

    Raises:
        DataError: If the file is missing, too large, or not UTF-8.
    """
    try:
        content = read_bytes(path, most)
        # Convert line ends as open() does.
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); {remedy}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: cannot be read (no UTF-8 text from byte {error.start} on); {remedy}") from error
    except ValueError as error:  # a path with a NUL character
        raise DataError(f"{path}: cannot be read ({error}); {remedy}") from error


def read_json(path: Path, remedy: str = "restore the file, or delete it") -> Any:
    """Read a JSON file; see ``read_text`` and ``parse_json``.

    To validate the content with a pydantic class, use ``core.validation.read_model``.

    Raises:
        DataError: If the file cannot be read or is not JSON.
    """
    return parse_json(read_text(path, remedy), str(path), remedy)


def parse_json(text: str, source: str, remedy: str = "correct it") -> Any:
    """Parse JSON.

    Args:
        text: JSON text.
        source: Where the text is from, for the message.
        remedy: What to do about an error, for the message.

    Raises:
        DataError: If the text is not JSON, has an unpaired surrogate or an integer of more than LONGEST_NUMBER
            characters, or is nested too deeply.
    """
    try:
        value = json.loads(text, parse_int=_integer)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except (ValueError, RecursionError) as error:
        raise DataError(f"{source}: not JSON ({_json_problem(error)}); {remedy}") from error


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Return the lines of a text that are not empty, with their numbers from 1.

    Only line feeds end a line: JSON texts may contain other characters at which ``str.splitlines`` breaks.
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
