"""The settings of training for ADAPT: defaults (``adapt/training.yaml``), a file, the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from omegaconf import DictConfig, OmegaConf
from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, model_validator

from housewise.core.settings import LARGEST_SEED, MAX_COUNT, Settings, load_with_derived_defaults, packaged_defaults
from housewise.rollout.settings import flatten_settings
from housewise.selftrain.personalize.settings import PreferenceConfig, Share, TrainingConfig
from housewise.systems.adapt.settings import AdaptSettings
from housewise.systems.adapt.system import Adapt


def _ascending(what: str) -> AfterValidator:
    """Of a least and a greatest one."""

    def checked(span: tuple[float, float]) -> tuple[float, float]:
        if span[0] > span[1]:
            raise ValueError(f"the least {what} is more than the greatest")
        return span

    return AfterValidator(checked)


class DemonstrationsConfig(Settings):
    """Breakfasts of the scripted cook to learn from; every key is explained in the file of defaults."""

    each: int = Field(ge=1, le=MAX_COUNT)
    seed: int = Field(ge=0, le=LARGEST_SEED)
    questions: tuple[NonNegativeInt | Literal["always"], ...] = Field(min_length=1)
    told: Annotated[tuple[Share, Share], _ascending("share")]
    reflections: Share


class WarmUpConfig(DemonstrationsConfig):
    """Demonstrations for people who do not exist, and how they are learned; without any, there is no warm-up."""

    people: int = Field(ge=0, le=MAX_COUNT)
    wishes: Annotated[tuple[PositiveInt, PositiveInt], _ascending("number")]
    training: TrainingConfig


class RolloutsConfig(Settings):
    """How the student is let cook for the people it is trained with."""

    runs: int = Field(ge=1, le=MAX_COUNT)
    temperature: float = Field(gt=0)
    top_p: float = Field(gt=0, le=1)


class ReflectionConfig(Settings):
    """What becomes of the steps that were reflected upon."""

    questions: Share
    actions: Share
    skip_asked: bool
    most: int | None = Field(ge=1, le=MAX_COUNT)
    most_tokens: int = Field(ge=1, le=MAX_COUNT)

    @model_validator(mode="after")
    def _no_more_than_there_are(self) -> ReflectionConfig:
        if self.questions + self.actions > 1:
            raise ValueError(
                f"questions and actions are shares of all steps, and together {self.questions + self.actions}"
            )
        return self


class AdaptTrainingConfig(Settings):
    """One training for ADAPT; every key is explained in ``housekeep_configs/adapt/training.yaml``."""

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
        """What has to be the same to go on in a folder where everything is learned, by dotted key."""
        found = self.model_dump(exclude={"run": True, "warm_up": {"training"}, "imitation": True, "preference": True})
        found["warm_up"]["training"] = self.warm_up.training.lasting_identity
        found |= {"imitation": self.imitation.lasting_identity, "preference": self.preference.lasting_identity}
        found["run"] = {
            key: value for key, value in self.run.result_settings.items() if not key.startswith("models.person")
        }
        return flatten_settings(found)


def load_training(
    file: Path | None = None, settings: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> AdaptTrainingConfig:
    """Put the settings of a training together; see core.settings.load_settings."""
    base = OmegaConf.merge({"run": Adapt.defaults()}, packaged_defaults("adapt/training"))
    assert isinstance(base, DictConfig)
    return load_with_derived_defaults(AdaptTrainingConfig, base, lambda config: {}, file, settings, overrides)
