"""What the figures of all experiments come with: a table to look at, and what they were measured on."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.table import Table


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table whose first column is words and whose others are figures."""
    made = Table(title=title)
    for column in columns:
        made.add_column(column, justify="left" if column == columns[0] else "right")
    for row in rows:
        made.add_row(*row)
    return made


def machine() -> dict[str, str | int]:
    """The computer: its processor, the cores that this process may use, its system and Python."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _processor() -> str:
    """The processor's name; Linux alone tells it only in a file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
