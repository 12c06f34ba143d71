"""The bundled trackers; see `housewise.tracking.curves.Tracker`."""

from __future__ import annotations

import importlib.util
import os
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.text_files import read_json
from housewise.tracking.curves import Steps
from housewise.tracking.wandb_files import read_history


@dataclass(frozen=True)
class Part:
    """What one program logged to a Weights & Biases run.

    Attributes:
        folder: Name of the folder of its files.
        points: Number of the next point.
        steps: Last step of each curve.
    """

    folder: str
    points: int
    steps: Steps


class TensorBoard:
    """Writes TensorBoard event files to `tensorboard/`.

    Args:
        folder: Folder of the run.
    """

    def __init__(self, folder: Path) -> None:
        from tensorboardX import SummaryWriter

        self._folder = folder / "tensorboard"
        self._known = self._read() if self._folder.is_dir() else {}
        # File names have a resolution of a second, so that two programs could write to one file.
        self._writer: Any = SummaryWriter(
            str(self._folder), filename_suffix=f".{time.time_ns()}.{secrets.token_hex(4)}"
        )

    @staticmethod
    def check() -> None:
        """See `TrackerClass.check`."""
        _require("tensorboard", "tensorboardX", "tensorboard")

    def last_steps(self) -> Steps:
        """See `Tracker.last_steps`."""
        return self._known

    def log(self, series: str, step: int, figures: Mapping[str, float]) -> None:
        """See `Tracker.log`."""
        for name, value in figures.items():
            self._writer.add_scalar(name, value, step)
        # Points in the buffer of a killed program would be lost.
        self._writer.flush()

    def close(self) -> None:
        """See `Tracker.close`."""
        self._writer.close()

    def _read(self) -> Steps:
        from tensorboard.backend.event_processing.event_accumulator import SCALARS, EventAccumulator

        events = EventAccumulator(str(self._folder), size_guidance={SCALARS: 0})
        events.Reload()
        return {name: max(point.step for point in events.Scalars(name)) for name in events.Tags()[SCALARS]}


class WandB:
    """Logs to Weights & Biases; without `WANDB_API_KEY` into files in `wandb/`, unless `WANDB_MODE` says otherwise.

    The settings in `config.json` become the run's `config`. The library also logs the machine and the command; code and
    repositories are not logged.

    A process of the library writes points to its file some time after they were logged. Points that it has not written
    are lost when the program is killed. Therefore `wandb/housewise.json` lists the files, and their content says which
    points were stored. For a file that was deleted, as `wandb sync --clean` does, the logged points count as stored.

    Args:
        folder: Folder of the run, whose name becomes the run's name.
    """

    def __init__(self, folder: Path) -> None:
        import wandb

        self._path = folder / "wandb" / "housewise.json"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._id, self._parts = self._read()
        self._known = _latest(part.steps for part in self._parts)
        mode: Any = os.environ.get("WANDB_MODE") or ("online" if os.environ.get("WANDB_API_KEY") else "offline")
        self._run: Any = wandb.init(
            project=os.environ.get("WANDB_PROJECT") or "housewise",
            name=folder.resolve().name,
            id=self._id,
            resume="allow",
            config=_settings(folder),
            dir=str(folder),
            mode=mode,
            settings=wandb.Settings(silent=True, console="off", disable_git=True, disable_code=True),
        )
        self._defined: set[str] = set()
        points = max((part.points for part in self._parts), default=0)
        self._parts.append(Part(Path(self._run.dir).parent.name, points, {}))

    @staticmethod
    def check() -> None:
        """See `TrackerClass.check`."""
        _require("wandb", "wandb")

    def last_steps(self) -> Steps:
        """See `Tracker.last_steps`."""
        return self._known

    def log(self, series: str, step: int, figures: Mapping[str, float]) -> None:
        """See `Tracker.log`."""
        axis = f"{series}/step"
        if axis not in self._defined:
            self._run.define_metric(axis, hidden=True)
        for name in figures.keys() - self._defined:
            self._run.define_metric(name, step_metric=axis)
        self._defined |= {axis, *figures}
        part = self._parts[-1]
        self._run.log({axis: step, **figures}, step=part.points)
        self._parts[-1] = Part(part.folder, part.points + 1, {**part.steps, **dict.fromkeys(figures, step)})
        write_json(self._path, {"id": self._id, "parts": [asdict(each) for each in self._parts]})

    def close(self) -> None:
        """See `Tracker.close`."""
        self._run.finish()

    def _read(self) -> tuple[str, list[Part]]:
        """Return the run's id and what earlier programs logged to it."""
        if not self._path.exists():
            return secrets.token_hex(8), []
        state = read_json(self._path)
        # Earlier versions did not list the files.
        parts = state.get("parts", [{"folder": "", **state}])
        told = [Part(str(part["folder"]), int(part["points"]), dict(part["steps"])) for part in parts]
        return str(state["id"]), [self._read_part(str(state["id"]), part) for part in told]

    def _read_part(self, run: str, part: Part) -> Part:
        path = self._path.parent / Path(part.folder).name / f"run-{run}.wandb"
        if not part.folder or not path.is_file():
            return part
        rows = list(read_history(path))
        steps = _latest(
            {name: int(row[axis]) for name in row if not name.startswith("_") and name != axis}
            for row in rows
            for axis in [name for name in row if name.endswith("/step")][:1]
        )
        return Part(part.folder, max((int(row["_step"]) + 1 for row in rows), default=0), steps)


def _latest(several: Iterable[Steps]) -> dict[str, int]:
    """Return the last step of each curve."""
    latest: dict[str, int] = {}
    for steps in several:
        for name, step in steps.items():
            latest[name] = max(step, latest.get(name, step))
    return latest


def _settings(folder: Path) -> dict[str, Any]:
    """Return the settings in a folder's `config.json`, or an empty dictionary."""
    try:
        content = read_json(folder / "config.json")
    except UserError:
        return {}
    return content if isinstance(content, dict) else {}


def _require(extra: str, *libraries: str) -> None:
    for library in libraries:
        if importlib.util.find_spec(library) is None:
            raise UserError(f"{library} is not installed; run pip install 'housewise[{extra}]', or leave out --log-to")
