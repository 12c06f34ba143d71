"""Settings of the training in goals."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from housewise.core.settings import MAX_COUNT, Settings
from housewise.selftrain.trainers.settings import OnePhaseSettings, TrainingConfig
from housewise.systems.stars.settings import StarsSettings


class GoalLessonsConfig(Settings):
    """Lessons in goals; see housewise.selftrain.stars.goal_lessons."""

    room_parts: str = "households"
    """Fixtures and things from which rooms are generated: bundled data by name, or a file."""
    rooms: int = Field(default=60, ge=1, le=MAX_COUNT)
    """Number of generated rooms."""
    things: tuple[int, int] = (8, 16)
    """Minimum and maximum number of things in a generated room."""
    task_object_repeats: int = Field(default=2, ge=0, le=MAX_COUNT)
    """How often each object of the bundled tasks that may be learned from is among the things; 0 leaves them out. The
    other objects of these tasks are never learned from."""
    goals: int = Field(default=540, ge=0, le=MAX_COUNT)
    """Number of goals to write."""
    choices: int = Field(default=180, ge=0, le=MAX_COUNT)
    """Number of questions with numbered options."""
    options: tuple[int, int] = (2, 8)
    """Minimum and maximum number of options of a question."""
    max_orders: int = Field(default=2, ge=1, le=40)
    """Maximum number of orders of the options in which each question is asked."""

    @model_validator(mode="after")
    def _check_ranges(self) -> GoalLessonsConfig:
        for name, least, (fewest, most) in (("things", 1, self.things), ("options", 2, self.options)):
            if not least <= fewest <= most <= 100:
                raise ValueError(f"{name}: give the fewest, {least} or more, and the most, 100 at most")
        if not self.goals + self.choices:
            raise ValueError("goals and choices: one of them has to be more than 0, or nothing is learned")
        return self


class GoalTrainingConfig(OnePhaseSettings):
    """Settings of a training in goals: the model and its prompts, what it learns, and how."""

    fixed: ClassVar[tuple[str, ...]] = ("run.models.agent.", "run.agent.", "run.tasks.seed", "lessons.")
    system: Literal["stars"] = "stars"
    """Name of the system."""
    run: StarsSettings = StarsSettings()
    lessons: GoalLessonsConfig = GoalLessonsConfig()
    training: TrainingConfig = TrainingConfig()
