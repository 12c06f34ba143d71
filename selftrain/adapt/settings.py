"""Settings of training for ADAPT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from housewise.core.setting_effects import settings_by_effect
from housewise.core.settings import LARGEST_SEED, MAX_COUNT, Settings
from housewise.core.settings_loading import LoadableSettings
from housewise.rollout.settings import ExecutionSettings, MemorySettings
from housewise.selftrain.personalize.settings import ASCENDING, Share
from housewise.selftrain.rollouts.settings import RolloutsConfig
from housewise.selftrain.trainers.settings import PreferenceConfig, TrainingConfig
from housewise.systems.adapt.settings import AdaptAgentSettings, AdaptModelsSettings, AdaptSettings

QUICK: Mapping[str, Any] = {
    "run": {"person": "juan", "task": 3, "max_steps": 5, "sampling": {"max_tokens": 24}},
    "warm_up": {"people": 1, "each": 1},
    "rollouts": {"repeats": 1},
    "reflection": {"max_preferences": 4},
}
"""Settings of a quick training, by key. Its model is of no use."""

_RUN = AdaptSettings(
    agent=AdaptAgentSettings(planner="llm", prompt="short"),
    models=AdaptModelsSettings(agent=AdaptModelsSettings().agent.model_copy(update={"dtype": "float32"})),
    memory=MemorySettings(learn="never"),
    execution=ExecutionSettings(workers=16),
)
_WARM_UP = TrainingConfig(
    learning_rate=5e-4,
    epochs=1,
    batch=2,
    micro_batch=1,
    max_packed_examples=8,
    max_example_tokens=3072,
    checkpoint_steps=20,
    dtype="float32",
)
# The same, with rank, scale and layers of the paper's adapter where there is none to go on training.
_PAPER_ADAPTER = _WARM_UP.model_dump(exclude={"learning_rate"}) | {
    "rank": 4,
    "alpha": 8,
    "targets": ("q_proj", "v_proj"),
    "max_packed_examples": 4,
}


class DemonstrationsConfig(Settings):
    """Breakfasts of the scripted cook to learn from."""

    each: int = Field(default=5, ge=1, le=MAX_COUNT)
    """Number of breakfasts for each person."""
    seed: int = Field(default=0, ge=0, le=LARGEST_SEED)
    """Seed of the random number generator."""
    questions: tuple[NonNegativeInt | Literal["always"], ...] = Field(default=(0, 2, 2, 10, "always"), min_length=1)
    """Maximum number of questions per breakfast, for one breakfast after the other. The cook asks where its next action
    depends on the answer, and first about what most people have preferences about. always asks before every action. [0]
    is without questions."""
    share_remembered: Annotated[tuple[Share, Share], ASCENDING] = (0.0, 0.6)
    """Minimum and maximum share of the possible questions that the person answered on other days."""
    reflections: Share = 0.12
    """Share of the steps at which the model also learns which question would have helped."""


class WarmUpConfig(DemonstrationsConfig):
    """Demonstrations for invented people, and the training on them."""

    people: int = Field(default=160, ge=0, le=MAX_COUNT)
    """Number of invented people. 0 means no warm-up: the model of run.models.agent is used as it is."""
    preferences_per_person: Annotated[tuple[PositiveInt, PositiveInt], ASCENDING] = (20, 32)
    """Minimum and maximum number of preferences of an invented person. The default is twice as many as the bundled
    people have, so that more of them apply to each breakfast."""
    training: TrainingConfig = _WARM_UP


class StudentRolloutsConfig(RolloutsConfig):
    """How the student cooks for the people of the training, and where it answers."""

    repeats: int = Field(default=1, ge=1, le=MAX_COUNT)
    """How often the student plays each task for each person (twice in the paper)."""
    temperature: float = Field(default=0.2, gt=0)
    """Temperature of its replies. It is near the temperature of the evaluation, so that the student reflects on what it
    will do."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Probability mass of the most probable tokens that are sampled from."""


class ReflectionConfig(Settings):
    """How steps at which the teacher acts differently become preferences (arXiv 2504.04040, algorithm 1)."""

    questions: Share = 0.37
    """Share of these steps at which a question is preferred. The thresholds of algorithm 1, which are not published,
    follow from this share and the next one."""
    actions: Share = 0.48
    """Share of these steps at which the teacher's action is preferred."""
    skip_asked: bool = False
    """Whether steps at which the student asks are left out. A teacher that knows everything never asks."""
    max_preferences: int | None = Field(default=800, ge=1, le=MAX_COUNT)
    """Maximum number of preferences to learn, drawn at random. null takes all."""
    max_tokens: int = Field(default=40, ge=1, le=MAX_COUNT)
    """Maximum number of tokens of a question."""

    @model_validator(mode="after")
    def _check_shares(self) -> ReflectionConfig:
        if self.questions + self.actions > 1:
            raise ValueError(
                f"questions and actions are shares of all steps, and together {self.questions + self.actions}"
            )
        return self


class AdaptTrainingConfig(LoadableSettings):
    """A warm-up; then STaR-GATE, Reflection-DPO, its ablations, and imitation of the scripted cook's own asking."""

    run: AdaptSettings = _RUN
    warm_up: WarmUpConfig = WarmUpConfig()
    rollouts: StudentRolloutsConfig = StudentRolloutsConfig()
    reflection: ReflectionConfig = ReflectionConfig()
    own_asking: DemonstrationsConfig = DemonstrationsConfig(
        each=8, seed=1, questions=(50,), share_remembered=(0.0, 0.0), reflections=0.0
    )
    best_fraction: Share = 0.3333
    """Share of the student's most satisfying breakfasts that STaR-GATE imitates."""
    imitation: TrainingConfig = TrainingConfig(**_PAPER_ADAPTER, learning_rate=3e-4)
    preference: PreferenceConfig = PreferenceConfig(**_PAPER_ADAPTER, learning_rate=1e-4)

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that must stay the same to resume a folder in which everything is trained, by dotted key."""
        # Which breakfasts the student plays must not change either.
        played = {f"run.{key}": value for key, value in self.run.result_settings.items()}
        found = settings_by_effect(self, {"result"}) | played
        return {key: value for key, value in found.items() if not key.startswith("run.models.person.")}
