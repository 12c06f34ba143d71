"""Expands an experiment into its runs and trainings, with what each depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError
from housewise.experiments.experiment_file import Experiment, MemorySource, ModelSource, RunTemplate, TrainingTemplate

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


@dataclass(frozen=True)
class PlannedRun:
    """A run with its levels.

    Attributes:
        name: Name in the experiment.
        cell: Its levels.
        settings: Layers of settings by key; later ones win.
        learns: Whether it leaves a memory.
        is_measured: Whether its episodes are part of the results.
        memory: The run whose memory it starts from, and the number of notes to take.
        memory_function: The function that makes the memory that it starts from.
        model: The training whose model it asks, and the phase.
    """

    name: str
    cell: Cell
    settings: tuple[Mapping[str, Any], ...] = field(hash=False)
    learns: bool
    is_measured: bool
    memory: tuple[PlannedRun, int | None] | None
    memory_function: MemorySource | None = field(hash=False)
    model: tuple[PlannedTraining, str] | None = field(hash=False)

    @property
    def folder(self) -> Path:
        """Folder of the run, relative to that of the experiment."""
        return cell_folder(self.name, self.cell)

    @property
    def label(self) -> str:
        """Name and levels, for the terminal."""
        return ", ".join([self.name, *(level for _, level in self.cell)])


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
            found.setdefault((run.name, run.cell), run)

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
        levels = [experiment.axes[axis][level] for axis, level in cell]
        changes = [template, *(level.runs[name] for level in levels if name in level.runs)]
        if any(each.skip for each in changes) or self._function_of(cell):
            return None
        layers: list[Mapping[str, Any]] = [experiment.settings, template.settings]
        layers += [level.settings for level in levels]
        layers += [each.settings for each in changes[1:]]
        layers += [experiment.quick.settings] if self.quick else []
        memories = [each.memory for each in changes if "memory" in each.model_fields_set]
        models = [each.model for each in changes if "model" in each.model_fields_set]
        memory = memories[-1] if memories else None
        return PlannedRun(
            name,
            cell,
            tuple(layer for layer in layers if layer),
            template.learns,
            name in experiment.measured_runs,
            self._source_run(name, memory, dict(cell)) if memory and memory.run else None,
            memory if memory and memory.function else None,
            self._source_training(models[-1], dict(cell)) if models and models[-1] else None,
        )

    def _source_run(self, name: str, source: MemorySource, levels: Mapping[str, str]) -> tuple[PlannedRun, int | None]:
        assert source.run is not None
        axes = self.experiment.axes_of(self.experiment.runs[source.run])
        run = self._plan(source.run, _select_levels(source, source.run, axes, levels))
        if run is None:
            raise UserError(f"runs.{name}.memory: {source.run} is not played at these levels; name another run")
        return run, source.notes

    def _source_training(self, source: ModelSource, levels: Mapping[str, str]) -> tuple[PlannedTraining, str]:
        template = self.experiment.trainings[source.training]
        axes = self.experiment.axes_of(template)
        cell = _select_levels(source, source.training, axes, levels)
        own = [self.experiment.axes[axis][level].trainings.get(source.training, {}) for axis, level in cell]
        settings = {key: value for layer in (template.settings, *own) for key, value in layer.items()}
        return PlannedTraining(source.training, cell, template, settings), source.phase


def _select_levels(
    source: MemorySource | ModelSource, name: str, axes: tuple[str, ...], levels: Mapping[str, str]
) -> Cell:
    """Return the levels of a run or training that another run depends on."""
    try:
        wanted = {**levels, **{axis: level.format_map(levels) for axis, level in source.at.items()}}
        return tuple((axis, wanted[axis]) for axis in axes)
    except (KeyError, ValueError, IndexError) as error:
        raise UserError(f"{name} depends on axis {error}, which has no level here; give one in 'at'") from error


def cell_folder(name: str, cell: Cell) -> Path:
    """Return the folder of a run or a training, relative to that of the experiment."""
    return Path(name, *(f"{axis}={level}" for axis, level in cell))
