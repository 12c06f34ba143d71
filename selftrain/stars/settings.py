"""The settings of learning to write and to choose goals; ``housekeep_configs/goals.yaml`` is a recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from omegaconf import DictConfig, OmegaConf
from pydantic import Field, model_validator

from housewise.core.settings import MAX_COUNT, Settings, load_settings, packaged_defaults
from housewise.rollout.settings import flatten_settings
from housewise.selftrain.personalize.settings import TrainingConfig
from housewise.systems.stars.settings import StarsSettings
from housewise.systems.stars.system import Stars


class GoalLessons(Settings):
    """Lessons in goals; see housewise.selftrain.stars.lessons.

    Attributes:
        households: what rooms are put together from, by name or file.
        rooms: so many of them.
        things: fewest and most in each.
        shared: how often each object of the packaged tasks that may be learned from is among them; 0 for not at all.
        goals: so many to write.
        choices: so many questions with numbered options.
        options: fewest and most of them.
        rotations: in so many orders at most each question is asked.
    """

    households: str = "households"
    rooms: int = Field(default=60, ge=1, le=MAX_COUNT)
    things: tuple[int, int] = (8, 16)
    shared: int = Field(default=2, ge=0, le=MAX_COUNT)
    goals: int = Field(default=540, ge=0, le=MAX_COUNT)
    choices: int = Field(default=180, ge=0, le=MAX_COUNT)
    options: tuple[int, int] = (2, 8)
    rotations: int = Field(default=2, ge=1, le=40)

    @model_validator(mode="after")
    def _possible(self) -> GoalLessons:
        for name, least, (fewest, most) in (("things", 1, self.things), ("options", 2, self.options)):
            if not least <= fewest <= most <= 100:
                raise ValueError(f"{name}: give the fewest, {least} or more, and the most, 100 at most")
        if not self.goals + self.choices:
            raise ValueError("goals and choices: one of them has to be more than 0, or nothing is learned")
        return self


class GoalTrainingConfig(Settings):
    """What a model learns goals from, and how.

    Attributes:
        run: the model that is trained, and how it is asked.
        lessons: what it reads.
        training: how it learns; see ``housekeep_configs/selftrain.yaml``.
    """

    system: Literal["stars"] = "stars"
    run: StarsSettings
    lessons: GoalLessons
    training: TrainingConfig

    def identity(self, learned: bool) -> dict[str, Any]:
        """What has to be the same to go on in a folder, by key.

        Args:
            learned: whether the folder has a model; until then another way of learning loses nothing but a beginning.
        """
        run = {key: value for key, value in self.run.identity.items() if key.startswith(("models.agent.", "agent."))}
        taught = {"run": {**run, "tasks.seed": self.run.tasks.seed}, "lessons": self.lessons.model_dump()}
        return flatten_settings({**taught, **({"training": self.training.identity} if learned else {})})


def load_goal_training(
    file: Path | None = None, settings: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> GoalTrainingConfig:
    """Put the settings together; see core.settings.load_settings.

    Raises:
        UserError: when they do not fit.
    """
    return load_settings(GoalTrainingConfig, _defaults(), file, settings, overrides)


def _defaults() -> DictConfig:
    made = OmegaConf.create(
        {
            "system": "stars",
            "run": Stars.defaults(),
            "lessons": GoalLessons().model_dump(mode="json"),
            "training": packaged_defaults("selftrain").training,
        }
    )
    assert isinstance(made, DictConfig)
    return made
