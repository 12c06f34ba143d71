"""What a model learns from that is told which of two replies is the better one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from housewise.selftrain.datasets import Prompted, read_dataset, write_dataset


class Preference(Prompted):
    """A prompt with two replies.

    Attributes:
        chosen: what should come after the prefix.
        rejected: what should not.
        source: where it is from.
    """

    columns: ClassVar[Mapping[str, str]] = {"chosen": "chosen", "rejected": "rejected"}
    chosen: str
    rejected: str
    source: str = ""


def write_preferences(path: Path, preferences: Iterable[Preference]) -> None:
    """Write preferences; see write_dataset."""
    write_dataset(path, preferences)


def read_preferences(path: Path) -> list[Preference]:
    """Preferences of a file; see read_dataset."""
    return read_dataset(path, Preference)
