"""Trainings of experiments: the models of a recipe, by the phase after which they are measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from housewise.core.errors import UserError
from housewise.core.settings import merge_nested, nest_value
from housewise.experiments.grid import PlannedTraining
from housewise.selftrain.trainers import ModelReference
from housewise.selftrain.training_folder import TrainingObserver

if TYPE_CHECKING:
    from housewise.selftrain.adapt.fold_training import FoldTraining

WARM_UP = "warm-up"
"""Phase of ADAPT whose model all learners start from."""


def train_models(
    system: str,
    planned: PlannedTraining,
    folder: Path,
    observer: TrainingObserver,
    execution: Mapping[str, Any],
) -> Mapping[str, ModelReference]:
    """Return the models of a training by phase, trained as far as they are not finished and are taken.

    Args:
        system: System whose agent is trained.
        planned: The training.
        folder: Its folder.
        observer: Follows it.
        execution: Execution settings of its runs.

    Raises:
        UserError: The system does not train, or the training cannot be done.
    """
    if system not in _TRAININGS:
        raise UserError(f"trainings: {system} has none; available: {', '.join(_TRAININGS)}")
    settings: dict[str, Any] = {"run": {"execution": dict(execution)}}
    for key, value in planned.settings.items():
        settings = merge_nested(settings, nest_value(key, value))
    return _TRAININGS[system](planned.template.config, settings, folder, observer)


def _train_personalize(
    config: Path | None, settings: Mapping[str, Any], folder: Path, observer: TrainingObserver
) -> dict[str, ModelReference]:
    from housewise.selftrain.personalize.self_training import SelfTraining
    from housewise.selftrain.personalize.settings import load_selftraining

    loaded = load_selftraining(config, settings)
    phases = SelfTraining(loaded, folder, observer).run()["phases"]
    return {line["phase"]: ModelReference(model=line["model"], adapter=line["adapter"]) for line in phases}


def _train_stars(
    config: Path | None, settings: Mapping[str, Any], folder: Path, observer: TrainingObserver
) -> dict[str, ModelReference]:
    from housewise.selftrain.stars.goal_training import GoalTraining
    from housewise.selftrain.stars.settings import load_goal_training
    from housewise.selftrain.training_folder import IMITATE

    return {IMITATE: GoalTraining(load_goal_training(config, settings), folder, observer).run()}


def _train_adapt(
    config: Path | None, settings: Mapping[str, Any], folder: Path, observer: TrainingObserver
) -> Mapping[str, ModelReference]:
    from housewise.selftrain.adapt.fold_training import open_fold
    from housewise.selftrain.adapt.settings import load_adapt_training

    return FoldModels(open_fold(load_adapt_training(config, settings), folder, observer))


class FoldModels(Mapping[str, ModelReference]):
    """The models of a fold of ADAPT, each trained when it is taken: the warm-up, and those of the learners.

    Args:
        fold: The trainings of the fold.
    """

    def __init__(self, fold: FoldTraining) -> None:
        self._fold, self._phases = fold, (WARM_UP, *fold.learners)

    def __getitem__(self, phase: str) -> ModelReference:
        return self._fold.start if phase == WARM_UP else self._fold.train(phase)

    def __contains__(self, phase: object) -> bool:
        return phase in self._phases

    def __iter__(self) -> Iterator[str]:
        return iter(self._phases)

    def __len__(self) -> int:
        return len(self._phases)


_TRAININGS: dict[str, Callable[..., Mapping[str, ModelReference]]] = {
    "adapt": _train_adapt,
    "personalize": _train_personalize,
    "stars": _train_stars,
}
