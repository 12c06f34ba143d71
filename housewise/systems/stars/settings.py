"""Settings of STARS runs; see docs/stars.md."""

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
from housewise.core.setting_marks import NOT_COMPARED, SELECTION
from housewise.core.settings import MAX_COUNT, Settings, check_known_name
from housewise.language.settings import ModelSettings
from housewise.rollout.settings import ModelsSettings, RunSettings, TaskSettings
from housewise.systems.stars.house_body import STAND_INS

Probability = Annotated[float, Field(ge=0, le=1)]
_Named = Annotated[str, Field(min_length=1, max_length=1000)]
_MOST_TOKENS = 500


class StarsTaskSettings(TaskSettings):
    """Which tasks to play, and the person who knows what is wanted.

    Attributes:
        task: Names of bundled tasks, or files. Each is an episode.
        person: Who is asked in conditions with a user: simulated (knows what the task says), terminal (the user), or
            model (a chat model that is told what the task says).
    """

    task: Annotated[tuple[_Named, ...], Field(min_length=1, max_length=100), SELECTION] = ("organize office",)
    person: Literal["simulated", "terminal", "model"] = "simulated"

    @field_validator("task", mode="before")
    @classmethod
    def _one(cls, task: Any) -> Any:
        return (task,) if isinstance(task, str) else task

    @field_validator("task")
    @classmethod
    def _each_once(cls, task: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(task)) < len(task):
            raise ValueError("each task at most once; runs=N repeats all of them")
        return task


class StarsWorldSettings(Settings):
    """Where tasks are played.

    Attributes:
        simulator: Simulator of a 3D house in which actions are carried out. None for a purely symbolic room.
        stand_ins: Appearance of fixtures and objects in the house: bundled data by name, or a file.
        most_steps: Maximum number of low-level steps per episode in the house.
    """

    simulator: str | None = None
    stand_ins: _Named = STAND_INS
    most_steps: int = Field(default=20_000, ge=1, le=MAX_COUNT)

    @field_validator("simulator")
    @classmethod
    def _check_simulator(cls, name: str | None) -> str | None:
        return name and check_known_name(name, plugin_names(SIMULATORS))


class TreeSettings(Settings):
    """Where the search tree branches; see housewise.agent.stars.search_tree.TreeThresholds."""

    sure: Probability = 0.90
    worth: Probability = 0.05
    mean: Probability = 0.5
    levels: int = Field(default=3, ge=1, le=10)
    most_calls: int = Field(default=1500, ge=1, le=10_000)


class StarsAgentSettings(Settings):
    """How goals are found.

    Attributes:
        condition: Which parts of STARS are active. ``+O`` adds the user.
        lead: Words that every goal of the model begins with. ``{name}`` is the object and ``{are}`` is "is" or "are".
        most_tokens: Maximum number of tokens of a goal.
        selection: How the model selects: by the option whose number is most probable over all orders of the options
            (likelihood), or by the answer to one question (numbered).
        questions: Maximum number of goals per object that are put to the person.
        tree: Where the search tree branches.
        carry: How far learned goals are generalised.
        vocabulary, robot, grammar, prompt: Bundled data by name, or files.
        examples: File of where things seen elsewhere belong, for conditions without a language model.
    """

    condition: Annotated[str, NOT_COMPARED] = "STARS+O"
    lead: str = Field(default="the goal is that the {name} {are}", max_length=200)
    most_tokens: int = Field(default=50, ge=1, le=_MOST_TOKENS)
    selection: Literal["likelihood", "numbered"] = "likelihood"
    questions: int = Field(default=MAX_QUESTIONS, ge=0, le=100)
    tree: TreeSettings = TreeSettings()
    carry: GoalGeneralisation = GoalGeneralisation()
    vocabulary: _Named = VOCABULARY
    robot: _Named = ROBOT
    grammar: _Named = PAPER_GRAMMAR
    prompt: _Named = PROMPTS
    examples: _Named | None = None

    @field_validator("condition")
    @classmethod
    def _check_condition(cls, name: str) -> str:
        return find_condition(name).name

    @field_validator("lead")
    @classmethod
    def _can_be_filled_in(cls, lead: str) -> str:
        try:
            lead.format(name="mug", are="is")
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            raise ValueError("invalid placeholder; available: {name}, {are}") from error
        return lead

    @property
    def parts(self) -> StarsCondition:
        """Which parts of STARS are active."""
        return find_condition(self.condition)

    @property
    def thresholds(self) -> TreeThresholds:
        """Where the search tree branches."""
        return TreeThresholds(**self.tree.model_dump())


class StarsModelsSettings(ModelsSettings):
    """Models of the robot and of a person who is played by a model."""

    person: ModelSettings = ModelSettings()


class StarsSettings(RunSettings):
    """Settings of one STARS run."""

    system: Literal["stars"] = "stars"
    tasks: StarsTaskSettings = StarsTaskSettings()
    world: StarsWorldSettings = StarsWorldSettings()
    agent: StarsAgentSettings = StarsAgentSettings()
    models: StarsModelsSettings = StarsModelsSettings()
