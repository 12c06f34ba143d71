"""Settings of ADAPT runs; see docs/adapt.md."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from housewise.agent.adapt.llm_cook import MAX_TURNS, QuestionPolicy
from housewise.core.errors import UserError
from housewise.core.setting_marks import NEEDS_MODEL, NOT_COMPARED, SELECTION
from housewise.core.settings import MAX_COUNT, Settings
from housewise.language.settings import ModelSettings, SamplingSettings
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.rollout.settings import ModelsSettings, RunSettings, TaskSettings
from housewise.worlds.kitchen.world import MAX_STEPS

Planner = Literal["cook", "teacher", "never", "always", "llm"]
_Name = Annotated[str, Field(min_length=1, max_length=1000)]
_Number = Annotated[int, Field(ge=1, le=MAX_COUNT)]


class AdaptTaskSettings(TaskSettings):
    """Which breakfasts to make, and for whom.

    Attributes:
        task: Numbers of tasks. Defaults to all.
        person: Names of people. Defaults to all.
        people: File or folder of people. Defaults to the sixteen bundled people.
        answering: Who answers for them: meaning (finds the wish that a question is about and says the sentence of the
            person's file), paraphrase (the same in the other words of the file), model (a chat model that plays the
            person), or terminal (the user).
    """

    task: Annotated[tuple[_Number, ...], SELECTION] = ()
    person: Annotated[tuple[_Name, ...], SELECTION] = ()
    people: _Name | None = None
    answering: Literal["meaning", "paraphrase", "model", "terminal"] = "meaning"

    @field_validator("task", "person", mode="before")
    @classmethod
    def _one(cls, said: Any) -> Any:
        return (said,) if isinstance(said, str | int) else said

    @field_validator("task", "person")
    @classmethod
    def _each_once(cls, said: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(set(said)) < len(said):
            raise ValueError("each value at most once; runs=N repeats all of them")
        return said


class AdaptAgentSettings(Settings):
    """Who cooks.

    Attributes:
        planner: cook (knows all wishes and the whole scene), teacher (knows all wishes and explores like a model),
            never and always (know what they were told, and never ask or ask about whatever their next action depends
            on), or llm (a chat model, ``models.agent``).
        asking: For llm: free (a question is an action among others), never, or always (every other action is a
            question).
        thinks: Whether llm writes a thought before every action (ReAct, arXiv 2210.03629).
        asks_again: Whether llm asks the person questions again that were answered on other days in the same words.
            Without it the earlier answer is repeated. Scripted cooks never ask again.
        most_questions: Maximum number of questions per episode, for always and llm.
        most_steps: Maximum number of actions per episode, including failed ones and questions. The limit is doubled if
            every other action is a question.
        grounded: Whether a model's replies are constrained by the grammar of actions.
        turns: Number of recent actions in the prompt.
        prompt: File of templates, or short for those of small models. Defaults to the bundled templates.
    """

    planner: Annotated[Planner, NOT_COMPARED] = "always"
    asking: Annotated[QuestionPolicy, NEEDS_MODEL] = "free"
    thinks: Annotated[bool, NEEDS_MODEL] = False
    asks_again: Annotated[bool, NEEDS_MODEL] = False
    most_questions: int = Field(default=MAX_STEPS, ge=0, le=MAX_COUNT)
    most_steps: _Number = MAX_STEPS
    grounded: Annotated[bool, NEEDS_MODEL] = True
    turns: Annotated[int, NEEDS_MODEL] = Field(default=MAX_TURNS, ge=0, le=MAX_COUNT)
    prompt: Annotated[_Name | None, NEEDS_MODEL] = None

    @property
    def asks(self) -> bool:
        """Whether the person can be asked."""
        able = self.planner == "always" or (self.planner == "llm" and self.asking != "never")
        return able and self.most_questions > 0

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
