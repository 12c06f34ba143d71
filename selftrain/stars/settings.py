"""Settings of the training in goals: ``housekeep_configs/goals.yaml`` is an example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from omegaconf import DictConfig, OmegaConf
from pydantic import Field, model_validator

from housewise.core.settings import MAX_COUNT, Settings, flatten_settings
from housewise.core.settings_loading import load_settings, packaged_defaults
from housewise.selftrain.trainers.settings import TrainingConfig
from housewise.systems.stars.settings import StarsSettings
from housewise.systems.stars.system import Stars


class GoalLessonsConfig(Settings):
    """Lessons in goals; see housewise.selftrain.stars.goal_lessons.

    Attributes:
        households: Parts of rooms, by name or file.
        rooms: Number of generated rooms.
        things: Smallest and largest number of objects in a room.
        shared: How often each learnable object of the bundled tasks is repeated; 0 for never.
        goals: Number of goals to write.
        choices: Number of questions with numbered options.
        options: Smallest and largest number of options.
        rotations: Largest number of orders in which each question is asked.
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
    def _check_ranges(self) -> GoalLessonsConfig:
        for name, least, (fewest, most) in (("things", 1, self.things), ("options", 2, self.options)):
            if not least <= fewest <= most <= 100:
                raise ValueError(f"{name}: give the fewest, {least} or more, and the most, 100 at most")
        if not self.goals + self.choices:
            raise ValueError("goals and choices: one of them has to be more than 0, or nothing is learned")
        return self


class GoalTrainingConfig(Settings):
    """Settings of a training in goals.

    Attributes:
        run: The model that is trained, and its prompts.
        lessons: What it learns.
        training: How it learns; see ``housekeep_configs/selftrain.yaml``.
    """

    system: Literal["stars"] = "stars"
    run: StarsSettings
    lessons: GoalLessonsConfig
    training: TrainingConfig

    def identity(self, learned: bool) -> dict[str, Any]:
        """Return the settings that must stay the same to resume a folder, by dotted key.

        Args:
            learned: Whether the folder has a finished model. Until then the settings of the training may change.
        """
        run = {key: value for key, value in self.run.identity.items() if key.startswith(("models.agent.", "agent."))}
        taught = {"run": {**run, "tasks.seed": self.run.tasks.seed}, "lessons": self.lessons.model_dump()}
        return flatten_settings({**taught, **({"training": self.training.identity} if learned else {})})


def load_goal_training(
    file: Path | None = None, settings: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> GoalTrainingConfig:
    """Load the settings; see core.settings.load_settings.

    Raises:
        UserError: They are invalid.
    """
    return load_settings(GoalTrainingConfig, _defaults(), file, settings, overrides)


def _defaults() -> DictConfig:
    made = OmegaConf.create(
        {
            "system": "stars",
            "run": Stars.defaults(),
            "lessons": GoalLessonsConfig().model_dump(mode="json"),
            "training": packaged_defaults("selftrain").training,
        }
    )
    assert isinstance(made, DictConfig)
    return made
