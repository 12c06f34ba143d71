"""Settings of a training: how a model learns from demonstrations, or from preferences."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from housewise.core.settings import Settings
from housewise.language.settings import Dtype


class TrainingConfig(Settings):
    """How a model learns from demonstrations; ``housekeep_configs/selftrain.yaml`` explains every key."""

    trainer: str
    method: Literal["lora", "full"]
    rank: int = Field(ge=1)
    alpha: int = Field(ge=1)
    targets: str | tuple[str, ...] = "all-linear"
    learning_rate: float = Field(gt=0)
    epochs: float = Field(gt=0)
    batch: int = Field(ge=1)
    pairs_per_pass: int | None = Field(ge=1)
    together: int = Field(default=1, ge=1)
    most_tokens: int = Field(ge=1)
    gradient_checkpointing: bool
    checkpoint_steps: int = Field(ge=1)
    device: str
    dtype: Dtype
    launcher: str | None
    poll_seconds: float = Field(gt=0)

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that a trained model depends on: all but how the training is executed."""
        how = {"pairs_per_pass", "gradient_checkpointing", "checkpoint_steps", "device", "launcher", "poll_seconds"}
        return self.model_dump(exclude=how)

    @property
    def resumable_identity(self) -> dict[str, Any]:
        """The settings that must stay the same to resume a folder of several trainings.

        ``most_tokens`` may be raised for the trainings that are left: only when everything is played is it known
        whether too many examples are too long.
        """
        return {key: value for key, value in self.identity.items() if key != "most_tokens"}


class PreferenceConfig(TrainingConfig):
    """How a model learns which of two replies is better (DPO, arXiv 2305.18290).

    Attributes:
        beta: Strength of the penalty for differing from the reference model.
    """

    beta: float = Field(gt=0)
