"""Settings of CLIPR runs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from housewise.agent.clipr.adaptive import CriticSettings
from housewise.agent.clipr.chat_steps import TEMPERATURE
from housewise.core.settings import MAX_COUNT
from housewise.language.settings import ModelSettings, SamplingSettings
from housewise.rollout.settings import ModelsSettings, RunSettings, TaskSettings
from housewise.worlds.choices.choice_sets import HOUSE_SET, KITCHEN_SET, is_house_set
from housewise.worlds.house.preferences import bundled_people

Components = Literal["local", "chat", "learned"]
Speech = Literal["local", "chat"]

_SAMPLING = SamplingSettings(temperature=TEMPERATURE, max_tokens=2048)
_MOST_QUESTIONS = 100


class ChoiceTasks(TaskSettings):
    """Which choices to play, and the person who answers.

    Attributes:
        data: ``kitchen``, ``housekeep`` or a path; see housewise.worlds.choices.choice_sets.
        examples: Number of examples to draw. The kitchen's examples are fixed.
        training: Whether the examples are also played before the tests. They have a score of their own.
        person: cooperative, or adversarial (contradicts, changes their mind, is vague).
        profile: Preferences of the person: kitchen, ambik or introplan. Defaults to those of the data.
        speech: Who words the answers: local phrases or a chat model (``models.person``).
    """

    data: str = KITCHEN_SET
    examples: int = Field(default=10, ge=1, le=MAX_COUNT)
    training: bool = True
    person: Literal["cooperative", "adversarial"] = "cooperative"
    profile: Literal["kitchen", "ambik", "introplan"] | None = None
    speech: Speech = "local"


class CliprAgentSettings(CriticSettings):
    """How rules are learned and followed. For the other fields see housewise.agent.clipr.adaptive.CriticSettings.

    Attributes:
        method: clipr keeps the rules as they were written; adaptive revises them when accuracy drops.
        components: What performs the language steps: local components, a chat model (``models.agent``), or local
            components with a model fine-tuned to follow rules (``models.agent``), which makes the choices.
        budget: Maximum number of questions before the first choice.
    """

    method: Literal["clipr", "adaptive"] = "adaptive"
    components: Components = "local"
    budget: int = Field(default=10, ge=0, le=_MOST_QUESTIONS)


class CliprModels(ModelsSettings):
    """Models by role."""

    agent: ModelSettings = ModelSettings(sampling=_SAMPLING)
    person: ModelSettings = ModelSettings(sampling=_SAMPLING)


class CliprSettings(RunSettings):
    """Settings of one CLIPR run."""

    system: Literal["clipr"] = "clipr"
    tasks: ChoiceTasks = ChoiceTasks()
    models: CliprModels = CliprModels()
    agent: CliprAgentSettings = CliprAgentSettings()

    @property
    def memory_person_settings(self) -> dict[str, dict[str, str]]:
        """See RunSettings.memory_person_settings. Choices in houses can be those of a bundled person."""
        name = self.memory.start
        known = is_house_set(self.tasks.data) and name in bundled_people()
        return {"tasks": {"data": f"{HOUSE_SET}:{name}"}} if known else {}
