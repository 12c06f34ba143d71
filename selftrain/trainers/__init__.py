"""Trainers: on this machine, or behind a fine-tuning API."""

from __future__ import annotations

from housewise.selftrain.personalize.settings import TrainingConfig
from housewise.selftrain.trainers.base import Progress, Start, TrainedModel, Trainer

__all__ = ["Progress", "Start", "TrainedModel", "Trainer", "open_trainer"]


def open_trainer(config: TrainingConfig, seed: int, base_url: str | None, progress: Progress) -> Trainer:
    """The trainer that the settings name.

    Args:
        config: the settings.
        seed: of what is drawn in training.
        base_url: of a fine-tuning API; by default ``$OPENAI_BASE_URL``, then OpenAI's.
        progress: told of how training goes.
    """
    if config.trainer == "openai":
        from housewise.selftrain.trainers.openai_api import OpenAITrainer

        return OpenAITrainer(config, seed, base_url, progress)
    from housewise.selftrain.trainers.local import LocalTrainer

    return LocalTrainer(config, seed, progress)
