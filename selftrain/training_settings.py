"""Settings of the trainings, by the names under which ``housewise settings`` shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omegaconf import DictConfig
    from pydantic import BaseModel

TRAINING_SYSTEMS = {
    "selftrain": "personalize",
    "selftrain-goals": "stars",
    "selftrain-adapt": "adapt",
    "selftrain-guidance": "basis",
}
"""System by name of the training."""


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of a training.

    Attributes:
        load: Loads settings, optionally from a configuration.
        defaults: Returns the default of every setting.
    """

    load: Callable[[Path | None], BaseModel]
    defaults: Callable[[], DictConfig]


def find_training_settings(name: str) -> TrainingSettings:
    """Return the settings of a training by its name, a key of ``TRAINING_SYSTEMS``."""
    # Only the settings that are shown are imported.
    if name == "selftrain-adapt":
        from housewise.selftrain.adapt.settings import adapt_training_defaults, load_adapt_training

        return TrainingSettings(load_adapt_training, adapt_training_defaults)
    if name == "selftrain-goals":
        from housewise.selftrain.stars.settings import goal_training_defaults, load_goal_training

        return TrainingSettings(load_goal_training, goal_training_defaults)
    if name == "selftrain-guidance":
        from housewise.selftrain.basis.settings import guidance_training_defaults, load_guidance_training

        return TrainingSettings(load_guidance_training, guidance_training_defaults)
    from housewise.selftrain.personalize.settings import load_selftraining, selftraining_defaults

    return TrainingSettings(load_selftraining, selftraining_defaults)
