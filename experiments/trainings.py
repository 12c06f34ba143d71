"""Trainings of experiments: the models of a recipe, by the phase after which they are measured."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError, suggest_names
from housewise.core.settings import merge_nested, nest_value, setting_paths
from housewise.experiments.grid import PlannedTraining
from housewise.language.adapters import IMITATE
from housewise.selftrain.rollouts.engine import RolloutEngine
from housewise.selftrain.rollouts.settings import RolloutsConfig
from housewise.selftrain.trainers import ModelReference
from housewise.selftrain.training_folder import PAIRS, TrainingObserver
from housewise.selftrain.training_settings import TRAINING_SYSTEMS, find_training_settings

_RUN = "run"
"""Section of a training's settings with those of its runs."""


@dataclass(frozen=True)
class OpenedTraining:
    """A training whose settings have been checked.

    Attributes:
        phases: Names of the phases whose models can be asked.
        check: Checks everything that can be checked before work: the model, the trainer, the engine of its rollouts,
            and the folder, in which nothing is written.
        train: Trains in a folder, as far as models are not finished and are taken, and returns them by phase.
        settings: All its settings, in sections.
        start: Name of the phase of the model that it starts from, if runs can ask that.
        open_engine: Opens the engine of its rollouts, with which its models answer.
        examples_file: Returns the file with the examples that the model of a phase has learned.
    """

    phases: Sequence[str]
    check: Callable[[Path, TrainingObserver], object]
    train: Callable[[Path, TrainingObserver], Mapping[str, ModelReference]]
    settings: Mapping[str, Any]
    start: str | None = None
    open_engine: Callable[[Path, TrainingObserver], RolloutEngine] = lambda *_: RolloutEngine(RolloutsConfig())
    examples_file: Callable[[Path, str], Path] = lambda folder, phase: folder / phase / PAIRS

    def find_engine(self, phase: str, folder: Path, observer: TrainingObserver) -> RolloutEngine:
        """Return the engine with which the model of a phase answers."""
        return RolloutEngine(RolloutsConfig()) if self.answers_here(phase) else self.open_engine(folder, observer)

    def answers_here(self, phase: str) -> bool:
        """Return whether the model of a phase is there before the training, and answers in this program."""
        return phase == self.start and self.settings["rollouts"]["engine"] == "local"


def open_training(
    system: str, planned: PlannedTraining, phase: str, execution: Mapping[str, Any], overrides: Sequence[str] = ()
) -> OpenedTraining:
    """Return a training whose settings have been checked.

    Args:
        system: System whose agent is trained.
        planned: The training.
        phase: Phase whose model is asked.
        execution: Execution settings of its runs.
        overrides: Settings as ``key=value``, which win over those of the experiment's file.

    Raises:
        UserError: The system does not train, settings are invalid, or there is no such phase.
    """
    if system not in _TRAININGS:
        raise UserError(f"trainings: {system} has none; available: {', '.join(_TRAININGS)}")
    settings: dict[str, Any] = {_RUN: {"execution": dict(execution)}}
    for key, value in planned.settings.items():
        settings = merge_nested(settings, nest_value(key, value))
    try:
        opened = _TRAININGS[system](planned.template.config, settings, overrides)
    except UserError as error:
        raise type(error)(f"trainings.{planned.name}: {error}") from error
    if phase not in opened.phases:
        raise UserError(f"trainings.{planned.name}: no phase {phase!r}; {suggest_names(phase, opened.phases)}")
    return opened


def check_run_overrides(system: str, overrides: Sequence[str], trainings: Collection[str]) -> None:
    """Check that what the user changes in every run is not meant for a training.

    Args:
        system: System of the experiment.
        overrides: Settings as ``key=value``, without those that begin with the name of a training.
        trainings: Names of the trainings.

    Raises:
        UserError: A setting is one of trainings only, or begins with a name that is similar to that of a training.
    """
    if system not in _TRAININGS or not overrides or not trainings:
        return
    settings = next(name for name, trained in TRAINING_SYSTEMS.items() if trained == system)
    known: Any = find_training_settings(settings).defaults()
    of_runs = {path.rpartition(".")[2] for path in setting_paths(known.pop(_RUN))}
    of_trainings = {path.rpartition(".")[2] for path in setting_paths(known)}
    for word in overrides:
        first, dot, rest = word.partition("=")[0].partition(".")
        if first in of_runs:
            continue
        if first in of_trainings:
            example = f"{next(iter(trainings))}.{word}"
            raise UserError(f"{word}: is a setting of a training; begin it with the training's name: {example!r}")
        if dot and (close := difflib.get_close_matches(first, trainings, n=1)):
            raise UserError(f"{word}: no training {first!r}; did you mean {close[0]}.{rest}?")


def check_training_overrides(overrides: Sequence[str], unused: Collection[str]) -> None:
    """Check that no setting is one of a training that is left out.

    Args:
        overrides: Settings as ``key=value``.
        unused: Names of the trainings whose models no run asks.

    Raises:
        UserError: A setting begins with the name of such a training.
    """
    for word in overrides:
        if word.partition(".")[0] in unused:
            raise UserError(
                f"{word}: no run of the chosen levels (--quick, --only) asks a model of this training; leave it out"
            )


def _open_personalize(config: Path | None, settings: Mapping[str, Any], overrides: Sequence[str]) -> OpenedTraining:
    from housewise.selftrain.personalize.planned_phases import UNTRAINED, model_phases
    from housewise.selftrain.personalize.self_training import SelfTraining
    from housewise.selftrain.personalize.settings import load_selftraining

    loaded = load_selftraining(config, settings, overrides)

    open_it, phases = partial(SelfTraining, loaded), (UNTRAINED, *model_phases(loaded.iterations))

    def train(folder: Path, observer: TrainingObserver) -> ModelsByPhase:
        def find(phase: str) -> ModelReference:
            if phase == UNTRAINED:
                start = loaded.run.models.agent
                return ModelReference(model=start.model, adapter=start.adapter)
            lines = open_it(folder, observer).run()["phases"]
            line = next(line for line in lines if line["phase"] == phase)
            return ModelReference(model=line["model"], adapter=line["adapter"])

        return ModelsByPhase(find, phases)

    def open_engine(folder: Path, observer: TrainingObserver) -> RolloutEngine:
        return open_it(folder, observer).engine

    return OpenedTraining(phases, open_it, train, loaded.model_dump(mode="json"), UNTRAINED, open_engine)


def _open_stars(config: Path | None, settings: Mapping[str, Any], overrides: Sequence[str]) -> OpenedTraining:
    from housewise.selftrain.stars.goal_training import GoalTraining
    from housewise.selftrain.stars.settings import GoalTrainingConfig

    loaded = GoalTrainingConfig.load(config, settings, overrides)
    open_it = partial(GoalTraining, loaded)

    def train(folder: Path, observer: TrainingObserver) -> dict[str, ModelReference]:
        return {IMITATE: open_it(folder, observer).run()}

    return OpenedTraining([IMITATE], open_it, train, loaded.model_dump(mode="json"))


def _open_basis(config: Path | None, settings: Mapping[str, Any], overrides: Sequence[str]) -> OpenedTraining:
    from housewise.selftrain.basis.guidance_training import GuidanceTraining
    from housewise.selftrain.basis.settings import GuidanceTrainingConfig
    from housewise.systems.basis.assistants import phase_names

    loaded = GuidanceTrainingConfig.load(config, settings, overrides)
    open_it, phases = partial(GuidanceTraining, loaded), phase_names(loaded.corrections.rounds)

    def train(folder: Path, observer: TrainingObserver) -> ModelsByPhase:
        return ModelsByPhase(open_it(folder, observer).run, phases)

    return OpenedTraining(phases, open_it, train, loaded.model_dump(mode="json"))


def _open_adapt(config: Path | None, settings: Mapping[str, Any], overrides: Sequence[str]) -> OpenedTraining:
    from housewise.selftrain.adapt.adapt_training import WARM_UP, AdaptTraining
    from housewise.selftrain.adapt.fold_training import FOLD, LEARNERS, learner_folder, open_fold
    from housewise.selftrain.adapt.settings import AdaptTrainingConfig

    loaded, phases = AdaptTrainingConfig.load(config, settings, overrides), (WARM_UP, *LEARNERS)
    open_it = partial(AdaptTraining, loaded)

    def train(folder: Path, observer: TrainingObserver) -> ModelsByPhase:
        fold = open_fold(loaded, folder, observer)
        return ModelsByPhase(lambda phase: fold.start if phase == WARM_UP else fold.train(phase), phases)

    def open_engine(folder: Path, observer: TrainingObserver) -> RolloutEngine:
        return open_it(folder, observer).open_engine(folder / FOLD)

    def examples_file(folder: Path, phase: str) -> Path:
        return (folder / WARM_UP if phase == WARM_UP else learner_folder(folder / FOLD, phase)) / PAIRS

    return OpenedTraining(phases, open_it, train, loaded.model_dump(mode="json"), None, open_engine, examples_file)


class ModelsByPhase(Mapping[str, ModelReference]):
    """The models of a training, each trained when it is taken.

    Args:
        train: Trains the model of a phase, where it is not finished, and returns it.
        phases: Names of the phases.
    """

    def __init__(self, train: Callable[[str], ModelReference], phases: Sequence[str]) -> None:
        self._train, self._phases = train, phases

    def __getitem__(self, phase: str) -> ModelReference:
        return self._train(phase)

    def __iter__(self) -> Iterator[str]:
        return iter(self._phases)

    def __len__(self) -> int:
        return len(self._phases)


_TRAININGS: dict[str, Callable[[Path | None, Mapping[str, Any], Sequence[str]], OpenedTraining]] = {
    "adapt": _open_adapt,
    "basis": _open_basis,
    "personalize": _open_personalize,
    "stars": _open_stars,
}
