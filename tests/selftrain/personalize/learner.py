"""A small self-training of a tiny model, as a command."""

import sys
from contextlib import AbstractContextManager
from pathlib import Path

from tests.commands import Program, run_module, started_module
from tests.selftrain.tiny import save_learner, save_prompt


class Learner:
    """A tiny model with the settings of a small self-training of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model, self.prompt = save_learner(folder / "tiny"), save_prompt(folder / "short.yaml")

    def command(self, out: Path, *more: str) -> list[str]:
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
        return [sys.executable, "-m", "housewise.cli", "selftrain", *options, *settings]

    def start(self, out: Path, *more: str) -> AbstractContextManager[Program]:
        command = self.command(out, *more)
        return started_module(command[2], command[3:])

    def run(self, out: Path, *more: str) -> tuple[int, str, str]:
        command = self.command(out, *more)
        done = run_module(command[2], command[3:], timeout=240)
        return done.returncode, done.stdout, done.stderr
