"""Trainings of experiments: the models of a recipe, by the phase after which they are measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError
from housewise.core.settings import merge_nested, nest_value
from housewise.experiments.grid import PlannedTraining
from housewise.selftrain.trainers import ModelReference
from housewise.selftrain.training_folder import TrainingObserver


def train_models(
    system: str,
    planned: PlannedTraining,
    folder: Path,
    observer: TrainingObserver,
    execution: Mapping[str, Any],
) -> dict[str, ModelReference]:
    """Return the models of a training by phase, trained as far as they are not finished.

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


_TRAININGS: dict[str, Callable[..., dict[str, ModelReference]]] = {
    "personalize": _train_personalize,
    "stars": _train_stars,
}
