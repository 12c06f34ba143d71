"""Expands an experiment into its runs and trainings, with what each depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from housewise.core.errors import UserError
from housewise.experiments.experiment_file import Experiment, RunChanges, RunTemplate, TrainingTemplate
from housewise.experiments.run_sources import MemorySource, ModelSource

AnySource = TypeVar("AnySource", MemorySource, ModelSource)

Cell = tuple[tuple[str, str], ...]
"""Axis and level, in the order of the file."""


@dataclass(frozen=True)
class PlannedTraining:
    """A training with its levels.

    Attributes:
        name: Name in the experiment.
        cell: Its levels.
        template: As the experiment's file says.
        settings: Settings by key, those of the levels included.
    """

    name: str
    cell: Cell
    template: TrainingTemplate
    settings: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """Folder of the training, relative to that of the experiment."""
        return cell_folder(self.name, self.cell)

    @property
    def label(self) -> str:
        """Name and levels."""
        return cell_label(self.cell, self.name)


@dataclass(frozen=True)
class PlannedRun:
    """A run with its levels.

    Attributes:
        name: Name in the experiment.
        cell: Its levels.
        played: Those of its levels that make a difference. Runs that share them are played once.
        settings: Layers of settings by key; later ones win.
        learns: Whether it leaves a memory.
        memory: The run whose memory it starts from, and the number of notes to take.
        memory_function: The function that makes the memory that it starts from.
        model: The training whose model it asks, and the phase.
        episodes: Folder of the training with the episodes that are measured, where the run is not played.
        task_patterns: Patterns that the name of a task has to fit for its episodes to be measured.
    """

    name: str
    cell: Cell
    played: Cell
    settings: tuple[Mapping[str, Any], ...] = field(hash=False)
    learns: bool
    memory: tuple[PlannedRun, int | None] | None
    memory_function: MemorySource | None = field(hash=False)
    model: tuple[PlannedTraining, str] | None = field(hash=False)
    episodes: Path | None = None
    task_patterns: tuple[str, ...] = ()

    def measures_task(self, name: str) -> bool:
        """Return whether the episodes of a task are measured."""
        return all(fnmatchcase(name, pattern) for pattern in self.task_patterns)

    @property
    def has_memory(self) -> bool:
        """Whether it starts from the memory of another run, or from one that a function makes."""
        return self.memory is not None or self.memory_function is not None

    @property
    def folder(self) -> Path:
        """Folder of the run, relative to that of the experiment."""
        if self.episodes is not None and self.model is not None:
            return self.model[0].folder / self.episodes
        return cell_folder(self.name, self.played)

    @property
    def label(self) -> str:
        """Name and levels, for the terminal."""
        return cell_label(self.played, self.name)


@dataclass(frozen=True)
class Grid:
    """All runs of an experiment."""

    experiment: Experiment
    quick: bool = False

    @cached_property
    def measured_runs(self) -> list[PlannedRun]:
        """Runs whose episodes are part of the results."""
        return [
            run
            for name in self.experiment.measured_runs
            for cell in self.cells(self.experiment.runs[name])
            if (run := self._plan(name, cell)) is not None
        ]

    @cached_property
    def runs(self) -> list[PlannedRun]:
        """All runs that the measured ones need, each after those that it depends on."""
        found: dict[tuple[str, Cell], PlannedRun] = {}

        def add(run: PlannedRun) -> None:
            if run.memory is not None:
                add(run.memory[0])
            found.setdefault((run.name, run.played), run)

        for run in self.measured_runs:
            add(run)
        return list(found.values())

    @cached_property
    def function_cells(self) -> list[tuple[Cell, str]]:
        """Combinations of levels that a function measures in place of runs, with the function."""
        cells = self.cells(RunTemplate())
        return [(cell, function) for cell in cells if (function := self._function_of(cell)) is not None]

    def _function_of(self, cell: Cell) -> str | None:
        functions = [self.experiment.axes[axis][level].function for axis, level in cell]
        return next(filter(None, functions), self.experiment.function)

    def cells(self, template: RunTemplate) -> Iterator[Cell]:
        """Yield the combinations of levels of a run's axes that the experiment includes and does not exclude."""
        experiment = self.experiment
        axes = experiment.axes_of(template)
        for levels in product(*(experiment.axes[axis] for axis in axes)):
            cell = dict(zip(axes, levels, strict=True))
            included = [each for each in experiment.include or () if each.keys() <= cell.keys()]
            if included and not any(each.items() <= cell.items() for each in included):
                continue
            if not any(each.items() <= cell.items() for each in experiment.exclude):
                yield tuple(cell.items())

    def _plan(self, name: str, cell: Cell) -> PlannedRun | None:
        """Return a run with its levels; None if a level leaves it out."""
        experiment, template = self.experiment, self.experiment.runs[name]
        named = [template.axes, *(change.axes for change in _changes(experiment, name, cell))]
        axes = [each for each in named if each is not None][-1:] or [tuple(experiment.axes)]
        patterns = {pair: experiment.axes[pair[0]][pair[1]].task_pattern for pair in cell}
        played = tuple(
            pair
            for pair in cell
            if pair[0] in axes[0] and patterns[pair] is None and self._makes_difference(name, pair, cell)
        )
        changes = [template, *_changes(experiment, name, played)]
        if any(each.skip for each in changes) or self._function_of(cell):
            return None
        layers: list[Mapping[str, Any]] = [experiment.settings, template.settings]
        layers += [experiment.axes[axis][level].settings for axis, level in played]
        layers += [each.settings for each in changes[1:]]
        layers += [experiment.quick.settings] if self.quick else []
        memory = _merge_sources([each.memory for each in changes if "memory" in each.model_fields_set])
        model = _merge_sources([each.model for each in changes if "model" in each.model_fields_set])
        episodes = model.episodes if model else None
        return PlannedRun(
            name,
            cell,
            played,
            tuple(layer for layer in layers if layer),
            template.learns,
            self._source_run(name, memory, dict(cell)) if memory and not memory.function else None,
            memory if memory and memory.function else None,
            self._source_training(name, model, dict(cell)) if model else None,
            episodes.folder if episodes and episodes.at.items() <= dict(cell).items() else None,
            tuple(pattern for pattern in patterns.values() if pattern is not None),
        )

    def _makes_difference(self, run: str, pair: tuple[str, str], cell: Cell) -> bool:
        """Return whether a level of a cell changes a run; see ``RunChanges.unchanged_at``."""
        axis, level = pair
        changes = self.experiment.axes[axis][level].runs.get(run)
        return changes is None or not changes.unchanged_at or not changes.unchanged_at.items() <= dict(cell).items()

    def _source_run(self, name: str, source: MemorySource, levels: Mapping[str, str]) -> tuple[PlannedRun, int | None]:
        if source.run is None:
            raise UserError(f"runs.{name}.memory: names no run at {', '.join(levels.values())}")
        axes = self.experiment.axes_of(self.experiment.runs[source.run])
        run = self._plan(source.run, self._select_levels(source, source.run, axes, levels))
        if run is None:
            raise UserError(f"runs.{name}.memory: {source.run} is not played at these levels; name another run")
        return run, source.notes

    def _source_training(
        self, name: str, source: ModelSource, levels: Mapping[str, str]
    ) -> tuple[PlannedTraining, str]:
        if source.training is None or source.phase is None:
            raise UserError(f"runs.{name}.model: needs a training and a phase at {', '.join(levels.values())}")
        template = self.experiment.trainings[source.training]
        axes = self.experiment.axes_of(template)
        cell = self._select_levels(source, source.training, axes, levels)
        own = [self.experiment.axes[axis][level].trainings.get(source.training, {}) for axis, level in cell]
        settings = {key: value for layer in (template.settings, *own) for key, value in layer.items()}
        return PlannedTraining(source.training, cell, template, settings), source.phase

    def _select_levels(
        self, source: MemorySource | ModelSource, name: str, axes: tuple[str, ...], levels: Mapping[str, str]
    ) -> Cell:
        """Return the levels of a run or training that another run depends on."""
        try:
            wanted = {**levels, **{axis: _source_level(axis, level, levels) for axis, level in source.at.items()}}
            cell = tuple((axis, wanted[axis]) for axis in axes)
        except (KeyError, ValueError, IndexError) as error:
            raise UserError(f"{name} depends on axis {error}, which has no level here; give one in 'at'") from error
        for axis, level in cell:
            if level not in (known := self.experiment.axes[axis]):
                left = ", ".join(known)
                raise UserError(
                    f"{name} is needed at {axis}={level}, and only {left} is played; give --only {axis}={level},{left}"
                )
        return cell


def _changes(experiment: Experiment, run: str, cell: Cell) -> list[RunChanges]:
    """Return what the levels of a cell change about a run."""
    levels = [experiment.axes[axis][level] for axis, level in cell]
    return [level.runs[run] for level in levels if run in level.runs]


def _merge_sources(sources: Sequence[AnySource | None]) -> AnySource | None:
    """Return one source of those that templates and levels give; each adds to the earlier ones, None ends them."""
    found: AnySource | None = None
    for source in sources:
        if source is None or found is None:
            found = source
        else:
            found = found.model_copy(update={name: getattr(source, name) for name in source.model_fields_set})
    return found


def _source_level(axis: str, level: str | Mapping[str, str], levels: Mapping[str, str]) -> str:
    return level.format_map(levels) if isinstance(level, str) else level[levels[axis]]


def memory_chain(planned: PlannedRun | None) -> Iterator[PlannedRun]:
    """Yield a run and those whose memories it builds on."""
    while planned is not None:
        yield planned
        planned = planned.memory[0] if planned.memory else None


def cell_folder(name: str, cell: Cell) -> Path:
    """Return the folder of a run or a training, relative to that of the experiment."""
    return Path(name, *(f"{axis}={level}" for axis, level in cell))


def cell_label(cell: Cell, *before: str) -> str:
    """Return the levels of a cell as words, after others. The settings of calls are recorded by those of their cell."""
    return ", ".join([*before, *(level for _, level in cell)])
