"""Settings of the training of an assistant that guides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from housewise.core.setting_marks import SELECTION
from housewise.core.settings import MAX_COUNT, Settings
from housewise.language.settings import ModelSettings, SamplingSettings
from housewise.selftrain.trainers import ModelReference
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

_SCENARIOS_PER_ROUND = 1000
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
    """Number of training scenarios per variant; at most 1000 if there are rounds of corrections."""
    attempts: int = Field(default=3, ge=1, le=10)
    """Maximum number of attempts at a scenario. The one that reaches the goal is learned."""
    max_sessions: Annotated[int | None, SELECTION] = Field(default=400, ge=1, le=MAX_COUNT)
    """Maximum number of sessions to learn from. null takes all that reached their goal."""

    routine_share: Annotated[float, SELECTION] = Field(default=0.25, ge=0, le=1)
    """Share of the turns that are learned, among those at which the oracle thinks of the same next step as at the turn
    before. Most turns are such; fewer of them leave time for more sessions."""


class CorrectionsConfig(Settings):
    """Rounds after the imitation: the model guides, and learns what the scripted oracle would have said.

    So it learns to go on from its own mistakes, which the oracle's sessions never show. DAgger (arXiv 1011.0686) learns
    from all rounds together; here each round goes on from the model before and learns its own sessions alone, with the
    settings of the imitation.
    """

    rounds: int = Field(default=0, ge=0, le=MAX_COUNT)
    """Number of rounds; the paper has none. More may be added to a finished training."""
    scenarios: int = Field(default=1, ge=1, le=_SCENARIOS_PER_ROUND)
    """Number of training scenarios per variant and round: those from number run.tasks.seed + 1000 x round on. It may
    change for rounds that have not begun."""


class GuidanceTrainingConfig(OnePhaseSettings):
    """Settings of a training in guidance: the sessions that are played, what is learned of them, and how."""

    fixed: ClassVar[tuple[str, ...]] = ("run.models.agent.", "run.agent.", "run.tasks.", "sessions.")
    system: Literal["basis"] = "basis"
    """Name of the system."""
    run: BasisSettings = _RUN
    """Who acts in the sessions (tasks), and what the assistant that learns is given (agent, models)."""
    sessions: SessionsConfig = SessionsConfig()
    corrections: CorrectionsConfig = CorrectionsConfig()
    training: TrainingConfig = _TRAINING

    @model_validator(mode="after")
    def _check_learner(self) -> GuidanceTrainingConfig:
        if self.run.agent.planner != "llm":
            raise ValueError(f"run.agent.planner={self.run.agent.planner}: only llm learns; leave it out")
        if self.corrections.rounds and self.sessions.scenarios > _SCENARIOS_PER_ROUND:
            raise ValueError(
                f"sessions.scenarios={self.sessions.scenarios}: corrections begin at scenario {_SCENARIOS_PER_ROUND}; "
                f"set {_SCENARIOS_PER_ROUND} or fewer, or corrections.rounds=0"
            )
        return self

    @property
    def oracle_run(self) -> BasisSettings:
        """Settings of the run in which the scripted oracle guides."""
        oracle = BasisAgentSettings(planner="oracle", wording=self.run.agent.wording)
        own = {"split": "training", "scenarios": self.sessions.scenarios, "attempts": self.sessions.attempts}
        tasks = self.run.tasks.model_copy(update=own)
        return self.run.model_copy(update={"tasks": tasks, "agent": oracle, "models": BasisModelsSettings()})

    def corrected_run(self, number: int, model: ModelReference) -> BasisSettings:
        """Return the settings of the run in which a model guides, to be corrected.

        Args:
            number: Number of the round, from 1.
            model: The model.
        """
        seed = self.run.tasks.seed + _SCENARIOS_PER_ROUND * number
        own = {"split": "training", "seed": seed, "scenarios": self.corrections.scenarios, "attempts": 1}
        agent = self.run.models.agent.model_copy(update={"model": model.model, "adapter": model.adapter})
        models = self.run.models.model_copy(update={"agent": agent})
        return self.run.model_copy(update={"tasks": self.run.tasks.model_copy(update=own), "models": models})
