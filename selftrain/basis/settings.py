"""Settings of the training of an assistant that guides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from omegaconf import DictConfig
from pydantic import Field, model_validator

from housewise.core.setting_marks import SELECTION
from housewise.core.settings import MAX_COUNT, Settings
from housewise.core.settings_loading import default_settings, load_settings
from housewise.language.settings import ModelSettings, SamplingSettings
from housewise.selftrain.trainers.settings import OnePhaseSettings, TrainingConfig
from housewise.systems.basis.settings import (
    BasisAgentSettings,
    BasisModelsSettings,
    BasisSettings,
)

QUICK: Mapping[str, Any] = {
    "run": {"tasks": {"variant": ["make_carrot__banana__simple", "fire_laser__none__simple"]}},
    "sessions": {"scenarios": 1},
}
"""Settings of a quick training, by key. Its model is of no use."""
LEFT_OUT = "quick: two sessions, learned once; the model is of no use"
"""What a quick training leaves out, for the user."""

_RUN = BasisSettings(
    agent=BasisAgentSettings(planner="llm", compact=True),
    models=BasisModelsSettings(agent=ModelSettings(sampling=SamplingSettings(temperature=0.0, max_tokens=256))),
)
_TRAINING = TrainingConfig(
    learning_rate=5e-4, epochs=1, batch=1, max_packed_examples=16, max_example_tokens=3072, checkpoint_steps=20
)


class SessionsConfig(Settings):
    """Sessions of the scripted oracle to learn from. Person, variants and seed are those of run.tasks."""

    folders: Annotated[tuple[str, ...], SELECTION] = ()
    """Folders of runs with such sessions. Scenarios from number run.tasks.seed on come first. Where no folder is named,
    the sessions are played."""
    scenarios: Annotated[int, SELECTION] = Field(default=6, ge=1, le=MAX_COUNT)
    """Number of training scenarios per variant."""
    attempts: int = Field(default=3, ge=1, le=10)
    """Maximum number of attempts at a scenario. The one that reaches the goal is learned."""
    max_sessions: Annotated[int | None, SELECTION] = Field(default=400, ge=1, le=MAX_COUNT)
    """Maximum number of sessions to learn from. null takes all that reached their goal."""

    routine_share: Annotated[float, SELECTION] = Field(default=0.25, ge=0, le=1)
    """Share of the turns that are learned, among those at which the oracle thinks of the same next step as at the turn
    before. Most turns are such; fewer of them leave time for more sessions."""


class GuidanceTrainingConfig(OnePhaseSettings):
    """Settings of a training in guidance: the sessions that are played, what is learned of them, and how."""

    fixed: ClassVar[tuple[str, ...]] = ("run.models.agent.", "run.agent.", "run.tasks.", "sessions.")
    system: Literal["basis"] = "basis"
    """Name of the system."""
    run: BasisSettings = _RUN
    """Who acts in the sessions (tasks), and what the assistant that learns is given (agent, models)."""
    sessions: SessionsConfig = SessionsConfig()
    training: TrainingConfig = _TRAINING

    @model_validator(mode="after")
    def _check_learner(self) -> GuidanceTrainingConfig:
        if self.run.agent.planner != "llm":
            raise ValueError(f"run.agent.planner={self.run.agent.planner}: only llm learns; leave it out")
        return self

    @property
    def oracle_run(self) -> BasisSettings:
        """Settings of the run in which the scripted oracle guides."""
        oracle = BasisAgentSettings(planner="oracle", wording=self.run.agent.wording)
        own = {"split": "training", "scenarios": self.sessions.scenarios, "attempts": self.sessions.attempts}
        tasks = self.run.tasks.model_copy(update=own)
        return self.run.model_copy(update={"tasks": tasks, "agent": oracle, "models": BasisModelsSettings()})


def load_guidance_training(
    file: Path | None = None, settings: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> GuidanceTrainingConfig:
    """Load the settings; see core.settings.load_settings.

    Raises:
        UserError: They are invalid.
    """
    return load_settings(GuidanceTrainingConfig, guidance_training_defaults(), file, settings, overrides)


def guidance_training_defaults() -> DictConfig:
    """Return every setting with its default."""
    return default_settings(GuidanceTrainingConfig())
