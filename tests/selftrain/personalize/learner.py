"""A small self-training of a tiny model, as a command."""

import os
import subprocess
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar

from tests.commands import Program, run_module, started_module
from tests.selftrain.tiny import save_learner, save_prompt


class Learner:
    """A tiny model with the settings of a small self-training of it.

    Attributes:
        environment: Further environment variables of the command.
        timeout: Seconds after which the command is killed.
    """

    environment: ClassVar[Mapping[str, str]] = {}
    timeout: ClassVar[float] = 240

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model, self.prompt = save_learner(folder / "tiny"), save_prompt(folder / "short.yaml")

    def command(self, out: Path, *more: str) -> list[str]:
        """Return the arguments of the command."""
        settings = [
            f"run.prompt={self.prompt}", "run.max_steps=40", "run.max_plans=2",
            # A grammar makes it end lines; of what is cut nothing else is learned.
            "run.grounded=true", "run.sampling.max_tokens=64",
            "lessons=[{houses: 1, each: 2}]",
            "filter.name=tests.selftrain.tiny:everything", "imitation_epochs=2", "training.epochs=1",
            "training.rank=2", "training.batch=2", "training.max_example_tokens=16384", "training.checkpoint_steps=1",
            "training.device=cpu", "training.dtype=float32", "evaluation.untrained=true",
            "learning_rate_decay=0.5", *more,
        ]  # fmt: skip
        options = ["--houses", "2", "--repeats", "1", "--model", f"local:{self.model}", "--out", str(out)]
        return ["selftrain", *options, *settings]

    def start(self, out: Path, *more: str) -> AbstractContextManager[Program]:
        return started_module("housewise.cli", self.command(out, *more), {**os.environ, **self.environment})

    def run(self, out: Path, *more: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Train until the command ends with a code."""
        known = {**os.environ, **self.environment}
        return run_module("housewise.cli", self.command(out, *more), known, timeout=self.timeout, code=code)

    def train(self, out: Path, *more: str, code: int = 0) -> str:
        """Train, and return what is written to standard error."""
        return self.run(out, *more, code=code).stderr
