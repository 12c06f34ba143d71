"""Trainings of experiments: the models of a recipe, by the phase after which they are measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError, suggest_names
from housewise.core.settings import merge_nested, nest_value
from housewise.experiments.grid import PlannedTraining
from housewise.language.adapters import IMITATE
from housewise.selftrain.trainers import ModelReference
from housewise.selftrain.training_folder import TrainingObserver


@dataclass(frozen=True)
class OpenedTraining:
    """A training whose settings have been checked.

    Attributes:
        phases: Names of the phases whose models can be asked.
        check: Checks everything that can be checked before work: the model, the trainer, the engine of its rollouts,
            and the folder, in which nothing is written.
        train: Trains in a folder, as far as models are not finished and are taken, and returns them by phase.
    """

    phases: Sequence[str]
    check: Callable[[Path, TrainingObserver], object]
    train: Callable[[Path, TrainingObserver], Mapping[str, ModelReference]]


def open_training(system: str, planned: PlannedTraining, phase: str, execution: Mapping[str, Any]) -> OpenedTraining:
    """Return a training whose settings have been checked.

    Args:
        system: System whose agent is trained.
        planned: The training.
        phase: Phase whose model is asked.
        execution: Execution settings of its runs.

    Raises:
        UserError: The system does not train, settings are invalid, or there is no such phase.
    """
    if system not in _TRAININGS:
        raise UserError(f"trainings: {system} has none; available: {', '.join(_TRAININGS)}")
    settings: dict[str, Any] = {"run": {"execution": dict(execution)}}
    for key, value in planned.settings.items():
        settings = merge_nested(settings, nest_value(key, value))
    try:
        opened = _TRAININGS[system](planned.template.config, settings)
    except UserError as error:
        raise type(error)(f"trainings.{planned.name}: {error}") from error
    if phase not in opened.phases:
        raise UserError(f"trainings.{planned.name}: no phase {phase!r}; {suggest_names(phase, opened.phases)}")
    return opened


def _open_personalize(config: Path | None, settings: Mapping[str, Any]) -> OpenedTraining:
    from housewise.selftrain.personalize.planned_phases import model_phases
    from housewise.selftrain.personalize.self_training import SelfTraining
    from housewise.selftrain.personalize.settings import load_selftraining

    loaded = load_selftraining(config, settings)

    open_it = partial(SelfTraining, loaded)

    def train(folder: Path, observer: TrainingObserver) -> dict[str, ModelReference]:
        phases = open_it(folder, observer).run()["phases"]
        return {line["phase"]: ModelReference(model=line["model"], adapter=line["adapter"]) for line in phases}

    return OpenedTraining(model_phases(loaded.iterations), open_it, train)


def _open_stars(config: Path | None, settings: Mapping[str, Any]) -> OpenedTraining:
    from housewise.selftrain.stars.goal_training import GoalTraining
    from housewise.selftrain.stars.settings import GoalTrainingConfig

    open_it = partial(GoalTraining, GoalTrainingConfig.load(config, settings))
    return OpenedTraining([IMITATE], open_it, lambda folder, observer: {IMITATE: open_it(folder, observer).run()})


def _open_basis(config: Path | None, settings: Mapping[str, Any]) -> OpenedTraining:
    from housewise.selftrain.basis.guidance_training import GuidanceTraining
    from housewise.selftrain.basis.settings import GuidanceTrainingConfig
    from housewise.systems.basis.assistants import phase_names

    loaded = GuidanceTrainingConfig.load(config, settings)
    open_it, phases = partial(GuidanceTraining, loaded), phase_names(loaded.corrections.rounds)
    return OpenedTraining(
        phases, open_it, lambda folder, observer: ModelsByPhase(open_it(folder, observer).run, phases)
    )


def _open_adapt(config: Path | None, settings: Mapping[str, Any]) -> OpenedTraining:
    from housewise.selftrain.adapt.adapt_training import WARM_UP, AdaptTraining
    from housewise.selftrain.adapt.fold_training import LEARNERS, open_fold
    from housewise.selftrain.adapt.settings import AdaptTrainingConfig

    loaded, phases = AdaptTrainingConfig.load(config, settings), (WARM_UP, *LEARNERS)

    def train(folder: Path, observer: TrainingObserver) -> ModelsByPhase:
        fold = open_fold(loaded, folder, observer)
        return ModelsByPhase(lambda phase: fold.start if phase == WARM_UP else fold.train(phase), phases)

    return OpenedTraining(phases, partial(AdaptTraining, loaded), train)


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


_TRAININGS: dict[str, Callable[[Path | None, Mapping[str, Any]], OpenedTraining]] = {
    "adapt": _open_adapt,
    "basis": _open_basis,
    "personalize": _open_personalize,
    "stars": _open_stars,
}
