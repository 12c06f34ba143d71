"""Trainers: examples and a model in, a better model out. They run on this machine, or behind a fine-tuning API."""

from __future__ import annotations

from typing import Any, Protocol

from housewise.core.errors import UserError
from housewise.core.migrations.code_names import find_former_name
from housewise.core.plugins import TRAINERS, open_plugin
from housewise.selftrain.examples import Demonstration, Preference
from housewise.selftrain.trainers.base import Progress, Trainer
from housewise.selftrain.trainers.settings import PreferenceConfig, TrainingConfig
from housewise.selftrain.trainers.trained_model import ModelReference, TrainedModel

__all__ = [
    "ModelReference",
    "Progress",
    "TrainedModel",
    "Trainer",
    "TrainerOpener",
    "open_preference_trainer",
    "open_trainer",
]


class TrainerOpener(Protocol):
    """Makes a trainer; registered as an entry point of the group ``housewise.trainers``."""

    def __call__(
        self, config: TrainingConfig, seed: int, base_url: str | None, progress: Progress
    ) -> Trainer[Demonstration]:
        """See open_trainer."""


def open_trainer(config: TrainingConfig, seed: int, base_url: str | None, progress: Progress) -> Trainer[Demonstration]:
    """Return the trainer for demonstrations that the settings name.

    Args:
        config: Settings of the training.
        seed: Seed of the training's random numbers.
        base_url: Address of a fine-tuning API; ``$OPENAI_BASE_URL`` by default, or else OpenAI's.
        progress: Called as training proceeds.

    Raises:
        UserError: There is no such trainer.
    """
    arguments = (config, seed, base_url, progress)
    trainer: Trainer[Demonstration] = open_plugin(
        TRAINERS, config.trainer, "trainer", *arguments, needs=("check", "train")
    )
    return trainer


def open_local(config: TrainingConfig, seed: int, base_url: str | None, progress: Progress) -> Trainer[Demonstration]:
    """Return a trainer that uses PEFT and TRL on this machine; see TrainerOpener."""
    from housewise.selftrain.trainers.local import LocalTrainer

    return LocalTrainer(config, seed, progress)


def open_api(config: TrainingConfig, seed: int, base_url: str | None, progress: Progress) -> Trainer[Demonstration]:
    """Return a trainer that uses a fine-tuning API; see TrainerOpener."""
    from housewise.selftrain.trainers.openai_trainers import OpenAITrainer

    return OpenAITrainer(config, seed, base_url, progress)


def open_preference_trainer(
    config: PreferenceConfig, seed: int, base_url: str | None, progress: Progress
) -> Trainer[Preference]:
    """Return the trainer for preferences that the settings name, ``local`` or ``openai``; see open_trainer.

    Raises:
        UserError: There is no such trainer.
    """
    if config.trainer == "local":
        from housewise.selftrain.trainers.local import LocalPreferenceTrainer

        return LocalPreferenceTrainer(config, seed, progress)
    if config.trainer == "openai":
        from housewise.selftrain.trainers.openai_trainers import OpenAIPreferenceTrainer

        return OpenAIPreferenceTrainer(config, seed, base_url, progress)
    raise UserError(f"preference.trainer={config.trainer}: cannot learn preferences; use local or openai")


def __getattr__(name: str) -> Any:
    return find_former_name(__name__, name)
