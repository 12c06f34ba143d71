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
from housewise.core.reading import read_text
from housewise.selftrain.personalize.settings import PreferenceConfig, TrainingConfig
from housewise.selftrain.trainers.base import Start

JOB = "job.json"
_GLANCE = 1.0


class Job(BaseModel):
    """A training as a file: what its checkpoints belong to, and what processes carry out together.

    Attributes:
        pairs: digest of what is learned.
        keys: under which the settings stand; see Settings.key.
    """

    model_config = ConfigDict(extra="forbid")

    config: PreferenceConfig | TrainingConfig
    seed: int
    start: Start
    pairs: str
    keys: dict[str, str] = Field(default_factory=dict)

    def same(self, folder: Path) -> bool:
        """Whether the training that was begun in a folder is this one."""
        try:
            earlier = Job.model_validate_json(read_text(folder / JOB))
        except (UserError, ValidationError):
            return False
        alike = (earlier.seed, earlier.start, earlier.pairs) == (self.seed, self.start, self.pairs)
        return alike and earlier.config.identity == self.config.identity


def digest(examples: Sequence[BaseModel]) -> str:
    """Tells what is learned from anything else."""
    return hashlib.sha256("\n".join(example.model_dump_json() for example in examples).encode()).hexdigest()


def launched(folder: Path, parent: int) -> tuple[PreferenceConfig | TrainingConfig, int, Start]:
    """The training that a folder's ``job.json`` describes, for a process of a launcher, which ends with its parent.

    Args:
        folder: of the training.
        parent: the process that called the launcher.
    """
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    job = Job.model_validate_json(read_text(folder / JOB))
    return job.config.with_keys(job.keys), job.seed, job.start


def _end_with(process: int) -> None:
    """End this process when the one that launched it is gone: a killed one cannot say so, and will train again."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        launched_by = psutil.Process(process)
        while launched_by.is_running() and launched_by.status() != psutil.STATUS_ZOMBIE:
            time.sleep(_GLANCE)
    os._exit(1)
