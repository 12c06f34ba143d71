"""Settings of STARS runs; see docs/stars.md."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from housewise.agent.stars.data_files import ROBOT, VOCABULARY
from housewise.agent.stars.experiment_conditions import StarsCondition, find_condition
from housewise.agent.stars.goal_grammar import PAPER_GRAMMAR
from housewise.agent.stars.goal_memory import GoalGeneralisation
from housewise.agent.stars.prompts import PROMPTS
from housewise.agent.stars.search_tree import TreeThresholds
from housewise.agent.stars.stars_loop import MAX_QUESTIONS
from housewise.core.plugins import SIMULATORS, plugin_names
from housewise.core.setting_marks import NOT_COMPARED, SELECTION
from housewise.core.settings import DISTINCT, MAX_COUNT, ONE_OR_SEVERAL, Settings, check_known_name
from housewise.language.settings import ModelSettings
from housewise.rollout.settings import ModelsSettings, RunSettings, TaskSettings
from housewise.systems.stars.house_body import STAND_INS

_Named = Annotated[str, Field(min_length=1, max_length=1000)]
_MAX_TOKENS = 500


class StarsTaskSettings(TaskSettings):
    """Which tasks to play, and the person who knows what is wanted."""

    task: Annotated[tuple[_Named, ...], Field(min_length=1, max_length=100), SELECTION, ONE_OR_SEVERAL, DISTINCT] = (
        "organize office",
    )
    """Bundled tasks by name (tidy kitchen, store groceries, organize office), or files. Each is an episode."""
    person: Literal["simulated", "terminal", "model"] = "simulated"
    """Who is asked in conditions with a user: a simulated person who knows what the task says (simulated), you
    (terminal), or a chat model that reads what the task says (model, models.person)."""


class StarsWorldSettings(Settings):
    """Where tasks are played."""

    simulator: str | None = None
    """Simulator of a 3D house in which actions are carried out. null plays in a symbolic room."""
    stand_ins: _Named = STAND_INS
    """Appearance of fixtures and objects in the house: bundled data by name, or a file."""
    max_steps: int = Field(default=20_000, ge=1, le=MAX_COUNT)
    """Maximum number of low-level steps per episode in the house."""

    @field_validator("simulator")
    @classmethod
    def _check_simulator(cls, name: str | None) -> str | None:
        return name and check_known_name(name, plugin_names(SIMULATORS))


class StarsAgentSettings(Settings):
    """How goals are found."""

    condition: Annotated[str, NOT_COMPARED] = "STARS+O"
    """Which parts of STARS are active; see docs/stars.md. +O adds the user."""
    goal_prefix: str = Field(default="the goal is that the {name} {are}", max_length=200)
    """Words that every goal of the model begins with. {name} is the object, {are} is "is" or "are"."""
    max_goal_tokens: int = Field(default=50, ge=1, le=_MAX_TOKENS)
    """Maximum number of tokens of a goal."""
    selection: Literal["likelihood", "numbered"] = "likelihood"
    """How the model selects: by the option whose number is most probable over all orders of the options (likelihood),
    or by the answer to one question (numbered)."""
    max_questions: int = Field(default=MAX_QUESTIONS, ge=0, le=100)
    """Maximum number of goals per object that the person is asked to confirm. After these, the person states the
    goal."""
    tree: TreeThresholds = TreeThresholds()
    generalisation: GoalGeneralisation = GoalGeneralisation()
    vocabulary: _Named = VOCABULARY
    """Words, kinds and affordances of things: bundled data by name, or a file."""
    robot: _Named = ROBOT
    """What the robot's body requires of things: bundled data by name, or a file."""
    grammar: _Named = PAPER_GRAMMAR
    """Language of goals that the robot understands: a bundled grammar, or a file."""
    prompt: _Named = PROMPTS
    """Prompt templates: bundled ones by name, or a file."""
    examples: _Named | None = None
    """File of where things seen elsewhere belong, such as {name: mine, seen: {saucer on table: [dishwasher]}}, for the
    condition nearest, which uses no language model. By default, the things that the adapter learned from, if any."""

    @field_validator("condition")
    @classmethod
    def _check_condition(cls, name: str) -> str:
        return find_condition(name).name

    @field_validator("goal_prefix")
    @classmethod
    def _check_placeholders(cls, goal_prefix: str) -> str:
        try:
            goal_prefix.format(name="mug", are="is")
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            raise ValueError("invalid placeholder; available: {name}, {are}") from error
        return goal_prefix

    @property
    def parts(self) -> StarsCondition:
        """Which parts of STARS are active."""
        return find_condition(self.condition)


class StarsModelsSettings(ModelsSettings):
    """Models of the robot and of a person who is played by a model."""

    person: ModelSettings = ModelSettings()


class StarsSettings(RunSettings):
    """Settings of one STARS run."""

    system: Literal["stars"] = "stars"
    """Name of the system."""
    tasks: StarsTaskSettings = StarsTaskSettings()
    world: StarsWorldSettings = StarsWorldSettings()
    agent: StarsAgentSettings = StarsAgentSettings()
    models: StarsModelsSettings = StarsModelsSettings()
