"""Settings of CLIPR runs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from housewise.agent.clipr.adaptive import CriticSettings
from housewise.agent.clipr.chat_steps import TEMPERATURE
from housewise.core.setting_migrations import former_values
from housewise.core.settings import MAX_COUNT
from housewise.language.settings import ModelSettings, SamplingSettings
from housewise.rollout.settings import ModelsSettings, RunSettings, TaskSettings
from housewise.worlds.choices.choice_sets import HOUSE_SET, KITCHEN_SET, is_house_set
from housewise.worlds.house.preferences import bundled_people

Components = Annotated[Literal["local", "chat", "finetuned"], former_values(learned="finetuned")]
Speech = Literal["local", "chat"]

_SAMPLING = SamplingSettings(temperature=TEMPERATURE, max_tokens=2048)
_MOST_QUESTIONS = 100


class ChoiceTasks(TaskSettings):
    """Which choices to play, and the person who answers. See housewise.worlds.choices.choice_sets."""

    data: str = KITCHEN_SET
    """kitchen, housekeep (places in generated houses), housekeep:NAME (those of one person), or a file: choices in
    YAML, or the data of AmbiK or IntroPlan."""
    examples: int = Field(default=10, ge=1, le=MAX_COUNT)
    """Number of examples to draw. The kitchen's examples are fixed."""
    training: bool = True
    """Whether the examples are also chosen in, before the tests. They have a score of their own."""
    person: Literal["cooperative", "adversarial"] = "cooperative"
    """Whether the person answers clearly (cooperative), or contradicts, changes their mind and is vague
    (adversarial)."""
    profile: Literal["kitchen", "ambik", "introplan"] | None = None
    """Preferences of the person. null takes those of the data."""
    speech: Speech = "local"
    """What words the person's answers: fixed phrases (local) or a chat model (chat, models.person)."""


class CliprAgentSettings(CriticSettings):
    """How rules are learned and followed."""

    method: Literal["clipr", "adaptive"] = "adaptive"
    """Whether rules stay as they were written (clipr) or are revised when accuracy drops (adaptive)."""
    components: Components = "local"
    """What performs the language steps: components without a language model (local), a chat model (chat, models.agent),
    or local components with a model that was fine-tuned to choose by rules (finetuned, models.agent)."""
    max_questions: int = Field(default=10, ge=0, le=_MOST_QUESTIONS)
    """Maximum number of questions before the first choice."""


class CliprModels(ModelsSettings):
    """Models by role."""

    agent: ModelSettings = ModelSettings(sampling=_SAMPLING)
    person: ModelSettings = ModelSettings(sampling=_SAMPLING)


class CliprSettings(RunSettings):
    """Settings of one CLIPR run."""

    system: Literal["clipr"] = "clipr"
    """Name of the system."""
    tasks: ChoiceTasks = ChoiceTasks()
    models: CliprModels = CliprModels()
    agent: CliprAgentSettings = CliprAgentSettings()

    @property
    def memory_person_settings(self) -> dict[str, dict[str, str]]:
        """See RunSettings.memory_person_settings. Choices in houses can be those of a bundled person."""
        name = self.memory.start
        known = is_house_set(self.tasks.data) and name in bundled_people()
        return {"tasks": {"data": f"{HOUSE_SET}:{name}"}} if known else {}
