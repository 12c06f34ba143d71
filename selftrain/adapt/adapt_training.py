"""Trainings for ADAPT in a folder that commands share: a warm-up, and what the folds that start from it share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path

from housewise.agent.adapt.planner_prompt import PREFIX, PlannerPrompt
from housewise.agent.adapt.prompts import find_prompts, load_prompts
from housewise.core.errors import UserError
from housewise.language.embedder import shared_minilm
from housewise.people.kitchen.invented_profiles import invent_profile
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.people.kitchen.question_topics import sort_by_use
from housewise.people.memory.note import check_person_name
from housewise.rollout.saved_settings import check_user_files, copy_user_files
from housewise.selftrain.adapt.cook_demonstrations import demonstrate_breakfasts
from housewise.selftrain.adapt.settings import AdaptTrainingConfig, DemonstrationsConfig
from housewise.selftrain.examples import EpisodeDemonstration, Example
from housewise.selftrain.rollouts.engine import RolloutEngine, open_engine
from housewise.selftrain.trainers import ModelReference, TrainedModel
from housewise.selftrain.trainers.settings import TrainingConfig
from housewise.selftrain.training_folder import (
    PAIRS,
    PREFERENCES,
    TrainingFolder,
    TrainingObserver,
    load_or_make_examples,
    read_training_settings,
)
from housewise.systems.adapt.settings import AdaptSettings
from housewise.systems.adapt.system import Adapt

WARM_UP = "warm-up"
"""Phase whose model all learners start from."""
_MERGED = "merged"
_PATIENCE_SECONDS = 60.0
_STUDENT = (
    ("agent", "planner", "llm"),
    ("agent", "asking", "free"),
    ("agent", "thinks", False),
    ("memory", "learn", "never"),
)
"""Settings of the rollouts with which the student's prompts are those that it learns from."""


class AdaptTraining:
    """A warm-up, and the trainings of the folds that start from it.

    Args:
        config: Settings of the training.
        folder: Folder of the training; it is created if missing.
        observer: Follows the training.

    Raises:
        UserError: The settings do not fit this machine, each other, or those of the folder.
    """

    def __init__(self, config: AdaptTrainingConfig, folder: Path, observer: TrainingObserver) -> None:
        _check_student(config.run)
        self.config, self.folder, self.observer = config, folder, observer
        model, self.seed = config.run.models.agent, config.run.tasks.seed
        start = ModelReference(model=model.model, adapter=model.adapter)
        self._training = TrainingFolder(folder, start, observer, self.seed, model.base_url)
        self.prompts = load_prompts(find_prompts(config.run.agent.prompt))
        self.prompt = PlannerPrompt(self.prompts, turns=config.run.agent.max_turns)
        self.embedder = shared_minilm()
        people = config.run.tasks.people or ADAPT_PROFILES
        self.people = {person.name: person for person in load_profiles(people)}
        for name in self.people:
            check_person_name(name, f"{people}: name")
        # A mistake in them is found before the folder is begun.
        self._files = Adapt(config.run).files()
        self._check_folder()
        self._check_trainers()

    def begin(self) -> None:
        """Write the settings into the folder, before anything is trained.

        Raises:
            UserError: The folder holds a training with other settings.
        """
        # Commands for other agents may share the folder, and start at the same time.
        with self._training.lock_and_check(self._check_folder, _PATIENCE_SECONDS):
            self._training.write_settings(self.config)
            copy_user_files(self._files, self.folder)

    @cached_property
    def warm_up_model(self) -> ModelReference:
        """The model that all folds start from.

        Every learner goes on training the warm-up's adapter. Earlier versions merged it into the weights, and the folds
        of their folders have adapters of their own on these.
        """
        folder = self.folder / WARM_UP
        if (folder / _MERGED).exists():
            return ModelReference(model=f"local:{folder / _MERGED}")
        if self.config.warm_up.people:
            return self.finished_model(folder) or self._warm_up(folder)
        return self._training.start

    def open_engine(self, folder: Path) -> RolloutEngine:
        """Return where the student answers.

        Args:
            folder: Folder for the files of its server.
        """
        trainings = (self.config.warm_up.training, self.config.imitation, self.config.preference)
        largest = max(trainings, key=lambda training: training.rank)
        run = self.config.run
        return open_engine(self.config.rollouts, folder, run.models.agent, largest, PREFIX, run.execution.ray)

    def finished_model(self, folder: Path) -> TrainedModel | None:
        """Return the model of a training, or None where it is not finished."""
        return TrainedModel.load(folder, self._training.start.model)

    def _warm_up(self, folder: Path) -> TrainedModel:
        warm_up = self.config.warm_up
        count = warm_up.preferences_per_person
        people = [invent_profile(warm_up.seed + number, count) for number in range(warm_up.people)]
        examples = self.cook_demonstrations(folder, people, warm_up)
        return self.train(folder, examples, warm_up.training, self._training.start)

    def cook_demonstrations(
        self, folder: Path, people: Sequence[KitchenProfile], config: DemonstrationsConfig
    ) -> list[EpisodeDemonstration]:
        """Return the scripted cook's breakfasts for some people, and keep a file for each person.

        The cook asks first about the topics that most people have wishes about.
        """
        examples: list[EpisodeDemonstration] = []
        make = partial(
            demonstrate_breakfasts,
            config=config,
            topics=sort_by_use(people),
            prompts=self.prompts,
            embedder=self.embedder,
        )
        with self.observer.watch_training(f"{self._phase_name(folder)}: demonstrations") as progress:
            for done, person in enumerate(people, start=1):
                path = folder / "demonstrations" / f"{person.name}.jsonl"
                examples += load_or_make_examples(path, partial(make, person), EpisodeDemonstration)
                progress(done, len(people), f"{len(examples)} pairs")
        return examples

    def train(
        self, folder: Path, examples: Sequence[Example], config: TrainingConfig, start: ModelReference
    ) -> TrainedModel:
        """Train the model of a folder on demonstrations, or on preferences with a PreferenceConfig."""
        if not examples:
            raise UserError(f"{folder}: there is nothing to learn from; let the student cook more often")
        prompt = self.config.run.agent.prompt
        defaults = None if prompt is None else {"system": Adapt.name, "prompt": prompt}
        name, phase = f"{self._phase_name(folder)}: train", folder.relative_to(self.folder)
        config = self.open_engine(self.folder).training_config(config)
        return self._training.train(name, phase, examples, config, start, defaults)

    def _phase_name(self, folder: Path) -> str:
        return ": ".join(folder.relative_to(self.folder).parts)

    def _check_trainers(self) -> None:
        """Check everything about the trainings that can be checked before an episode is played."""
        config, start = self.config, self._training.start
        self._training.check_adapter(Adapt.name)
        if config.warm_up.people:
            self._training.check_trainer(config.warm_up.training, has_rollouts=True)
        for training in (config.imitation, config.preference):
            self._training.check_trainer(training, has_rollouts=True)
            if config.warm_up.people:
                _check_adapter_settings(training, config.warm_up.training)
        self.open_engine(self.folder).check(start)

    def _check_folder(self) -> None:
        """Check that the folder is new, or that its training has the same settings."""
        path = self._training.config_file
        if not self._training.has_begun("fold/*"):
            return
        earlier = read_training_settings(path, AdaptTrainingConfig, "a training for ADAPT")
        unused = self._unused_rates()
        before, now = (
            {key: value for key, value in config.identity.items() if key not in unused}
            for config in (earlier, self.config)
        )
        self._training.check_settings(before, now, "training", option="")
        check_user_files(self._files, self.folder)

    def _unused_rates(self) -> set[str]:
        """Return the learning rates that no model was trained with yet; all models that are compared use the same."""
        learned = [path.parent for path in self.folder.glob("*/*/model.json")]
        is_used = {
            "warm_up.training": self._training.is_trained(WARM_UP),
            "imitation": any((folder / PAIRS).exists() for folder in learned),
            "preference": any((folder / PREFERENCES).exists() for folder in learned),
        }
        return {f"{section}.learning_rate" for section, used in is_used.items() if not used}


def _check_student(run: AdaptSettings) -> None:
    """Check that the student cooks with the prompt that reflection and preferences are about.

    Raises:
        UserError: It does not.
    """
    for section, name, wanted in _STUDENT:
        if (given := getattr(getattr(run, section), name)) != wanted:
            raise UserError(
                f"run.{section}.{name}={str(given).lower()}: the student that is trained asks and acts freely, without "
                f"thoughts and without a memory; leave run.{section}.{name} out"
            )


def _check_adapter_settings(training: TrainingConfig, warm_up: TrainingConfig) -> None:
    """Check that the user has set nothing that the adapter of the warm-up determines.

    Raises:
        UserError: The user has.
    """
    for name in ("rank", "alpha", "targets"):
        wanted, given = getattr(training, name), getattr(warm_up, name)
        if name in training.set_by_user and wanted != given:
            raise UserError(
                f"{training.key(name)}={wanted}: learners go on training the adapter of the warm-up, whose {name} is "
                f"{given}; set {warm_up.key(name)}, or leave {training.key(name)} out"
            )
