"""The phases of a self-training by name, and which of them are left with how many episodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from housewise.language.adapters import IMITATE
from housewise.selftrain.personalize.settings import SelfTrainingConfig
from housewise.selftrain.trainers.trained_model import MODEL_FILE
from housewise.systems.personalize.settings import PersonalizeSettings
from housewise.systems.personalize.system import Personalize
from housewise.systems.personalize.tasks import list_tasks

DEMONSTRATE, UNTRAINED = "demonstrate", "untrained"


@dataclass(frozen=True)
class PlannedPhase:
    """A part of a self-training that is ahead.

    Attributes:
        name: Its name for observers.
        episodes: Number of episodes that are played; 0 where a model is trained or lessons are made.
        seconds: Rough duration of the episodes on two CPU cores; None where it is not known.
        is_training: Whether a model is trained.
    """

    name: str
    episodes: int = 0
    seconds: float | None = None
    is_training: bool = False


def iteration_name(iteration: int) -> str:
    """Return the name of an iteration, which is counted from 0."""
    return f"iteration-{iteration + 1}"


def training_name(phase: str) -> str:
    """Return the name for observers of a phase's training. No evaluation has it: names of tasks hold no spaces."""
    return f"{phase}: train the model"


def model_phases(iterations: int) -> list[str]:
    """Return the names of the phases that train a model, in order."""
    return [IMITATE, *map(iteration_name, range(iterations))]


def remaining_phases(config: SelfTrainingConfig, folder: Path) -> Iterator[PlannedPhase]:
    """Yield the phases that are left, in order. Evaluations are included even if they are done.

    Args:
        config: Settings of the self-training.
        folder: Its folder.
    """
    if config.evaluation.untrained:
        yield from _evaluation_phases(config, UNTRAINED)
    for name in model_phases(config.iterations):
        if not (folder / name / MODEL_FILE).exists():
            if name == IMITATE:
                yield _episodes_phase(DEMONSTRATE, config.demonstration_settings())
                if config.lessons:
                    yield PlannedPhase("lessons")
            else:
                yield _episodes_phase(f"{name}: grow", config.grow_settings(0))
            yield PlannedPhase(training_name(name), is_training=True)
        yield from _evaluation_phases(config, name)


def next_iteration(name: str, iterations: int) -> int | None:
    """Return the number of the iteration that plays with the model of a phase, counted from 0; None after the last."""
    followed = model_phases(iterations)[:-1]
    return followed.index(name) if name in followed else None


def _evaluation_phases(config: SelfTrainingConfig, name: str) -> Iterator[PlannedPhase]:
    is_followed = next_iteration(name, config.iterations) is not None
    for tasks in config.evaluation.tasks:
        if is_followed and config.is_grown(tasks):
            continue
        yield _episodes_phase(f"{name}: {tasks.name}", config.evaluation_settings(tasks))


def _episodes_phase(name: str, settings: PersonalizeSettings) -> PlannedPhase:
    episodes = len(list_tasks(settings.tasks)) * settings.tasks.repeats
    each = Personalize(settings).expected_seconds
    return PlannedPhase(name, episodes, None if each is None else episodes * each)
