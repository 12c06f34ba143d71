"""Progress of long work: bars on a terminal, and a line a minute where the output goes to a file."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from housewise.core.console import print_lines
from housewise.core.formatting import format_duration

_SPEED_SECONDS = 3600.0
"""Time of which the speed is estimated. Rich takes 30 s, in which slow work has no two steps to compare."""
_LINE_SECONDS = 60.0
"""Time between two lines."""


def progress_bars(console: Console, shown: bool = True) -> Progress:
    """Return a display of progress and of the remaining time; its first task stands for the whole.

    On a terminal each task is a bar, and the bars disappear at the end. Elsewhere the first task is printed as a line,
    at most once a minute.

    Args:
        console: Where progress is shown.
        shown: Whether it is shown.
    """
    if shown and not (console.is_terminal or console.is_jupyter):
        return _ProgressLines(console)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not shown,
        speed_estimate_period=_SPEED_SECONDS,
    )


class _ProgressLines(Progress):
    """Prints how far the first task is, at most once a minute."""

    def __init__(self, console: Console) -> None:
        super().__init__(console=console, disable=True, speed_estimate_period=_SPEED_SECONDS)
        self._next_line = self.get_time() + _LINE_SECONDS

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """See `Progress.update`."""
        super().update(task_id, **changes)
        self._print_line()

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        """See `Progress.advance`."""
        super().advance(task_id, advance)
        self._print_line()

    def _print_line(self) -> None:
        with self._lock:
            task, now = self.tasks[0], self.get_time()
            if now < self._next_line or not task.total or task.finished:
                return
            self._next_line = now + _LINE_SECONDS
            left = "" if task.time_remaining is None else f", {format_duration(task.time_remaining)} left"
            line = f"{task.description}: {task.completed:.0f} of {task.total:.0f}{left}"
        print_lines(self.console, Text(line))
