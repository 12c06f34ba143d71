"""Settings of the trainings, by the names under which ``housewise settings`` shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from housewise.core.printable_text import excerpt
from housewise.core.setting_keys import short_key
from housewise.core.settings import flatten_settings

if TYPE_CHECKING:
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
        load: Loads settings from a configuration, options and overrides, each of which may be left out.
        defaults: Returns the default of every setting.
        quick: Settings of a quick training, by key.
    """

    load: Callable[..., BaseModel]
    defaults: Callable[[], Mapping[str, Any]]
    quick: Mapping[str, Any] = field(default_factory=dict)


def find_training_settings(name: str) -> TrainingSettings:
    """Return the settings of a training by its name, a key of ``TRAINING_SYSTEMS``."""
    # Only the settings that are shown are imported.
    if name == "selftrain-adapt":
        from housewise.selftrain.adapt import settings as adapt

        kind = adapt.AdaptTrainingConfig
        return TrainingSettings(kind.load, kind.defaults, adapt.QUICK)
    if name == "selftrain-goals":
        from housewise.selftrain.stars.settings import GoalTrainingConfig

        return TrainingSettings(GoalTrainingConfig.load, GoalTrainingConfig.defaults)
    if name == "selftrain-guidance":
        from housewise.selftrain.basis import settings as basis

        return TrainingSettings(basis.GuidanceTrainingConfig.load, basis.GuidanceTrainingConfig.defaults, basis.QUICK)
    from housewise.selftrain.personalize.quick_settings import QUICK
    from housewise.selftrain.personalize.settings import load_selftraining, selftraining_defaults

    return TrainingSettings(load_selftraining, selftraining_defaults, QUICK)


def describe_quick(whole: BaseModel, quick: BaseModel) -> str:
    """Return a sentence about what a quick training changes, for the user.

    Args:
        whole: Settings of the whole training.
        quick: Settings of the quick one.
    """
    before, after = (flatten_settings(settings.model_dump(mode="json")) for settings in (whole, quick))
    changed = [f"{short_key(key)}={excerpt(str(value))}" for key, value in after.items() if before.get(key) != value]
    return f"quick: {', '.join(changed) or 'nothing changes'}; the model is of no use, and its figures mean nothing"
