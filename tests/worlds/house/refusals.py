"""The errors for files with invalid data."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from housewise.core.errors import DataError


def refusal(action: Callable[[], Any], path: Path) -> str:
    """Return the message of the error for invalid data: one line of bounded length that begins with the path."""
    with pytest.raises(DataError) as refused:
        action()
    message = str(refused.value)
    assert message.startswith(f"{path}: ") and message.isprintable() and len(message) < len(str(path)) + 400
    return message
