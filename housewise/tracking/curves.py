"""Figures on their way to trackers: each once, and a tracker that fails takes nothing down with it."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from housewise.core.plugins import TRACKERS, call_plugin, load_plugin

Steps = Mapping[str, int]
"""The last step of each curve."""


class Tracker(Protocol):
    """Keeps curves; its class is named in entry points (``housewise.trackers``) and called with a folder."""

    def known(self) -> Steps:
        """What was kept before in this folder, to go on with the same curves."""
        ...

    def log(self, series: str, step: int, figures: Mapping[str, float]) -> None:
        """Keep a point of some curves.

        Args:
            series: what the curves have in common: they have one axis.
            step: the point on it.
            figures: by name of the curve, which begins with the series.
        """
        ...

    def close(self) -> None: ...


class TrackerClass(Protocol):
    """Makes a tracker for a folder."""

    def __call__(self, folder: Path) -> Tracker: ...

    def check(self) -> None:
        """See whether there can be one here.

        Raises:
            UserError: when its library is not installed.
        """
        ...


class Curves:
    """Passes figures on to trackers, which are opened with the first of them.

    Args:
        trackers: what makes them, by name.
        folder: for their files.
        tell: takes the one line that there is to say of a tracker that fails.

    Attributes:
        trackers: names of the trackers.
    """

    def __init__(self, trackers: Mapping[str, TrackerClass], folder: Path, tell: Callable[[str], None]) -> None:
        self.trackers = tuple(trackers)
        self._waiting, self._folder, self._tell = dict(trackers), folder, tell
        self._open: dict[str, Tracker] = {}
        self._last: dict[str, dict[str, int]] = {}
        self._lock = threading.Lock()

    def log(self, series: str, step: int, figures: Mapping[str, float]) -> None:
        """Add a point to curves, where they have not come that far.

        Args:
            series: what the curves have in common.
            step: the point; the steps of a curve rise.
            figures: by name; what is no number is left out.
        """
        named = {f"{series}/{name}": float(value) for name, value in figures.items() if math.isfinite(value)}
        with self._lock:
            self._open_all()
            for name, tracker in list(self._open.items()):
                last = self._last[name]
                fresh = {curve: value for curve, value in named.items() if step > last.get(curve, -1)}
                if fresh:
                    with self._guarded(name):
                        tracker.log(series, step, fresh)
                        last.update(dict.fromkeys(fresh, step))

    def known(self, series: str) -> int:
        """Return the step up to which every tracker has kept every curve of a series; 0 before the first."""
        with self._lock:
            self._open_all()
            steps = [
                [step for curve, step in self._last[name].items() if curve.rpartition("/")[0] == series]
                for name in self._open
            ]
            return min((min(each, default=0) for each in steps), default=0)

    def _open_all(self) -> None:
        for name in list(self._waiting):
            with self._guarded(name):
                tracker = self._waiting.pop(name)(self._folder)
                self._last[name] = dict(tracker.known())
                self._open[name] = tracker

    def close(self) -> None:
        """End what is open."""
        with self._lock:
            for name, tracker in list(self._open.items()):
                with self._guarded(name):
                    tracker.close()

    @contextmanager
    def _guarded(self, name: str) -> Iterator[None]:
        """Do without a tracker that fails, whatever its library raises."""
        try:
            yield
        except Exception as error:
            self._open.pop(name, None)
            told = " ".join(f"{type(error).__name__}: {error}".split())
            self._tell(f"no longer logged to {name} ({told}); everything else goes on")


@contextmanager
def following(names: Sequence[str], folder: Path, tell: Callable[[str], None]) -> Iterator[Curves]:
    """Curves in the trackers of these names, closed in the end.

    Args:
        names: of trackers.
        folder: for their files.
        tell: takes a line about one that fails.

    Raises:
        UserError: when there is no such tracker, or its library is not installed.
    """
    trackers: dict[str, TrackerClass] = {name: load_plugin(TRACKERS, name, "tracker") for name in names}
    for name, tracker in trackers.items():
        call_plugin(getattr(tracker, "check", None), f"tracker {name!r}")
    curves = Curves(trackers, folder, tell)
    try:
        yield curves
    finally:
        curves.close()
