"""The settings of a run of STARS; docs/stars.md explains them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from housewise.agent.stars.data_files import ROBOT, VOCABULARY
from housewise.agent.stars.experiment_conditions import StarsCondition, find_condition
from housewise.agent.stars.goal_grammar import PAPER_GRAMMAR
from housewise.agent.stars.goal_memory import GoalGeneralisation
from housewise.agent.stars.oversight import MAX_QUESTIONS
from housewise.agent.stars.prompts import PROMPTS
from housewise.agent.stars.search_tree import TreeThresholds
from housewise.core.plugins import SIMULATORS, plugin_names
from housewise.core.settings import MAX_COUNT, Settings, check_known_name
from housewise.language.settings import ModelSettings
from housewise.rollout.settings import ModelsSettings, RunSettings, TaskSettings
from housewise.systems.stars.house_body import STAND_INS

Probability = Annotated[float, Field(ge=0, le=1)]
_Named = Annotated[str, Field(min_length=1, max_length=1000)]
_MOST_TOKENS = 500


class StarsTaskSettings(TaskSettings):
    """Which tasks, and who knows what is wanted.

    Attributes:
        task: names of tasks that come along, or files of the user's own; each is an episode.
        person: who is asked, where the condition has somebody: simulated (knows what the task says), terminal (whoever
            sits there), or model (a chat model that is told what the task says).
    """

    task: Annotated[tuple[_Named, ...], Field(min_length=1, max_length=100)] = ("organize office",)
    person: Literal["simulated", "terminal", "model"] = "simulated"

    @field_validator("task", mode="before")
    @classmethod
    def _one(cls, task: Any) -> Any:
        return (task,) if isinstance(task, str) else task

    @field_validator("task")
    @classmethod
    def _each_once(cls, task: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(task)) < len(task):
            raise ValueError("each task once; runs=N plays all of them so often")
        return task


class StarsWorldSettings(Settings):
    """Where tasks are played.

    Attributes:
        simulator: of a house in 3D, in which a body does what is decided; None for the room in symbols alone.
        stand_ins: what fixtures and objects look like there: data that come along, by name, or a file.
        most_steps: low-level steps of an episode there.
    """

    simulator: str | None = None
    stand_ins: _Named = STAND_INS
    most_steps: int = Field(default=20_000, ge=1, le=MAX_COUNT)

    @field_validator("simulator")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        return name and check_known_name(name, plugin_names(SIMULATORS))


class TreeSettings(Settings):
    """Where the search tree branches; see housewise.agent.stars.search_tree.TreeThresholds."""

    sure: Probability = 0.90
    worth: Probability = 0.05
    mean: Probability = 0.5
    levels: int = Field(default=3, ge=1, le=10)
    most_calls: int = Field(default=1500, ge=1, le=10_000)


class GeneralisationSettings(Settings):
    """How far known goals are carried over; see housewise.agent.stars.goal_memory.GoalGeneralisation."""

    places: bool = False
    kinds: int = Field(default=0, ge=0, le=100)
    confirmed: bool = False


class StarsAgentSettings(Settings):
    """How goals are found.

    Attributes:
        condition: which parts of STARS are at work; ``+O`` asks the person.
        lead: words that every goal of the model's begins with, ``{name}`` for the object, ``{are}`` for is or are.
        most_tokens: of a goal.
        selection: of the model: the option whose number is likeliest over all orders of the options, or the answer to
            one question.
        questions: how many goals of an object are put to the person at most.
        tree: where the search tree branches.
        carry: how far known goals are carried over.
        vocabulary, robot, grammar, prompt: data that come along, by name, or files of the user's own.
        examples: a file of where things belong that were seen elsewhere, for conditions that go by meaning alone.
    """

    condition: str = "STARS+O"
    lead: str = Field(default="the goal is that the {name} {are}", max_length=200)
    most_tokens: int = Field(default=50, ge=1, le=_MOST_TOKENS)
    selection: Literal["likelihood", "numbered"] = "likelihood"
    questions: int = Field(default=MAX_QUESTIONS, ge=0, le=100)
    tree: TreeSettings = TreeSettings()
    carry: GeneralisationSettings = GeneralisationSettings()
    vocabulary: _Named = VOCABULARY
    robot: _Named = ROBOT
    grammar: _Named = PAPER_GRAMMAR
    prompt: _Named = PROMPTS
    examples: _Named | None = None

    @field_validator("condition")
    @classmethod
    def _known(cls, name: str) -> str:
        return find_condition(name).name

    @field_validator("lead")
    @classmethod
    def _can_be_filled_in(cls, lead: str) -> str:
        try:
            lead.format(name="mug", are="is")
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            raise ValueError("cannot be filled in: {name} and {are} are all that may stand in braces") from error
        return lead

    @property
    def parts(self) -> StarsCondition:
        """Which parts of STARS are at work."""
        return find_condition(self.condition)

    @property
    def thresholds(self) -> TreeThresholds:
        """Where the tree branches."""
        return TreeThresholds(**self.tree.model_dump())

    @property
    def generalisation(self) -> GoalGeneralisation:
        """How far known goals are carried over."""
        return GoalGeneralisation(**self.carry.model_dump())


class StarsModelsSettings(ModelsSettings):
    """The models: of the robot, and of a person who is played by one."""

    person: ModelSettings = ModelSettings()


class StarsSettings(RunSettings):
    """One run of STARS."""

    system: Literal["stars"] = "stars"
    tasks: StarsTaskSettings = StarsTaskSettings()
    world: StarsWorldSettings = StarsWorldSettings()
    agent: StarsAgentSettings = StarsAgentSettings()
    models: StarsModelsSettings = StarsModelsSettings()

    @property
    def identity(self) -> dict[str, Any]:
        """See RunSettings.identity; which tasks may change."""
        return {key: value for key, value in super().identity.items() if key != "tasks.task"}

    def comparison_settings(self, asks: bool) -> dict[str, Any]:
        """See RunSettings.bearing; the condition is who acts."""
        return {key: value for key, value in super().comparison_settings(asks).items() if key != "agent.condition"}
