"""Which phases a self-training goes through, so that it can be said beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from housewise.selftrain.personalize.memories import DEMONSTRATE, IMITATE, UNTRAINED
from housewise.selftrain.personalize.settings import SelfTrainingConfig
from housewise.systems.personalize.settings import PersonalizeSettings
from housewise.systems.personalize.system import Personalize
from housewise.systems.personalize.tasks import list_tasks


@dataclass(frozen=True)
class Phase:
    """A part of a self-training.

    Attributes:
        name: under which observers hear of it.
        episodes: that are played; 0 where a model is trained.
        seconds: roughly how long they take on two CPU cores; None where nobody knows beforehand.
    """

    name: str
    episodes: int = 0
    seconds: float | None = None


def iteration_name(iteration: int) -> str:
    """Name of an iteration that is counted from 0."""
    return f"iteration-{iteration + 1}"


def outline(config: SelfTrainingConfig, folder: Path) -> list[Phase]:
    """The phases that are left, in order; what was measured already is among them.

    Args:
        config: of the self-training.
        folder: its folder.
    """
    return list(_phases(config, folder))


def _phases(config: SelfTrainingConfig, folder: Path) -> Iterator[Phase]:
    if config.evaluation.untrained:
        yield from _measured(config, UNTRAINED)
    for name in [IMITATE, *map(iteration_name, range(config.iterations))]:
        if not (folder / name / "model.json").exists():
            if name == IMITATE:
                yield _played(DEMONSTRATE, config.playing(config.demonstrations, planner="demonstrator", runs=1))
                if config.lessons:
                    yield Phase("lessons")
            else:
                tried = config.playing(config.training_tasks, runs=config.grow.runs)
                yield _played(f"{name}: grow", tried)
            yield Phase(f"{name}: train")
        yield from _measured(config, name)


def _measured(config: SelfTrainingConfig, name: str) -> Iterator[Phase]:
    for tasks in config.evaluation.tasks:
        yield _played(f"{name}: {tasks.name}", config.measuring(tasks))


def _played(name: str, settings: PersonalizeSettings) -> Phase:
    episodes = len(list_tasks(settings.tasks)) * settings.tasks.runs
    each = Personalize(settings).expected_seconds
    return Phase(name, episodes, None if each is None else episodes * each)
