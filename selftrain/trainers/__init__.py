"""Trainers: on this machine, or behind a fine-tuning API."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from housewise.core.errors import UserError
from housewise.core.plugins import TRAINERS, open_plugin
from housewise.selftrain.personalize.settings import PreferenceConfig, TrainingConfig
from housewise.selftrain.preferences import Preference
from housewise.selftrain.trainers.base import Progress, ModelReference, TrainedModel, Trainer

__all__ = [
    "LearnsPreferences",
    "Progress",
    "ModelReference",
    "TrainedModel",
    "Trainer",
    "open_preference_trainer",
    "open_trainer",
]


class TrainerOpener(Protocol):
    """Makes a trainer; named in entry points (``housewise.trainers``)."""

    def __call__(self, config: TrainingConfig, seed: int, base_url: str | None, progress: Progress) -> Trainer:
        """See open_trainer."""
        ...


def open_trainer(config: TrainingConfig, seed: int, base_url: str | None, progress: Progress) -> Trainer:
    """The trainer that the settings name.

    Args:
        config: the settings.
        seed: of what is drawn in training.
        base_url: of a fine-tuning API; by default ``$OPENAI_BASE_URL``, then OpenAI's.
        progress: told of how training goes.

    Raises:
        UserError: when there is no such trainer.
    """
    arguments = (config, seed, base_url, progress)
    made: Trainer = open_plugin(TRAINERS, config.trainer, "trainer", *arguments, needs=("check", "train"))
    return made


def open_local(config: TrainingConfig, seed: int, base_url: str | None, progress: Progress) -> Trainer:
    """See TrainerOpener: with PEFT and TRL on this machine."""
    from housewise.selftrain.trainers.local import LocalTrainer

    return LocalTrainer(config, seed, progress)


def open_api(config: TrainingConfig, seed: int, base_url: str | None, progress: Progress) -> Trainer:
    """See TrainerOpener: with a fine-tuning API."""
    from housewise.selftrain.trainers.openai_api import OpenAITrainer

    return OpenAITrainer(config, seed, base_url, progress)


class LearnsPreferences(Protocol):
    """Improves a model by telling it which of two replies is the better one."""

    def check(self, start: ModelReference) -> None:
        """See Trainer.check."""
        ...

    def train(self, examples: Sequence[Preference], start: ModelReference, folder: Path) -> TrainedModel:
        """See Trainer.train."""
        ...


def open_preference_trainer(
    config: PreferenceConfig, seed: int, base_url: str | None, progress: Progress
) -> LearnsPreferences:
    """The trainer for preferences that the settings name: ``local`` or ``openai``; see open_trainer.

    Raises:
        UserError: when there is no such trainer.
    """
    if config.trainer == "local":
        from housewise.selftrain.trainers.preferences import PreferenceTrainer

        return PreferenceTrainer(config, seed, progress)
    if config.trainer == "openai":
        from housewise.selftrain.trainers.openai_api import OpenAIPreferenceTrainer

        return OpenAIPreferenceTrainer(config, seed, base_url, progress)
    raise UserError(f"preference.trainer={config.trainer}: learns no preferences; use local or openai")
