"""The settings of CLIPR's runs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from housewise.agent.clipr.adaptive import CriticSettings
from housewise.agent.clipr.chat_steps import TEMPERATURE
from housewise.core.errors import UserError
from housewise.core.settings import MAX_COUNT, Settings
from housewise.language.settings import ModelSettings, SamplingSettings
from housewise.rollout.settings import ModelsSettings, RunSettings, TaskSettings
from housewise.worlds.choices.choice_sets import HOUSE_SET, KITCHEN_SET, is_house_set
from housewise.worlds.house.preferences import people

Components = Literal["local", "chat", "learned"]
Speech = Literal["local", "chat"]

_SAMPLING = SamplingSettings(temperature=TEMPERATURE, max_tokens=2048)
_MOST_QUESTIONS = 100


class ChoiceTasks(TaskSettings):
    """Which choices, and for whom.

    Attributes:
        data: ``kitchen``, ``housekeep``, or the path of a file; see housewise.worlds.choices.choice_sets.
        examples: that are drawn; the kitchen's are fixed.
        training: whether the examples are chosen in as well, before the tests; it counts in no score but its own.
        person: cooperative, or adversarial: says the opposite, changes, is vague.
        profile: what the person thinks: kitchen, ambik or introplan; None for the data's own.
        speech: who words the answers: local phrases, or a chat model (``models.person``).
    """

    data: str = KITCHEN_SET
    examples: int = Field(default=10, ge=1, le=MAX_COUNT)
    training: bool = True
    person: Literal["cooperative", "adversarial"] = "cooperative"
    profile: Literal["kitchen", "ambik", "introplan"] | None = None
    speech: Speech = "local"


class CliprAgentSettings(Settings):
    """How rules are learned and followed; see housewise.agent.clipr.adaptive.CriticSettings for what has its names.

    Attributes:
        method: rules stay as they were written, or are revised when choices fail.
        components: what does the steps that need language: local components, a chat model (``models.agent``), or local
            components with a model that was taught to follow rules (``models.agent``), which chooses.
        budget: most questions before the first choice.
    """

    method: Literal["clipr", "adaptive"] = "adaptive"
    components: Components = "local"
    budget: int = Field(default=10, ge=0, le=_MOST_QUESTIONS)
    batch: int = Field(default=10, ge=1, le=MAX_COUNT)
    interval: int = Field(default=20, ge=1, le=MAX_COUNT)
    sensitivity: float = Field(default=1.0, ge=0)
    recent: int = Field(default=10, ge=1, le=MAX_COUNT)
    accuracy_gate: bool = True
    most_replayed: int | None = Field(default=None, ge=1, le=MAX_COUNT)

    @model_validator(mode="after")
    def _intervals_hold_batches(self) -> CliprAgentSettings:
        try:
            self.critic  # noqa: B018
        except UserError as error:
            raise ValueError(str(error)) from error
        return self

    @property
    def critic(self) -> CriticSettings:
        """B, F, τ, K and the accuracy gate."""
        return CriticSettings(
            self.batch, self.interval, self.sensitivity, self.recent, self.accuracy_gate, self.most_replayed
        )


class CliprModels(ModelsSettings):
    """The models by role."""

    agent: ModelSettings = ModelSettings(sampling=_SAMPLING)
    person: ModelSettings = ModelSettings(sampling=_SAMPLING)


class CliprSettings(RunSettings):
    """One run of CLIPR."""

    system: Literal["clipr"] = "clipr"
    tasks: ChoiceTasks = ChoiceTasks()
    models: CliprModels = CliprModels()
    agent: CliprAgentSettings = CliprAgentSettings()

    @property
    def memory_person_settings(self) -> dict[str, dict[str, str]]:
        """See RunSettings.person_of_memory: choices in houses may be those of a person who is named."""
        name = self.memory.start
        return {"tasks": {"data": f"{HOUSE_SET}:{name}"}} if is_house_set(self.tasks.data) and name in people() else {}

    def comparison_settings(self, asks: bool) -> dict[str, Any]:
        """See RunSettings.bearing; the critic's settings say nothing where rules stay as they are."""
        adaptive = {"agent.interval", "agent.sensitivity", "agent.recent", "agent.accuracy_gate", "agent.most_replayed"}
        free = set() if self.agent.method == "adaptive" else adaptive
        return {key: value for key, value in super().comparison_settings(asks).items() if key not in free}
