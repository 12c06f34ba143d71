"""``job.json``: the description of a local training, which resuming compares and a launcher's processes read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator
from pydantic_core import to_json

from housewise.core.errors import UserError
from housewise.core.migrations.settings import migrate_settings
from housewise.core.validation import StrictModel, read_model
from housewise.language.adapters import adapter_folder
from housewise.language.local.digests import weights_digest
from housewise.language.local.smollm2 import SMOLLM2
from housewise.rollout.saved_settings import find_changed_settings, is_same_setting
from housewise.selftrain.examples import Example
from housewise.selftrain.trainers.settings import PreferenceConfig, TrainingConfig
from housewise.selftrain.trainers.trained_model import ModelReference

JOB = "job.json"
_POLL_SECONDS = 1.0


class TrainingJob(StrictModel):
    """The content of ``job.json``: what checkpoints belong to, and what a launcher's processes carry out together.

    Attributes:
        pairs: Digest of the examples.
        keys: Full names of the settings; see Settings.key.
        weights: Digests of the model and the adapter that training starts from, where they are known; see
            weights_digest. Files of earlier versions have none.
    """

    config: TrainingConfig | PreferenceConfig
    seed: int
    start: ModelReference
    pairs: str
    keys: dict[str, str] = Field(default_factory=dict)
    weights: dict[str, str] = Field(default_factory=dict)

    @classmethod
    def create(
        cls, config: TrainingConfig, seed: int, start: ModelReference, examples: Sequence[Example]
    ) -> TrainingJob:
        """Return the job of a training with these settings, model and examples."""
        names = {"model": start.model.partition(":")[2] or SMOLLM2, "adapter": start.adapter}
        paths = {key: str(adapter_folder(name)) if key == "adapter" else name for key, name in names.items() if name}
        weights = {key: digest for key, path in paths.items() if (digest := weights_digest(path)) is not None}
        return cls(
            config=config,
            seed=seed,
            start=start,
            pairs=examples_digest(examples),
            keys=config.setting_keys,
            weights=weights,
        )

    @field_validator("config", mode="before")
    @classmethod
    def _migrate_settings(cls, config: Any) -> Any:
        """Accept former names of settings, which folders of earlier versions have."""
        if not isinstance(config, dict):
            return config
        current = {"training": PreferenceConfig().model_dump()}
        return migrate_settings({"training": config}, current, "settings of a training")["training"]

    def changed_parts(self, folder: Path) -> list[str] | None:
        """Return what differs from the training that was begun in a folder; None where no readable one was."""
        try:
            earlier = read_model(folder / JOB, TrainingJob)
        except UserError:
            return None
        settings = find_changed_settings(earlier.config.identity, self.config.identity)
        changed = {
            f"settings ({', '.join(settings)})": bool(settings),
            "seed": earlier.seed != self.seed,
            f"model ({earlier.start.model})": not self._has_same_start(earlier, "model"),
            f"adapter ({earlier.start.adapter})": not self._has_same_start(earlier, "adapter"),
            "examples": earlier.pairs != self.pairs,
        }
        return [part for part, differs in changed.items() if differs]

    def _has_same_start(self, earlier: TrainingJob, key: str) -> bool:
        """Return whether both jobs start from the same model, or the same adapter, wherever it is."""
        then, now = earlier.weights.get(key), self.weights.get(key)
        if then is not None and now is not None:
            return then == now
        if is_same_setting(getattr(earlier.start, key), getattr(self.start, key)):
            return True
        # Earlier versions recorded the name alone, and every adapter's folder has the same name.
        before, after = (job.start.folders.get(key) for job in (earlier, self))
        is_moved = before is not None and after is not None and before.name == after.name and not before.exists()
        return is_moved and key == "model"


def examples_digest(examples: Sequence[Example]) -> str:
    """Return a digest that identifies examples. Fields that earlier versions did not have count only where set."""
    lines = []
    for example in examples:
        fields = example.ordered_fields()
        unset = {name for name in example.later_fields if not fields[name]}
        lines.append(to_json({name: value for name, value in fields.items() if name not in unset}, inf_nan_mode="null"))
    return hashlib.sha256(b"\n".join(lines)).hexdigest()


def load_launched_job(folder: Path, parent: str) -> tuple[PreferenceConfig | TrainingConfig, int, ModelReference]:
    """Read a folder's ``job.json`` in a process of a launcher, and end this process when its parent ends.

    Args:
        folder: Folder of the training.
        parent: Name of the process that called the launcher; see name_this_process.
    """
    exit_with_parent(parent)
    job = read_model(folder / JOB, TrainingJob)
    return job.config.with_keys(job.keys), job.seed, job.start


def name_this_process() -> str:
    """Return the name of this process for ``exit_with_parent``: its machine and its id."""
    return f"{socket.gethostname()}:{os.getpid()}"


def exit_with_parent(parent: str) -> None:
    """End this process as soon as the one that started it has ended, if that is on this machine.

    Args:
        parent: See name_this_process.
    """
    host, _, process = parent.rpartition(":")
    if host != socket.gethostname():
        return
    # Imported before the thread starts: psutil calls getenv when it is imported, and a process crashes where another
    # thread adds an environment variable meanwhile, as imports of torch do.
    import psutil

    threading.Thread(target=_exit_with_parent, args=(psutil, int(process)), daemon=True).start()


def _exit_with_parent(psutil: Any, process: int) -> None:
    """Exit when the launching process is gone: a killed one cannot say so, and its training may be started again."""
    with contextlib.suppress(psutil.NoSuchProcess):
        launcher = psutil.Process(process)
        while launcher.is_running() and launcher.status() != psutil.STATUS_ZOMBIE:
            time.sleep(_POLL_SECONDS)
    os._exit(1)
