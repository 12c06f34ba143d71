"""The settings of a run of ADAPT; docs/adapt.md explains them."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from housewise.agent.adapt.llm_cook import MAX_TURNS, QuestionPolicy
from housewise.core.errors import UserError
from housewise.core.settings import MAX_COUNT, Settings
from housewise.language.settings import ModelSettings, SamplingSettings
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.rollout.settings import ModelsSettings, RunSettings, TaskSettings
from housewise.worlds.kitchen.world import MAX_STEPS

Planner = Literal["cook", "teacher", "never", "always", "llm"]
_Name = Annotated[str, Field(min_length=1, max_length=1000)]
_Number = Annotated[int, Field(ge=1, le=MAX_COUNT)]


_LLM_SETTINGS = ("asking", "thinks", "asks_again", "grounded", "turns", "prompt")


class AdaptTaskSettings(TaskSettings):
    """Which breakfasts, and for whom.

    Attributes:
        task: their numbers; none for all.
        person: names; none for everybody.
        people: file or folder of people; the sixteen that come along without it.
        answering: who answers for them: meaning (finds the wish that a question is about, and says it as their file
            does), paraphrase (finds it likewise, and says it in the other words of their file), model (a chat model
            that is told who it is), or terminal (whoever sits there).
    """

    task: tuple[_Number, ...] = ()
    person: tuple[_Name, ...] = ()
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
            raise ValueError("each once; runs=N plays all of them so often")
        return said


class AdaptAgentSettings(Settings):
    """Who cooks.

    Attributes:
        planner: cook (knows all that the person wants, and the scene), teacher (knows that of the person, and looks for
            things as a model has to), never and always (cooks that know what they were told, and never ask, or ask
            whatever their next action turns on), or llm (a chat model, ``models.agent``).
        asking: of llm: free (a question is an action like others), never (there is no such action), or always (every
            other action is a question).
        thinks: whether llm says a thought before every action (ReAct, arXiv 2210.03629).
        asks_again: whether llm puts questions to the person that they have answered on other days, in the same words;
            without it, what they said then is what it hears. Scripted cooks never do.
        most_questions: that always and llm may ask in an episode.
        most_steps: actions in an episode, failed ones and questions among them; who always asks has twice as many.
        grounded: whether a model's replies are held to the grammar of actions.
        turns: actions that a model is shown of those that are over.
        prompt: a file of templates, or short for those of small models; the usual ones without it.
    """

    planner: Planner = "always"
    asking: QuestionPolicy = "free"
    thinks: bool = False
    asks_again: bool = False
    most_questions: int = Field(default=MAX_STEPS, ge=0, le=MAX_COUNT)
    most_steps: _Number = MAX_STEPS
    grounded: bool = True
    turns: int = Field(default=MAX_TURNS, ge=0, le=MAX_COUNT)
    prompt: _Name | None = None

    @property
    def asks(self) -> bool:
        """Whether the person is ever asked."""
        able = self.planner == "always" or (self.planner == "llm" and self.asking != "never")
        return able and self.most_questions > 0

    @property
    def always_asks(self) -> bool:
        """Whether questions take half of the steps."""
        return self.planner == "always" or (self.planner == "llm" and self.asking == "always")


class AdaptModelsSettings(ModelsSettings):
    """The models: of the cook, and of a person who is played by one."""

    agent: ModelSettings = ModelSettings(sampling=SamplingSettings(temperature=0.0, max_tokens=64))
    person: ModelSettings = ModelSettings()


class AdaptSettings(RunSettings):
    """One run of ADAPT."""

    system: Literal["adapt"] = "adapt"
    tasks: AdaptTaskSettings = AdaptTaskSettings()
    agent: AdaptAgentSettings = AdaptAgentSettings()
    models: AdaptModelsSettings = AdaptModelsSettings()

    @property
    def memory_person_settings(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """See RunSettings.person_of_memory: one of the people who may be cooked for."""
        name = self.memory.start
        if name is None:
            return {}
        # What is wrong with a file of people is said where they are cooked for.
        with suppress(UserError):
            if any(person.name == name for person in load_profiles(self.tasks.people or ADAPT_PROFILES)):
                return {"tasks": {"person": (name,)}}
        return {}

    @property
    def identity(self) -> dict[str, Any]:
        """See RunSettings.identity; which breakfasts may change."""
        return {key: value for key, value in super().identity.items() if key not in ("tasks.task", "tasks.person")}

    def comparison_settings(self, asks: bool) -> dict[str, Any]:
        """See RunSettings.bearing; the planner is who acts, and what is said of models bears on llm alone."""
        models = {"agent.planner"} | (set() if asks else {f"agent.{key}" for key in _LLM_SETTINGS})
        return {key: value for key, value in super().comparison_settings(asks).items() if key not in models}
