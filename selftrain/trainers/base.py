"""The interface of all trainers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from housewise.selftrain.examples import Example
from housewise.selftrain.trainers.trained_model import ModelReference, TrainedModel

Progress = Callable[[int, int, str], None]
"""Called with the steps done, the steps in all, and a description of the state."""

ExampleT_contra = TypeVar("ExampleT_contra", bound=Example, contravariant=True)


def ignore_progress(done: int, total: int, description: str) -> None:
    """A Progress that does nothing."""


class Trainer(Protocol[ExampleT_contra]):
    """Improves a model with demonstrations (supervised fine-tuning), or with preferences (DPO)."""

    def check(self, start: ModelReference) -> None:
        """Check that a model can be trained, before any work that its training depends on.

        Raises:
            UserError: It cannot; the message says what to change.
        """

    def train(self, examples: Sequence[ExampleT_contra], start: ModelReference, folder: Path) -> TrainedModel:
        """Train a model, or resume the training that was stopped in this folder.

        Args:
            examples: What to learn.
            start: The model to start from.
            folder: Where the training writes all its files.

        Returns:
            The trained model. A finished training in this folder returns its model at once.

        Raises:
            UserError: Something outside the program is wrong; the message says what to change.
        """
