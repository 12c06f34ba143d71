"""An observer of self-training that passes on what it is told, and has it tracked as well."""

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
from housewise.rollout.executor import RunCallback
from housewise.rollout.run import Run
from housewise.selftrain.personalize.loop import Observer
from housewise.selftrain.personalize.memories import IMITATE, UNTRAINED
from housewise.selftrain.trainers import Progress
from housewise.tracking.curves import Curves
from housewise.tracking.episode_tracking import TrackedEpisodes

_BEFORE = (UNTRAINED, IMITATE)


class TrackedTraining:
    """An observer of self-training that has losses, attempts and what each phase came to tracked.

    Losses are read from the curves that trainings leave in their folders, so that it does not matter who trains.

    Args:
        observer: told of everything.
        curves: take the figures.
        folder: of the self-training.
    """

    def __init__(self, observer: Observer, curves: Curves, folder: Path) -> None:
        self._observer, self._curves, self._folder = observer, curves, folder
        self._read: Counter[str] = Counter()

    @contextmanager
    def playing(self, name: str, session: Run) -> Iterator[RunCallback]:
        """See Observer.playing."""
        with self._observer.playing(name, session) as callback:
            tracked = TrackedEpisodes(callback, self._curves, session, name.replace(": ", "/"))
            yield tracked
            tracked.catch_up()

    @contextmanager
    def training(self, name: str) -> Iterator[Progress]:
        """See Observer.training."""
        phase = name.partition(":")[0]
        with self._observer.training(name) as progress:

            def tell(done: int, total: int, words: str) -> None:
                progress(done, total, words)
                self._losses(phase)

            yield tell
        self._losses(phase)

    def reached(self, phase: dict[str, Any]) -> None:
        """See Observer.reached."""
        self._observer.reached(phase)
        name = str(phase["phase"])
        self._losses(name)
        figures = {f"training/{key}": value for key, value in phase.get("metrics", {}).items()}
        for tasks, row in phase["evaluation"].items():
            figures |= {f"{tasks}/{key}": value for key, value in row.items() if isinstance(value, Real)}
        self._curves.log("phases", _number(name), figures)

    def _losses(self, phase: str) -> None:
        """Pass on what a phase's curve has grown by."""
        for row in islice(_rows(self._folder / phase / "curve.csv"), self._read[phase], None):
            self._read[phase] += 1
            if "step" in row:
                self._curves.log(f"{phase}/training", int(row.pop("step")), row)


def _number(phase: str) -> int:
    """How many phases there may be before this one."""
    return _BEFORE.index(phase) if phase in _BEFORE else int(phase.rpartition("-")[2]) + 1


def _rows(path: Path) -> Iterator[dict[str, float]]:
    """The rows of a training's curve as far as they are numbers; none where there is no curve."""
    if not path.is_file():
        return
    for row in csv.DictReader(io.StringIO(read_bytes(path).decode("utf-8"), newline="")):
        yield {name: float(value) for name, value in row.items() if name and value}
