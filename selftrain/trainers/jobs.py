"""A training as a file, which a stopped one goes on from and the processes of a launcher share."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from housewise.core.errors import UserError
from housewise.core.text_files import read_text
from housewise.language.adapters import adapter_folder
from housewise.language.local.digests import weights_digest
from housewise.language.local.smollm2 import SMOLLM2
from housewise.rollout.saved_settings import find_changed_settings, is_same_setting
from housewise.selftrain.datasets import Prompted
from housewise.selftrain.personalize.settings import PreferenceConfig, TrainingConfig
from housewise.selftrain.trainers.base import ModelReference

JOB = "job.json"
_GLANCE = 1.0


class TrainingJob(BaseModel):
    """A training as a file: what its checkpoints belong to, and what processes carry out together.

    Attributes:
        pairs: digest of what is learned.
        keys: under which the settings stand; see Settings.key.
        weights: Digests of the model and of the adapter that training goes on from, where they are known; see
            weights_digest. Files of earlier versions have none.
    """

    model_config = ConfigDict(extra="forbid")

    config: PreferenceConfig | TrainingConfig
    seed: int
    start: ModelReference
    pairs: str
    keys: dict[str, str] = Field(default_factory=dict)
    weights: dict[str, str] = Field(default_factory=dict)

    @classmethod
    def create(
        cls, config: TrainingConfig, seed: int, start: ModelReference, examples: Sequence[Prompted]
    ) -> TrainingJob:
        """The job of a training with these settings, model and examples."""
        named = {"model": start.model.partition(":")[2] or SMOLLM2, "adapter": start.adapter}
        places = {key: str(adapter_folder(name)) if key == "adapter" else name for key, name in named.items() if name}
        weights = {key: found for key, name in places.items() if (found := weights_digest(name)) is not None}
        return cls(
            config=config,
            seed=seed,
            start=start,
            pairs=examples_digest(examples),
            keys=config.setting_keys,
            weights=weights,
        )

    def changed_parts(self, folder: Path) -> list[str] | None:
        """What differs from the training that was begun in a folder; None where no readable one was."""
        try:
            earlier = TrainingJob.model_validate_json(read_text(folder / JOB))
        except (UserError, ValidationError):
            return None
        settings = find_changed_settings(earlier.config.identity, self.config.identity)
        changed = {
            f"settings ({', '.join(settings)})": bool(settings),
            "seed": earlier.seed != self.seed,
            f"model ({earlier.start.model})": not self._has_same_start(earlier, "model"),
            f"adapter ({earlier.start.adapter})": not self._has_same_start(earlier, "adapter"),
            "examples": earlier.pairs != self.pairs,
        }
        return [what for what, differs in changed.items() if differs]

    def _has_same_start(self, earlier: TrainingJob, key: str) -> bool:
        """Whether training goes on from the same model, or the same adapter, wherever it is."""
        then, now = earlier.weights.get(key), self.weights.get(key)
        if then is not None and now is not None:
            return then == now
        if is_same_setting(getattr(earlier.start, key), getattr(self.start, key)):
            return True
        # Of earlier versions the name alone is known, which is that of an adapter everywhere.
        before, after = (job.start.folders.get(key) for job in (earlier, self))
        moved = before is not None and after is not None and before.name == after.name and not before.exists()
        return moved and key == "model"


def examples_digest(examples: Sequence[Prompted]) -> str:
    """Tells what is learned from anything else; fields that earlier versions did not have count where they are set."""
    lines = (
        each.model_dump_json(exclude={name for name in each.added if not getattr(each, name)}) for each in examples
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def load_launched_job(folder: Path, parent: int) -> tuple[PreferenceConfig | TrainingConfig, int, ModelReference]:
    """The training that a folder's ``job.json`` describes, for a process of a launcher, which ends with its parent.

    Args:
        folder: of the training.
        parent: the process that called the launcher.
    """
    threading.Thread(target=_exit_with_parent, args=(parent,), daemon=True).start()
    job = TrainingJob.model_validate_json(read_text(folder / JOB))
    return job.config.with_keys(job.keys), job.seed, job.start


def _exit_with_parent(process: int) -> None:
    """End this process when the one that launched it is gone: a killed one cannot say so, and will train again."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        launched_by = psutil.Process(process)
        while launched_by.is_running() and launched_by.status() != psutil.STATUS_ZOMBIE:
            time.sleep(_GLANCE)
    os._exit(1)
