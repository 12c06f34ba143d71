"""Settings of self-training in houses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, NonNegativeInt, model_validator

from housewise.core.errors import UserError
from housewise.core.migrations.settings import former_values
from housewise.core.settings import MAX_COUNT, Settings, flatten_settings, merge_nested
from housewise.core.settings_loading import (
    load_with_derived_defaults,
    place_in_sections,
    validate_settings,
)
from housewise.core.text_files import read_json
from housewise.core.user_code import CodeReference
from housewise.language.adapters import NONE
from housewise.selftrain.personalize.record_demonstrations import LearningTarget
from housewise.selftrain.rollouts.settings import RolloutsConfig
from housewise.selftrain.trainers.settings import TrainingConfig
from housewise.systems.personalize.settings import AgentSettings, PersonalizeSettings, derived_defaults


class TasksConfig(Settings):
    """A set of tasks: episodes of the data, or generated houses with consecutive seeds."""

    episodes: list[int] | str | None = None
    """Episodes of the data: their ids, or the name of a task set."""
    houses: int = Field(default=1, ge=1, le=MAX_COUNT)
    """Number of generated houses, if there is no data."""
    seed: int = Field(default=0, ge=0, le=MAX_COUNT)
    """Seed of the first generated house."""
    objects: tuple[int, int] | None = None
    """Minimum and maximum number of objects in a generated house. null is the value of run."""
    misplaced: tuple[int, int] | None = None
    """Minimum and maximum number of misplaced objects in a generated house. null is the value of run."""


class DemonstrationsConfig(TasksConfig):
    """The tasks that are demonstrated, and how often."""

    repeats: int = Field(default=1, ge=1, le=MAX_COUNT)
    """Number of demonstrations per task. They differ where the demonstrator picks objects at random."""


class NamedTasksConfig(TasksConfig):
    """A set of tasks whose results have a name."""

    name: str = Field(min_length=1, pattern=r"^[\w-]+$")
    """Name of the results."""
    repeats: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    """Number of episodes per task. null is the value of evaluation."""


_FORMER_TARGETS = former_values(said="raw", done="executed", proven="verified", corrected="relabelled")

Share = Annotated[float, Field(ge=0, le=1)]


def _check_ascending(span: tuple[float, float]) -> tuple[float, float]:
    if span[0] > span[1]:
        raise ValueError(f"the minimum, {span[0]}, is more than the maximum, {span[1]}")
    return span


ASCENDING = AfterValidator(_check_ascending)
"""Validates a pair of a minimum and a maximum."""


class LessonsConfig(Settings):
    """Lessons of one kind; see housewise.selftrain.personalize.lessons."""

    houses: int = Field(ge=1, le=MAX_COUNT)
    """Number of generated houses."""
    each: int = Field(ge=1, le=MAX_COUNT)
    """Number of lessons in each house."""
    seed: int = Field(default=3000, ge=0, le=MAX_COUNT)
    """Seed of the first house."""
    places: Annotated[tuple[NonNegativeInt, NonNegativeInt], ASCENDING] = (6, 20)
    """Minimum and maximum number of receptacles that the robot knows."""
    things: Annotated[tuple[NonNegativeInt, NonNegativeInt], ASCENDING] = (10, 24)
    """Minimum and maximum number of objects that the robot knows."""
    unseen: bool = False
    """Whether the robot also knows rooms in which it has seen nothing."""
    holding_fraction: float = Field(default=0.0, ge=0, le=1)
    """Fraction of the lessons in which the robot holds one of the objects."""
    allow_unplaceable: bool = True
    """Whether objects without a known correct place may be misplaced."""
    invented: bool = False
    """Whether each house has an invented person of its own. If false, it is run's person."""
    as_usual: Annotated[tuple[Share, Share], ASCENDING] = (0.4, 0.4)
    """Minimum and maximum fraction of the groups of objects that an invented person wants where most people do."""
    noted_fraction: Annotated[tuple[Share, Share], ASCENDING] | None = None
    """Minimum and maximum fraction of the kinds of objects about which the memory has notes. null is no memory."""


class GrowConfig(Settings):
    """How the model generates plans to learn from."""

    repeats: int = Field(default=3, ge=1, le=MAX_COUNT)
    """Number of episodes per training task."""
    replies: int = Field(default=1, ge=1, le=MAX_COUNT)
    """Number of replies per prompt. The first is followed; the others are tried from the same state and undone."""
    temperature: float = Field(default=1.0, gt=0)
    """Temperature of the replies."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Probability mass of the most probable tokens that are sampled from."""


class FilterConfig(Settings):
    """Which of the generated plans are learned; see housewise.selftrain.personalize.filters."""

    name: CodeReference = "positive"
    """Filter: positive (plans that improved the house), corrected (these, and relabelled ones), rising (plans with a
    reward above the iteration's threshold), balanced (positive, with a limit for each kind of object), or your own
    function as MODULE:NAME or FILE.py:NAME. An iteration in which it keeps nothing leaves the model as it is."""
    thresholds: list[float] = Field(default=[0.0, 0.0, 1.0], min_length=1)
    """Thresholds of rising by iteration. The last one stays."""
    max_per_object: int = Field(default=10, ge=1, le=MAX_COUNT)
    """Maximum number of plans of balanced that move objects of one kind."""


class EvaluationConfig(Settings):
    """On which tasks, and how often, each phase is evaluated."""

    tasks: list[NamedTasksConfig] = Field(
        default=[
            NamedTasksConfig(name="train", episodes="train", houses=5, seed=2000),
            NamedTasksConfig(name="test", episodes="test", houses=5),
        ]
    )
    """Sets of tasks that are played after every phase."""
    repeats: int = Field(default=1, ge=1, le=MAX_COUNT)
    """Number of episodes per task."""
    untrained: bool = False
    """Whether the model is also evaluated before any training."""

    @model_validator(mode="after")
    def _check_unique_names(self) -> EvaluationConfig:
        names = [tasks.name for tasks in self.tasks]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"several tasks are named {', '.join(twice)}; give each its own name")
        return self


class SelfTrainingConfig(Settings):
    """Settings of a self-training in houses: what it starts from, and every phase."""

    system: Literal["personalize"] = "personalize"
    """Name of the system."""
    run: PersonalizeSettings = PersonalizeSettings(agent=AgentSettings(max_plans=60))
    demonstrations: DemonstrationsConfig = DemonstrationsConfig(episodes="demo", houses=10, seed=1000)
    training_tasks: TasksConfig = TasksConfig(episodes="train", houses=20, seed=2000)
    iterations: int = Field(default=2, ge=0, le=MAX_COUNT)
    """Number of iterations in which the model acts and learns from the result."""
    imitation_epochs: float = Field(default=4.0, gt=0)
    """Number of passes over the demonstrations."""
    imitation_learning_rate: float | None = Field(default=None, gt=0)
    """Learning rate on the demonstrations. null is training.learning_rate."""
    imitation_memory_lessons: int = Field(default=0, ge=0, le=MAX_COUNT)
    """Number of lessons about what the demonstrations say, learned with them. It needs a prompt that judges
    placements."""
    learning_rate_decay: float = Field(default=1.0, gt=0, le=1)
    """Factor of the learning rate from each iteration to the next."""
    imitation_plans: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    """Number of plans of each demonstration that are learned, drawn at random. null is all."""
    lessons: list[LessonsConfig] = Field(default=[])
    """Lessons learned with the demonstrations, by kind, such as [{houses: 100, each: 20, seed: 3000}]: what the
    demonstrator would say in generated houses with random objects. Their houses must not be among evaluation.tasks."""
    grow: GrowConfig = GrowConfig()
    target: Annotated[LearningTarget, _FORMER_TARGETS] = "raw"
    """Text that is learned of a reply: raw (the reply), executed (only the actions that succeeded), verified (these,
    and only the judgements that they act on), or relabelled (the reply that demonstrations and reactions call for). The
    last two need a prompt that judges placements."""
    filter: FilterConfig = FilterConfig()
    replay_fraction: float = Field(default=1.0, ge=0, le=1)
    """Fraction of the demonstrations that every iteration learns again, so that exploring, which has no reward, is not
    forgotten."""
    memory_lessons: int = Field(default=0, ge=0, le=MAX_COUNT)
    """Number of lessons per iteration about what demonstrations and reactions have said so far, in the houses of the
    training tasks. It needs a prompt that judges placements."""
    training: TrainingConfig = TrainingConfig()
    rollouts: RolloutsConfig = RolloutsConfig()
    evaluation: EvaluationConfig = EvaluationConfig()

    def identity(self, *, imitated: bool, improved: bool, finished: bool = False) -> dict[str, Any]:
        """Return the settings that must stay the same to resume a folder, by dotted key.

        The amount of work and the place of its execution may always change. How something is learned may change until
        it is learned.

        Args:
            imitated: Whether the folder has a model that imitates the demonstrations.
            improved: Whether it has a model of an iteration.
            finished: Whether all models are trained. Until then, the learning rate of those that are left may change.
        """
        found = self.model_dump(
            include={"demonstrations", "training_tasks", "grow"}, exclude={"grow": set() if improved else {"repeats"}}
        )
        found["run"] = self.run.result_settings
        found["rollouts"] = {"engine": self.rollouts.engine}
        if imitated:
            found |= self.model_dump(
                include={"lessons", "imitation_plans", "imitation_memory_lessons", "imitation_epochs"}
            )
            found["imitation_learning_rate"] = self.imitation_training.learning_rate
            own = (set() if improved else {"epochs"}) | (set() if finished else {"learning_rate"})
            found["training"] = {
                key: value for key, value in self.training.resumable_identity.items() if key not in own
            }
        if improved:
            found |= self.model_dump(include={"target", "filter", "replay_fraction", "memory_lessons"})
        if finished:
            found["learning_rate_decay"] = self.learning_rate_decay
        return flatten_settings(found)

    def keep_imitation_rate(self, earlier: SelfTrainingConfig) -> SelfTrainingConfig:
        """Return settings with the imitation's learning rate of a folder, unless these settings name one.

        Args:
            earlier: Settings of the folder.
        """
        rate = earlier.imitation_training.learning_rate
        if self.imitation_learning_rate is not None or self.imitation_training.learning_rate == rate:
            return self
        return self.model_copy(update={"imitation_learning_rate": rate})

    def describe_rate_changes(self, earlier: SelfTrainingConfig) -> list[str]:
        """Return which learning rates of iterations differ from earlier settings, as texts with both values."""
        rates = {
            "training.learning_rate": (self.training.learning_rate, earlier.training.learning_rate),
            "learning_rate_decay": (self.learning_rate_decay, earlier.learning_rate_decay),
        }
        return [f"{key}={now:g} instead of {before:g}" for key, (now, before) in rates.items() if now != before]

    @property
    def imitation_training(self) -> TrainingConfig:
        """Settings of the training on demonstrations."""
        rate = self.imitation_learning_rate or self.training.learning_rate
        keys = {"epochs": "imitation_epochs"}
        if self.imitation_learning_rate is not None:
            keys["learning_rate"] = "imitation_learning_rate"
        own = {"epochs": self.imitation_epochs, "learning_rate": rate}
        return self.training.model_copy(update=own).with_keys(keys)

    def iteration_training(self, iteration: int) -> TrainingConfig:
        """Return the settings of an iteration's training; the learning rate decays (ReST, arXiv 2308.08998, section 3).

        Args:
            iteration: The iteration, from 0.
        """
        rate = self.training.learning_rate * self.learning_rate_decay**iteration
        return self.training.model_copy(update={"learning_rate": rate})

    def check_houses(self) -> None:
        """Check that no generated house is used both for training and for tests.

        The houses of the training tasks may also be evaluated, by tasks that have no other houses.

        Raises:
            UserError: A house is used for both.
        """
        if self.run.tasks.data is not None:
            return
        grown = _houses(self.training_tasks)
        for tasks in self.evaluation.tasks:
            tested = _houses(tasks)
            parts = {f"lessons[{number}]": _houses(kind) for number, kind in enumerate(self.lessons)}
            if not tested <= grown:
                parts["demonstrations"] = _houses(self.demonstrations)
                if self.iterations or self.imitation_memory_lessons:
                    parts["training_tasks"] = grown
            for name, learned in parts.items():
                if both := sorted(tested & learned):
                    raise UserError(
                        f"{name}: house {both[0]} is learned from and is among evaluation.tasks named {tasks.name} as "
                        f"well ({len(both)} are); give {name}.seed or those tasks another seed"
                    )

    def evaluation_settings(self, tasks: NamedTasksConfig, **changes: Any) -> PersonalizeSettings:
        """Return the settings of a run that evaluates a model on some tasks; see run_settings."""
        return self.run_settings(tasks, repeats=tasks.repeats or self.evaluation.repeats, **changes)

    def grow_settings(self, iteration: int, **changes: Any) -> PersonalizeSettings:
        """Return the settings of the run in which an iteration plays the training tasks; see run_settings."""
        grow = self.grow
        changed = {"temperature": grow.temperature, "top_p": grow.top_p, "n": grow.replies}
        sampling = self.run.models.agent.sampling.model_copy(update=changed)
        # Each iteration has its own random numbers; a model that has learned little would else repeat its plans.
        series = self.run.tasks.rng_stream + iteration
        changes = {"sampling": sampling, "repeats": grow.repeats, "rng_stream": series, **changes}
        return self.run_settings(self.training_tasks, **changes)

    def is_grown(self, tasks: NamedTasksConfig) -> bool:
        """Return whether an iteration plays these tasks as an evaluation of the model before it would."""
        reads_memory = self.run.memory.start is not None
        return not reads_memory and self.evaluation_settings(tasks) == self.grow_settings(0)

    def demonstration_settings(self, **changes: Any) -> PersonalizeSettings:
        """Return the settings of the run that demonstrates; see run_settings."""
        tasks = self.demonstrations
        return self.run_settings(tasks, planner="demonstrator", repeats=tasks.repeats, **changes)

    def run_settings(self, tasks: TasksConfig, **changes: Any) -> PersonalizeSettings:
        """Return the settings of a run that plays some tasks.

        Args:
            tasks: The tasks.
            **changes: Settings that differ from ``run``.
        """
        chosen: dict[str, Any] = tasks.model_dump(include={"episodes", "houses", "seed"})
        if tasks.objects is not None:
            chosen["objects"] = tasks.objects
        if tasks.misplaced is not None:
            chosen["misplaced"] = tasks.misplaced
        if self.run.tasks.data is not None:
            chosen = {"episodes": tasks.episodes}
        return self.run.with_changes(**chosen, **changes)


def _houses(tasks: TasksConfig | LessonsConfig) -> AbstractSet[int]:
    """Return the seeds of the generated houses of some tasks."""
    return set(range(tasks.seed, tasks.seed + tasks.houses))


def load_selftraining(
    file: Path | None = None, settings: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> SelfTrainingConfig:
    """Load the settings of a self-training; see core.settings_loading.load_settings."""

    def advice(config: SelfTrainingConfig) -> dict[str, Any]:
        advised = derived_defaults(config.run)
        return {"run": advised} if advised else {}

    return load_with_derived_defaults(SelfTrainingConfig, selftraining_defaults(), advice, file, settings, overrides)


def read_selftraining(path: Path) -> SelfTrainingConfig:
    """Read the settings in a self-training's folder, of any version; those of version 1 have no sections.

    Raises:
        UserError: The file holds no such settings.
    """
    try:
        content = read_json(path)
        if not isinstance(content, dict) or "run" not in content:
            raise ValueError
        base = selftraining_defaults()
        return validate_settings(SelfTrainingConfig, place_in_sections(content, base, str(path)))
    except (UserError, ValueError, AttributeError) as error:
        raise UserError(f"{path}: not the settings of a self-training; choose another folder with --out") from error


def selftraining_defaults() -> dict[str, Any]:
    """Return every setting with its default."""
    own = SelfTrainingConfig().model_dump(mode="json")
    # The prompt depends on the adapter, and the confidence on the scoring of placements.
    agent = {"prompt": None, "judging": {"confidence": None}}
    start = {"agent": agent, "models": {"agent": {"adapter": NONE}}}
    return merge_nested(own, {"run": start})


def generated_house_tasks(houses: int, file: Path | None = None) -> dict[str, Any]:
    """Return settings for a self-training in generated houses, in the paper's proportions.

    Args:
        houses: Number of houses to train in. Demonstrations have half as many, each evaluation a quarter.
        file: Configuration whose evaluations are played, in houses from the same seeds on; see load_selftraining.
    """
    few = max(houses // 4, 1)
    tasks = load_selftraining(file).evaluation.tasks
    return {
        "demonstrations": {"houses": max(houses // 2, 1)},
        "training_tasks": {"houses": houses},
        "evaluation": {"tasks": [{**chosen.model_dump(), "houses": few} for chosen in tasks]},
    }
