"""The settings of self-training: defaults from ``housekeep_configs/selftrain.yaml``, a file, the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Annotated, Any, Literal

from omegaconf import DictConfig, OmegaConf
from pydantic import Field, NonNegativeInt, model_validator

from housewise.core.errors import UserError
from housewise.core.settings import (
    Settings,
    load_with_derived_defaults,
    packaged_defaults,
    place_in_sections,
    validate_settings,
)
from housewise.core.text_files import read_json
from housewise.core.user_code import CodeReference
from housewise.language.settings import Dtype
from housewise.rollout.settings import flatten_settings
from housewise.selftrain.personalize.pairs import Wording
from housewise.systems.personalize.settings import PersonalizeSettings, derived_defaults


class TrainingConfig(Settings):
    """How a model learns from pairs; every key is explained in ``housekeep_configs/selftrain.yaml``."""

    trainer: str
    method: Literal["lora", "full"]
    rank: int = Field(ge=1)
    alpha: int = Field(ge=1)
    targets: str | tuple[str, ...] = "all-linear"
    learning_rate: float = Field(gt=0)
    epochs: float = Field(gt=0)
    batch: int = Field(ge=1)
    pairs_per_pass: int | None = Field(ge=1)
    together: int = Field(default=1, ge=1)
    most_tokens: int = Field(ge=1)
    gradient_checkpointing: bool
    checkpoint_steps: int = Field(ge=1)
    device: str
    dtype: Dtype
    launcher: str | None
    poll_seconds: float = Field(gt=0)

    @property
    def identity(self) -> dict[str, Any]:
        """What a trained model depends on: all but how its training is computed."""
        how = {"pairs_per_pass", "gradient_checkpointing", "checkpoint_steps", "device", "launcher", "poll_seconds"}
        return self.model_dump(exclude=how)

    @property
    def lasting_identity(self) -> dict[str, Any]:
        """What has to be the same to go on in a folder of several trainings.

        Those that are not over may read longer examples: too many may turn out to be too long when all is played.
        """
        return {key: value for key, value in self.identity.items() if key != "most_tokens"}


class PreferenceConfig(TrainingConfig):
    """How a model learns which of two replies is the better one (DPO, arXiv 2305.18290).

    Attributes:
        beta: how much it costs to differ from the model that training began with.
    """

    beta: float = Field(gt=0)


class TasksConfig(Settings):
    """Some tasks: episodes of the data, or so many generated houses from a seed on.

    Of generated houses, ``objects`` and ``misplaced`` say how much is in them, where it is not as in ``run``.
    """

    episodes: list[int] | str | None = None
    houses: int = Field(default=1, ge=1)
    seed: int = Field(default=0, ge=0)
    objects: tuple[int, int] | None = None
    misplaced: tuple[int, int] | None = None


class NamedTasksConfig(TasksConfig):
    """Tasks under the name that results are told by, each played so often; as often as all others by default."""

    name: str = Field(min_length=1, pattern=r"^[\w-]+$")
    runs: int | None = Field(default=None, ge=1)


Share = Annotated[float, Field(ge=0, le=1)]


class LessonsConfig(Settings):
    """Lessons of one kind; see housewise.selftrain.personalize.lessons.

    Attributes:
        houses, seed: generated houses, so many from a seed on.
        each: lessons in each of them.
        places, things: fewest and most receptacles and things that the robot knows.
        unseen: whether it also knows of rooms in which it has seen nothing.
        held: share of the lessons in which it has one of the things in its hand.
        elsewhere: whether things may be out of place of which no right place is known.
        invented: whether each house has a person of its own who does not exist, instead of the run's.
        remembered: the least and the greatest share of the kinds of things of which something is remembered; None
            where there is no memory.
    """

    houses: int = Field(ge=1)
    each: int = Field(ge=1)
    seed: int = Field(default=3000, ge=0)
    places: tuple[NonNegativeInt, NonNegativeInt] = (6, 20)
    things: tuple[NonNegativeInt, NonNegativeInt] = (10, 24)
    unseen: bool = False
    held: float = Field(default=0.0, ge=0, le=1)
    elsewhere: bool = True
    invented: bool = False
    remembered: tuple[Share, Share] | None = None

    @model_validator(mode="after")
    def _in_order(self) -> LessonsConfig:
        for name, (fewest, most) in (("places", self.places), ("things", self.things)):
            if fewest > most:
                raise ValueError(f"{name}: the fewest, {fewest}, are more than the most, {most}")
        return self


class GrowConfig(Settings):
    """How the model is let try."""

    runs: int = Field(ge=1)
    replies: int = Field(default=1, ge=1)
    temperature: float = Field(gt=0)
    top_p: float = Field(gt=0, le=1)


class FilterConfig(Settings):
    """What is learned of what was tried; see housewise.selftrain.personalize.filters."""

    name: CodeReference
    thresholds: list[float] = Field(min_length=1)
    most_per_object: int = Field(ge=1)


class EvaluationConfig(Settings):
    """How good the model has become."""

    tasks: list[NamedTasksConfig]
    runs: int = Field(ge=1)
    untrained: bool

    @model_validator(mode="after")
    def _each_its_name(self) -> EvaluationConfig:
        names = [tasks.name for tasks in self.tasks]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"several tasks are named {', '.join(twice)}; give each its own name")
        return self


class SelfTrainingConfig(Settings):
    """One self-training; every key is explained in ``housekeep_configs/selftrain.yaml``."""

    run: PersonalizeSettings
    demonstrations: TasksConfig
    training_tasks: TasksConfig
    iterations: int = Field(ge=0)
    imitation_epochs: float = Field(gt=0)
    imitation_learning_rate: float | None = Field(default=None, gt=0)
    imitation_review: int = Field(default=0, ge=0)
    learning_rate_decay: float = Field(default=1.0, gt=0, le=1)
    imitation_plans: int | None = Field(default=None, ge=1)
    lessons: list[LessonsConfig]
    grow: GrowConfig
    wording: Wording
    filter: FilterConfig
    rehearse: float = Field(ge=0, le=1)
    review: int = Field(default=0, ge=0)
    training: TrainingConfig
    evaluation: EvaluationConfig

    def identity(self, *, imitated: bool, improved: bool, finished: bool = False) -> dict[str, Any]:
        """What has to be the same to go on in a folder, by key.

        How much is done, and where it is computed, may always change; how something is learned, until it is learned.

        Args:
            imitated: whether the folder has a model that imitates the demonstrations.
            improved: whether it has one that has learned from what it tried.
            finished: whether nothing is left to be learned; until then what is left may be learned at another rate.
        """
        found = self.model_dump(
            include={"demonstrations", "training_tasks", "grow"}, exclude={"grow": set() if improved else {"runs"}}
        )
        found["run"] = self.run.result_settings
        if imitated:
            found |= self.model_dump(include={"lessons", "imitation_plans", "imitation_review", "imitation_epochs"})
            found["imitation_learning_rate"] = self.imitation.learning_rate
            own = (set() if improved else {"epochs"}) | (set() if finished else {"learning_rate"})
            found["training"] = {key: value for key, value in self.training.lasting_identity.items() if key not in own}
        if improved:
            found |= self.model_dump(include={"wording", "filter", "rehearse", "review"})
        if finished:
            found["learning_rate_decay"] = self.learning_rate_decay
        return flatten_settings(found)

    def after_imitation(self, earlier: SelfTrainingConfig) -> SelfTrainingConfig:
        """Settings for a folder that has imitated already: its rate stays, where these settings name none.

        Args:
            earlier: those of the folder.
        """
        rate = earlier.imitation.learning_rate
        if self.imitation_learning_rate is not None or self.imitation.learning_rate == rate:
            return self
        return self.model_copy(update={"imitation_learning_rate": rate})

    def changed_rates(self, earlier: SelfTrainingConfig) -> list[str]:
        """Say which learning rates of iterations are others than in earlier settings, and what they were."""
        rates = {
            "training.learning_rate": (self.training.learning_rate, earlier.training.learning_rate),
            "learning_rate_decay": (self.learning_rate_decay, earlier.learning_rate_decay),
        }
        return [f"{key}={now:g} instead of {before:g}" for key, (now, before) in rates.items() if now != before]

    @property
    def imitation(self) -> TrainingConfig:
        """How demonstrations are learned."""
        rate = self.imitation_learning_rate or self.training.learning_rate
        keys = {"epochs": "imitation_epochs"}
        if self.imitation_learning_rate is not None:
            keys["learning_rate"] = "imitation_learning_rate"
        own = {"epochs": self.imitation_epochs, "learning_rate": rate}
        return self.training.model_copy(update=own).with_keys(keys)

    def improvement(self, iteration: int) -> TrainingConfig:
        """How an iteration, counted from 0, learns: more slowly each time, as in ReST (arXiv 2308.08998, section 3)."""
        rate = self.training.learning_rate * self.learning_rate_decay**iteration
        return self.training.model_copy(update={"learning_rate": rate})

    def check_houses(self) -> None:
        """Check that no generated house both teaches and tests.

        The houses of the training tasks may be measured in as well, as tasks that have no others.

        Raises:
            UserError: When one does.
        """
        if self.run.tasks.data is not None:
            return
        tried = _houses(self.training_tasks)
        for tasks in self.evaluation.tasks:
            tested = _houses(tasks)
            parts = {f"lessons[{number}]": _houses(kind) for number, kind in enumerate(self.lessons)}
            if not tested <= tried:
                parts["demonstrations"] = _houses(self.demonstrations)
                if self.iterations or self.imitation_review:
                    parts["training_tasks"] = tried
            for name, taught in parts.items():
                if both := sorted(tested & taught):
                    raise UserError(
                        f"{name}: house {both[0]} is taught and is among evaluation.tasks named {tasks.name} as well "
                        f"({len(both)} are); give {name}.seed or those tasks another seed"
                    )

    def measuring(self, tasks: NamedTasksConfig, **changes: Any) -> PersonalizeSettings:
        """The run that tells how good a model is at some tasks; see playing."""
        return self.playing(tasks, runs=tasks.runs or self.evaluation.runs, **changes)

    def playing(self, tasks: TasksConfig, **changes: Any) -> PersonalizeSettings:
        """The run that plays some tasks.

        Args:
            tasks: which.
            **changes: settings of the run that differ from ``run``.
        """
        chosen: dict[str, Any] = tasks.model_dump(include={"episodes", "houses", "seed"})
        if tasks.objects is not None:
            chosen["objects"] = tasks.objects
        if tasks.misplaced is not None:
            chosen["misplaced"] = tasks.misplaced
        if self.run.tasks.data is not None:
            chosen = {"episodes": tasks.episodes}
        return self.run.changed(**chosen, **changes)


def _houses(tasks: TasksConfig | LessonsConfig) -> AbstractSet[int]:
    """The seeds of generated houses."""
    return set(range(tasks.seed, tasks.seed + tasks.houses))


def load_selftraining(
    file: Path | None = None, settings: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> SelfTrainingConfig:
    """Put the settings of a self-training together; see core.settings.load_settings."""

    def advice(config: SelfTrainingConfig) -> dict[str, Any]:
        advised = derived_defaults(config.run)
        return {"run": advised} if advised else {}

    return load_with_derived_defaults(SelfTrainingConfig, _defaults(), advice, file, settings, overrides)


def read_selftraining(path: Path) -> SelfTrainingConfig:
    """The settings of a self-training that were kept; those of version 1 have no sections.

    Raises:
        UserError: when the file holds none.
    """
    try:
        content = read_json(path)
        base: Any = OmegaConf.to_container(_defaults())
        return validate_settings(SelfTrainingConfig, place_in_sections(content, base, str(path)))
    except (UserError, ValueError, AttributeError) as error:
        raise UserError(f"{path}: not the settings of a self-training; choose another folder with --out") from error


def _defaults() -> DictConfig:
    base = OmegaConf.merge({"run": packaged_defaults("run")}, packaged_defaults("selftrain"))
    assert isinstance(base, DictConfig)
    return base


def generated_tasks(houses: int) -> dict[str, Any]:
    """Settings for training in so many generated houses, in the paper's proportions: none of them is a test.

    Args:
        houses: to train in; half as many for demonstrations, a quarter as many for each evaluation.
    """
    few = max(houses // 4, 1)
    tasks = packaged_defaults("selftrain").evaluation.tasks
    return {
        "demonstrations": {"houses": max(houses // 2, 1)},
        "training_tasks": {"houses": houses},
        "evaluation": {"tasks": [{**chosen, "houses": few} for chosen in tasks]},
    }
