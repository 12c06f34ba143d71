"""Teaches a model kept preferences, on this machine or behind a fine-tuning API.

    python -m housewise.selftrain.prefer PREFERENCES --model MODEL --out FOLDER [preference.trainer=openai ...]

A model behind a server does not tell how likely given texts are, which reflection takes (ADAPT, arXiv 2504.04040): so a
local student reflects, and what it found out can teach the server's model as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from housewise.core.files import exclusive_lock
from housewise.selftrain.adapt.settings import load_training
from housewise.selftrain.preferences import read_preferences
from housewise.selftrain.trainers import ModelReference, open_preference_trainer


def main(
    preferences: Annotated[Path, typer.Argument(help="preferences.jsonl of a training.")],
    out: Annotated[Path, typer.Option(help="Folder of the training; the same one goes on.")],
    model: Annotated[str, typer.Option(help="The model that is taught, such as local or a server's name of it.")],
    adapter: Annotated[str | None, typer.Option(help="Folder of an adapter of a local model.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Of the server; OpenAI's without it.")] = None,
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, as in preference.trainer=openai.")] = None,
) -> None:
    """Learn which of two replies is the better one (DPO)."""
    config = load_training(overrides=overrides or ())
    trainer = open_preference_trainer(config.preference, config.run.tasks.seed, base_url, _Told())
    with exclusive_lock(out):
        trained = trainer.train(read_preferences(preferences), ModelReference(model=model, adapter=adapter), out)
    typer.echo(f"{out}: {trained.model}" + (f" with {trained.adapter}" if trained.adapter else ""))


class _Told:
    """Says how it goes, each line once."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, done: int, total: int, words: str) -> None:
        line = f"{done} of {total}: {words}" if total > 1 else words
        if line != self._last:
            typer.echo(line, err=True)
        self._last = line


if __name__ == "__main__":
    from housewise.core.console import run_cli

    run_cli(lambda: typer.run(main))
