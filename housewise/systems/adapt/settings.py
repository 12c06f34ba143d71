"""Settings of ADAPT runs; see docs/adapt.md."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Literal

from pydantic import Field

from housewise.agent.adapt.planner_prompt import MAX_TURNS, QuestionPolicy
from housewise.core.errors import UserError
from housewise.core.setting_marks import NEEDS_MODEL, NOT_COMPARED, SELECTION
from housewise.core.settings import DISTINCT, MAX_COUNT, ONE_OR_SEVERAL, Settings
from housewise.language.settings import ModelSettings, SamplingSettings
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.rollout.settings import ModelsSettings, RunSettings, TaskSettings
from housewise.worlds.kitchen.world import MAX_STEPS

Planner = Literal["cook", "teacher", "never", "always", "llm"]
_Name = Annotated[str, Field(min_length=1, max_length=1000)]
_Number = Annotated[int, Field(ge=1, le=MAX_COUNT)]


class AdaptTaskSettings(TaskSettings):
    """Which breakfasts to make, and for whom."""

    task: Annotated[tuple[_Number, ...], SELECTION, ONE_OR_SEVERAL, DISTINCT] = ()
    """Numbers of tasks, one or several. An empty list takes all."""
    person: Annotated[tuple[_Name, ...], SELECTION, ONE_OR_SEVERAL, DISTINCT] = ()
    """Names of people, one or several. An empty list takes all."""
    people: _Name | None = None
    """File or folder of people. null takes the sixteen bundled people."""
    answering: Literal["meaning", "paraphrase", "model", "terminal"] = "meaning"
    """Who answers for the person. meaning finds the preference that a question is about and answers with its
    sentence in the person's file; paraphrase answers with the sentence's paraphrase in the file, with which no
    model is trained; model is a chat model that is given the preferences of the task (models.person); terminal is
    you."""


class AdaptAgentSettings(Settings):
    """Who cooks."""

    planner: Annotated[Planner, NOT_COMPARED] = "always"
    """Who cooks. cook and teacher are scripted and know all preferences: cook also knows the whole scene, teacher
    explores it like a model. never and always are scripted and know only what the person said: never asks no
    questions, always asks about whatever its next action depends on. llm is a chat model (models.agent)."""
    asking: Annotated[QuestionPolicy, NEEDS_MODEL] = "free"
    """When the planner llm asks: a question is an action among others (free), there are no questions (never), or every
    other action is a question (always)."""
    thinks: Annotated[bool, NEEDS_MODEL] = False
    """Whether the planner llm writes a thought before every action (ReAct, arXiv 2210.03629)."""
    asks_again: Annotated[bool, NEEDS_MODEL] = False
    """Whether the planner llm may ask the person a question that they answered on an earlier day. If false, a
    question in the same words gets the earlier answer. Scripted cooks never ask again."""
    max_questions: int = Field(default=MAX_STEPS, ge=0, le=MAX_COUNT)
    """Maximum number of questions per episode, for the planners always and llm. A model that has used them up, or has
    just repeated one, cannot ask in its next action."""
    max_steps: _Number = MAX_STEPS
    """Maximum number of actions per episode, including failed ones and questions. It is doubled for a cook that always
    asks."""
    grounded: Annotated[bool, NEEDS_MODEL] = True
    """Whether a model's replies are constrained by the grammar of actions: known verbs, names of things seen, free
    words for questions and results."""
    max_turns: Annotated[int, NEEDS_MODEL] = Field(default=MAX_TURNS, ge=0, le=MAX_COUNT)
    """Maximum number of recent actions in the prompt."""
    prompt: Annotated[_Name | None, NEEDS_MODEL] = None
    """File of prompt templates, or short for the bundled templates of small models that were trained with them.
    null takes the bundled templates of other models."""

    @property
    def asks(self) -> bool:
        """Whether the person can be asked."""
        able = self.planner == "always" or (self.planner == "llm" and self.asking != "never")
        return able and self.max_questions > 0

    @property
    def always_asks(self) -> bool:
        """Whether half of the steps are questions."""
        return self.planner == "always" or (self.planner == "llm" and self.asking == "always")


class AdaptModelsSettings(ModelsSettings):
    """Models of the cook and of a person who is played by a model."""

    agent: ModelSettings = ModelSettings(sampling=SamplingSettings(temperature=0.0, max_tokens=64))
    person: ModelSettings = ModelSettings()


class AdaptSettings(RunSettings):
    """Settings of one ADAPT run."""

    system: Literal["adapt"] = "adapt"
    """Name of the system."""
    tasks: AdaptTaskSettings = AdaptTaskSettings()
    agent: AdaptAgentSettings = AdaptAgentSettings()
    models: AdaptModelsSettings = AdaptModelsSettings()

    @property
    def memory_person_settings(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """See RunSettings.memory_person_settings. The person is one of those who may be cooked for."""
        name = self.memory.start
        if name is None:
            return {}
        # Errors in a file of people are reported when the system is created.
        with suppress(UserError):
            if any(person.name == name for person in load_profiles(self.tasks.people or ADAPT_PROFILES)):
                return {"tasks": {"person": (name,)}}
        return {}
