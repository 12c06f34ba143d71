r"""Trains a model with the preferences of an earlier training, on this machine or behind a fine-tuning API.

    python -m housewise.selftrain.train_on_preferences PREFERENCES --model MODEL --out FOLDER \
        [preference.trainer=openai ...]

Reflection (ADAPT, arXiv 2504.04040) needs the likelihood of given texts, which a server's model does not report. So a
local student reflects, and its preferences can then train the server's model as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from housewise.core.folder_locks import exclusive_lock
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from housewise.selftrain.examples import Preference, read_examples
from housewise.selftrain.trainers import ModelReference, open_preference_trainer


def main(
    preferences: Annotated[Path, typer.Argument(help="preferences.jsonl of a training.")],
    out: Annotated[Path, typer.Option(help="Folder of the training; the same folder resumes it.")],
    model: Annotated[str, typer.Option(help="The model to train: local, or a server's name of it.")],
    adapter: Annotated[str | None, typer.Option(help="Folder of an adapter of a local model.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Address of the server; OpenAI's by default.")] = None,
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, as in preference.trainer=openai.")] = None,
) -> None:
    """Train a model to prefer one of two replies (DPO)."""
    config = AdaptTrainingConfig.load(overrides=overrides or ())
    trainer = open_preference_trainer(config.preference, config.run.tasks.seed, base_url, _ProgressPrinter())
    with exclusive_lock(out):
        start = ModelReference(model=model, adapter=adapter)
        trained = trainer.train(read_examples(preferences, Preference), start, out)
    typer.echo(f"{out}: {trained.model}" + (f" with {trained.adapter}" if trained.adapter else ""))


class _ProgressPrinter:
    """Prints the progress of a training, and each state only once."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, done: int, total: int, description: str) -> None:
        line = f"{done} of {total}: {description}" if total > 1 else description
        if line != self._last:
            typer.echo(line, err=True)
        self._last = line


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
