"""Settings of training for ADAPT: defaults from ``adapt/training.yaml``, a file, the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from omegaconf import DictConfig, OmegaConf
from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, model_validator

from housewise.core.settings import LARGEST_SEED, MAX_COUNT, Settings, flatten_settings
from housewise.core.settings_loading import load_with_derived_defaults, packaged_defaults
from housewise.selftrain.personalize.settings import Share
from housewise.selftrain.trainers.settings import PreferenceConfig, TrainingConfig
from housewise.systems.adapt.settings import AdaptSettings
from housewise.systems.adapt.system import Adapt


def _check_ascending(what: str) -> AfterValidator:
    """Return a validator of a pair of a smallest and a largest value."""

    def check(span: tuple[float, float]) -> tuple[float, float]:
        if span[0] > span[1]:
            raise ValueError(f"the least {what} is more than the greatest")
        return span

    return AfterValidator(check)


class DemonstrationsConfig(Settings):
    """Breakfasts of the scripted cook to learn from; the file of defaults explains every key."""

    each: int = Field(ge=1, le=MAX_COUNT)
    seed: int = Field(ge=0, le=LARGEST_SEED)
    questions: tuple[NonNegativeInt | Literal["always"], ...] = Field(min_length=1)
    told: Annotated[tuple[Share, Share], _check_ascending("share")]
    reflections: Share


class WarmUpConfig(DemonstrationsConfig):
    """Demonstrations for invented people, and the training on them. With ``people=0`` there is no warm-up."""

    people: int = Field(ge=0, le=MAX_COUNT)
    wishes: Annotated[tuple[PositiveInt, PositiveInt], _check_ascending("number")]
    training: TrainingConfig


class RolloutsConfig(Settings):
    """How the student cooks for the people of the training."""

    runs: int = Field(ge=1, le=MAX_COUNT)
    temperature: float = Field(gt=0)
    top_p: float = Field(gt=0, le=1)


class ReflectionConfig(Settings):
    """How steps of reflection become preferences."""

    questions: Share
    actions: Share
    skip_asked: bool
    most: int | None = Field(ge=1, le=MAX_COUNT)
    most_tokens: int = Field(ge=1, le=MAX_COUNT)

    @model_validator(mode="after")
    def _check_shares(self) -> ReflectionConfig:
        if self.questions + self.actions > 1:
            raise ValueError(
                f"questions and actions are shares of all steps, and together {self.questions + self.actions}"
            )
        return self


class AdaptTrainingConfig(Settings):
    """Settings of a training for ADAPT; ``housekeep_configs/adapt/training.yaml`` explains every key."""

    run: AdaptSettings
    warm_up: WarmUpConfig
    rollouts: RolloutsConfig
    reflection: ReflectionConfig
    own_asking: DemonstrationsConfig
    best: Share
    imitation: TrainingConfig
    preference: PreferenceConfig

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that must stay the same to resume a folder in which everything is trained, by dotted key."""
        found = self.model_dump(exclude={"run": True, "warm_up": {"training"}, "imitation": True, "preference": True})
        found["warm_up"]["training"] = self.warm_up.training.resumable_identity
        found |= {"imitation": self.imitation.resumable_identity, "preference": self.preference.resumable_identity}
        found["run"] = {
            key: value for key, value in self.run.result_settings.items() if not key.startswith("models.person")
        }
        return flatten_settings(found)


def load_adapt_training(
    file: Path | None = None, settings: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> AdaptTrainingConfig:
    """Load the settings of a training; see core.settings.load_settings."""
    base = OmegaConf.merge({"run": Adapt.defaults()}, packaged_defaults("adapt/training"))
    assert isinstance(base, DictConfig)
    return load_with_derived_defaults(AdaptTrainingConfig, base, lambda config: {}, file, settings, overrides)
