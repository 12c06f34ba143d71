"""Passes metrics on to trackers: each point once, and a tracker that fails does not stop the run."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from housewise.core.plugins import TRACKERS, call_plugin, load_plugin

Steps = Mapping[str, int]
"""Last step of each curve."""


class Tracker(Protocol):
    """Stores curves. Its class is named in the entry points `housewise.trackers` and is called with a folder."""

    def last_steps(self) -> Steps:
        """Return the last step of each curve that was stored in this folder before."""

    def log(self, series: str, step: int, figures: Mapping[str, float]) -> None:
        """Store one point of several curves.

        Args:
            series: Common prefix of the curves, which share one axis.
            step: Position on the axis.
            figures: Values by curve name, including the prefix.
        """

    def close(self) -> None:
        """Write what is not written yet. No points follow."""


class TrackerClass(Protocol):
    """Opens a tracker for a folder."""

    def __call__(self, folder: Path) -> Tracker:
        """Return a tracker that continues the curves of a folder."""

    def check(self) -> None:
        """Check that the tracker can be used.

        Raises:
            UserError: Its library is not installed.
        """


class Curves:
    """Passes metrics on to trackers, which are opened by the first point.

    Args:
        trackers: Tracker classes by name.
        folder: Folder for the trackers' files.
        tell: Receives one line about a tracker that fails.

    Attributes:
        trackers: Names of the trackers.
    """

    def __init__(self, trackers: Mapping[str, TrackerClass], folder: Path, tell: Callable[[str], None]) -> None:
        self.trackers = tuple(trackers)
        self._waiting, self._folder, self._tell = dict(trackers), folder, tell
        self._open: dict[str, Tracker] = {}
        self._last: dict[str, dict[str, int]] = {}
        self._lock = threading.Lock()

    def log(self, series: str, step: int, figures: Mapping[str, float]) -> None:
        """Add a point to the curves that have no later point yet.

        Args:
            series: Common prefix of the curves.
            step: Position on the axis; the steps of a curve increase.
            figures: Values by name. Values that are not finite are ignored.
        """
        named = {f"{series}/{name}": float(value) for name, value in figures.items() if math.isfinite(value)}
        with self._lock:
            self._open_all()
            for name, tracker in list(self._open.items()):
                last = self._last[name]
                fresh = {curve: value for curve, value in named.items() if step > last.get(curve, -1)}
                if fresh:
                    with self._drop_failing(name):
                        tracker.log(series, step, fresh)
                        last.update(dict.fromkeys(fresh, step))

    def last_logged_step(self, series: str) -> int:
        """Return the step up to which every tracker has stored every curve of a series, or 0."""
        with self._lock:
            self._open_all()
            steps = [
                [step for curve, step in self._last[name].items() if curve.rpartition("/")[0] == series]
                for name in self._open
            ]
            return min((min(each, default=0) for each in steps), default=0)

    def _open_all(self) -> None:
        for name in list(self._waiting):
            with self._drop_failing(name):
                tracker = self._waiting.pop(name)(self._folder)
                self._last[name] = dict(_last_steps(tracker))
                self._open[name] = tracker

    def close(self) -> None:
        """Close all trackers."""
        with self._lock:
            for name, tracker in list(self._open.items()):
                with self._drop_failing(name):
                    tracker.close()

    @contextmanager
    def _drop_failing(self, name: str) -> Iterator[None]:
        """Drop a tracker that raises any exception."""
        try:
            yield
        except Exception as error:
            self._open.pop(name, None)
            told = " ".join(f"{type(error).__name__}: {error}".split())
            self._tell(f"no longer logged to {name} ({told}); everything else goes on")


def _last_steps(tracker: Any) -> Steps:
    """Return the last step of each stored curve. Trackers may still call the method by its former name, `known`."""
    steps: Steps = tracker.last_steps() if hasattr(tracker, "last_steps") else tracker.known()
    return steps


@contextmanager
def open_curves(names: Sequence[str], folder: Path, tell: Callable[[str], None]) -> Iterator[Curves]:
    """Open trackers by name and close them at the end.

    Args:
        names: Names of the trackers.
        folder: Folder for their files.
        tell: Receives one line about a tracker that fails.

    Raises:
        UserError: There is no such tracker, or its library is not installed.
    """
    trackers: dict[str, TrackerClass] = {name: load_plugin(TRACKERS, name, "tracker") for name in names}
    for name, tracker in trackers.items():
        call_plugin(getattr(tracker, "check", None), f"tracker {name!r}")
    curves = Curves(trackers, folder, tell)
    try:
        yield curves
    finally:
        curves.close()
