"""An observer of self-training that logs losses, episodes and the metrics of each phase to trackers."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import Any

from housewise.core.files import read_bytes
from housewise.language.adapters import IMITATE
from housewise.rollout.executor import RunCallback
from housewise.rollout.run import Run
from housewise.selftrain.personalize.planned_phases import UNTRAINED
from housewise.selftrain.trainers import Progress
from housewise.selftrain.training_folder import TrainingObserver
from housewise.tracking.curves import Curves
from housewise.tracking.episode_tracking import EpisodeTrackingCallback

_BEFORE = (UNTRAINED, IMITATE)


class TrainingTrackingObserver:
    """An observer of self-training that logs losses, episodes and the metrics of each phase.

    Losses are read from the `curve.csv` that trainers write, so that it works with every trainer.

    Args:
        observer: Observer that is called as well.
        curves: Curves that receive the metrics.
        folder: Folder of the self-training.
    """

    def __init__(self, observer: TrainingObserver, curves: Curves, folder: Path) -> None:
        self._observer, self._curves, self._folder = observer, curves, folder
        self._read: Counter[str] = Counter()

    @contextmanager
    def watch_episodes(self, name: str, run: Run) -> Iterator[RunCallback]:
        """See `TrainingObserver.watch_episodes`."""
        with self._observer.watch_episodes(name, run) as callback:
            tracked = EpisodeTrackingCallback(callback, self._curves, run, name.replace(": ", "/"))
            yield tracked
            tracked.catch_up()

    @contextmanager
    def watch_training(self, name: str) -> Iterator[Progress]:
        """See `TrainingObserver.watch_training`."""
        phase = name.partition(":")[0]
        with self._observer.watch_training(name) as progress:

            def tell(done: int, total: int, words: str) -> None:
                progress(done, total, words)
                self._losses(phase)

            yield tell
        self._losses(phase)

    def end_phase(self, phase: dict[str, Any]) -> None:
        """See `TrainingObserver.end_phase`."""
        self._observer.end_phase(phase)
        name = str(phase["phase"])
        self._losses(name)
        figures = {f"training/{key}": value for key, value in phase.get("metrics", {}).items()}
        for tasks, row in phase["evaluation"].items():
            figures |= {f"{tasks}/{key}": value for key, value in row.items() if isinstance(value, Real)}
        self._curves.log("phases", _number(name), figures)

    def _losses(self, phase: str) -> None:
        """Log the new rows of a phase's training curve."""
        for row in islice(_rows(self._folder / phase / "curve.csv"), self._read[phase], None):
            self._read[phase] += 1
            if "step" in row:
                self._curves.log(f"{phase}/training", int(row.pop("step")), row)


def _number(phase: str) -> int:
    """Return the position of a phase on the axis of phases."""
    return _BEFORE.index(phase) if phase in _BEFORE else int(phase.rpartition("-")[2]) + 1


def _rows(path: Path) -> Iterator[dict[str, float]]:
    """Read the numeric values of each row of a training curve, if the file exists."""
    if not path.is_file():
        return
    for row in csv.DictReader(io.StringIO(read_bytes(path).decode("utf-8"), newline="")):
        yield {name: float(value) for name, value in row.items() if name and value}
