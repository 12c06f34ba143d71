"""The trackers that come along; see housewise.tracking.curves.Tracker."""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.tracking.curves import Steps


class TensorBoard:
    """Writes event files, in ``tensorboard/``.

    Args:
        folder: of what is followed.
    """

    def __init__(self, folder: Path) -> None:
        from tensorboardX import SummaryWriter

        self._folder = folder / "tensorboard"
        self._known = self._read() if self._folder.is_dir() else {}
        # Two that begin in the same second would write to one file. Files are read by name, and names have seconds.
        self._writer: Any = SummaryWriter(
            str(self._folder), filename_suffix=f".{time.time_ns()}.{secrets.token_hex(4)}"
        )

    @staticmethod
    def check() -> None:
        """See TrackerClass.check."""
        _installed("tensorboard", "tensorboardX", "tensorboard")

    def known(self) -> Steps:
        """See Tracker.known."""
        return self._known

    def log(self, series: str, step: int, figures: Mapping[str, float]) -> None:
        """See Tracker.log."""
        for name, value in figures.items():
            self._writer.add_scalar(name, value, step)
        # What a killed program had not written would be missing for good.
        self._writer.flush()

    def close(self) -> None:
        """See Tracker.close."""
        self._writer.close()

    def _read(self) -> Steps:
        from tensorboard.backend.event_processing.event_accumulator import SCALARS, EventAccumulator

        events = EventAccumulator(str(self._folder), size_guidance={SCALARS: 0})
        events.Reload()
        return {name: max(point.step for point in events.Scalars(name)) for name in events.Tags()[SCALARS]}


class WandB:
    """Logs to Weights & Biases; without ``WANDB_API_KEY`` into files in ``wandb/``, but as ``WANDB_MODE`` says.

    The library tells of the machine and the command as well; it is told not to look at code or repositories.

    Args:
        folder: of what is followed; its name is the run's.
    """

    def __init__(self, folder: Path) -> None:
        import wandb

        self._path = folder / "wandb" / "housewise.json"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._state = self._read()
        mode: Any = os.environ.get("WANDB_MODE") or ("online" if os.environ.get("WANDB_API_KEY") else "offline")
        self._run: Any = wandb.init(
            project=os.environ.get("WANDB_PROJECT", "housewise"),
            name=folder.resolve().name,
            id=self._state["id"],
            resume="allow",
            dir=str(folder),
            mode=mode,
            settings=wandb.Settings(silent=True, console="off", disable_git=True, disable_code=True),
        )
        self._defined: set[str] = set()

    @staticmethod
    def check() -> None:
        """See TrackerClass.check."""
        _installed("wandb", "wandb")

    def known(self) -> Steps:
        """See Tracker.known."""
        steps: Steps = self._state["steps"]
        return steps

    def log(self, series: str, step: int, figures: Mapping[str, float]) -> None:
        """See Tracker.log."""
        axis = f"{series}/step"
        if axis not in self._defined:
            self._run.define_metric(axis, hidden=True)
        for name in figures.keys() - self._defined:
            self._run.define_metric(name, step_metric=axis)
        self._defined |= {axis, *figures}
        self._run.log({axis: step, **figures}, step=self._state["points"])
        self._state["points"] += 1
        self._state["steps"].update(dict.fromkeys(figures, step))
        write_json(self._path, self._state)

    def close(self) -> None:
        """See Tracker.close."""
        self._run.finish()

    def _read(self) -> dict[str, Any]:
        if not self._path.exists():
            return {"id": secrets.token_hex(8), "points": 0, "steps": {}}
        state = json.loads(self._path.read_text(encoding="utf-8"))
        return {"id": str(state["id"]), "points": int(state["points"]), "steps": dict(state["steps"])}


def _installed(extra: str, *libraries: str) -> None:
    for library in libraries:
        if importlib.util.find_spec(library) is None:
            raise UserError(f"{library} is not installed; run pip install 'housewise[{extra}]', or leave out --log-to")
