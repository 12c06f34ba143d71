"""Adds newly measured cells to a table of results, so that an experiment can be recorded part by part."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from housewise.experiments.episode_provenance import EpisodeProvenance
from housewise.experiments.grid import Cell, PlannedRun
from housewise.experiments.results_table import RUN, ResultsHeader, ResultsTable, run_settings
from housewise.experiments.runner import ExperimentRunner
from housewise.rollout.data_frames import import_pandas

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class MergedResults:
    """A table of results with the recorded cells that a folder has not played.

    Attributes:
        table: The table.
        kept: Number of rows that were kept of the recorded table.
        left_out: Number of its rows that were left out because they were measured with other settings or adapters, or
            belong to no cell of the experiment any more.
    """

    table: ResultsTable
    kept: int
    left_out: int


def merge_results(made: ResultsTable, recorded: ResultsTable, whole: ExperimentRunner) -> MergedResults:
    """Add the cells of a recorded table that a folder has not played to what it has.

    A cell that the folder has played, if only in part, replaces the recorded one.

    Args:
        made: What the folder has.
        recorded: The table that is to be written over.
        whole: The whole experiment, with the settings that it would be played with now.

    Raises:
        UserError: The settings of a recorded run need an input that is not given.
    """
    axes = whole.experiment.axes
    old, comparison = recorded.header, _Comparison(recorded.header, whole)
    if list(old.axes) != list(axes) or old.aggregate or old.quick or made.header.quick:
        return MergedResults(made, 0, len(recorded.frame))
    played = set(made.frame[list(axes)].itertuples(index=False, name=None))
    kept, missing, left_out = [], 0, 0
    for (*levels, run), rows in recorded.frame.groupby([*axes, RUN], sort=False):
        cell = tuple(zip(axes, levels, strict=True))
        if tuple(levels) in played:
            continue
        if comparison.is_unchanged(cell, run):
            kept.append(rows)
            missing += comparison.count_missing(cell, run, rows)
        else:
            left_out += len(rows)
    if not kept:
        return MergedResults(made, 0, left_out)
    frame = import_pandas().concat([made.frame, *kept], ignore_index=True)[list(made.frame.columns)]
    ranks = {axis: {level: rank for rank, level in enumerate(levels)} for axis, levels in axes.items()}
    frame = frame.sort_values(
        list(axes), key=lambda column: column.map(ranks[column.name]), kind="stable", ignore_index=True
    )
    header = _merge_headers(made.header, old, whole, frame, missing)
    return MergedResults(ResultsTable(header, frame), sum(map(len, kept)), left_out)


@dataclass(frozen=True)
class _Comparison:
    """What recorded cells were measured with, beside what they would be measured with now."""

    recorded: ResultsHeader
    whole: ExperimentRunner

    @cached_property
    def _planned(self) -> dict[tuple[str, Cell], PlannedRun]:
        return {(planned.name, planned.cell): planned for planned in self.whole.grid.measured_runs}

    def is_unchanged(self, cell: Cell, run: str) -> bool:
        """Return whether a cell would be measured with the same settings and adapters now."""
        if not run:
            return cell in dict(self.whole.grid.function_cells) and self._is_call_unchanged(cell)
        planned = self._planned.get((run, cell))
        return planned is not None and all(self._is_run_unchanged(each) for each in _chain(planned))

    def _is_call_unchanged(self, cell: Cell) -> bool:
        settings = self.whole.function_settings(cell)
        return settings.get("adapter") not in self.recorded.changed_adapters and self._is_recorded(
            ", ".join(dict(cell).values()), settings
        )

    def _is_run_unchanged(self, planned: PlannedRun) -> bool:
        settings = self.whole.settings(planned)
        if settings.models.agent.adapter in self.recorded.changed_adapters:
            return False
        own = run_settings(self.whole, [(planned, settings)])
        return all(self._is_recorded(label, values) for label, values in own.items())

    def _is_recorded(self, label: str, settings: Mapping[str, Any]) -> bool:
        # Earlier tables say nothing of the runs and trainings that the measured runs depend on.
        there = self.recorded.settings.get(label)
        return there is None or there == json.loads(json.dumps(settings))

    def count_missing(self, cell: Cell, run: str, rows: pd.DataFrame) -> int:
        """Return how many episodes a recorded cell lacks."""
        planned = self._planned.get((run, cell))
        if planned is None:
            return 0
        there = self.whole.find_run(planned)
        jobs = [job for job in (*there.finished_jobs, *there.open_jobs) if planned.measures_task(job.task.name)]
        return max(0, len(jobs) - len(rows.drop_duplicates(["task", "repeat"])))


def _chain(planned: PlannedRun) -> Iterator[PlannedRun]:
    """Yield a run and those whose memories it builds on."""
    yield planned
    if planned.memory is not None:
        yield from _chain(planned.memory[0])


def _merge_headers(
    made: ResultsHeader, recorded: ResultsHeader, whole: ExperimentRunner, frame: pd.DataFrame, missing: int
) -> ResultsHeader:
    axes = whole.experiment.axes
    return made.model_copy(
        update={
            "axes": {axis: tuple(level for level in axes[axis] if level in set(frame[axis])) for axis in axes},
            "missing_episodes": made.missing_episodes + missing,
            "settings": {**recorded.settings, **made.settings},
            "adapters": {**recorded.adapters, **made.adapters},
            "episodes": _merge_origins(recorded.episodes, made.episodes),
            "earlier": (*recorded.earlier, recorded.made),
        }
    )


def _merge_origins(first: EpisodeProvenance, second: EpisodeProvenance) -> EpisodeProvenance:
    both = (first, second)
    packages = dict.fromkeys(package for each in both for package in each.software)
    return EpisodeProvenance(
        commits=tuple(dict.fromkeys(commit for each in both for commit in each.commits)),
        changed=first.changed or second.changed,
        first=min(filter(None, (each.first for each in both)), default=""),
        last=max(each.last for each in both),
        software={
            package: tuple(dict.fromkeys(version for each in both for version in each.software.get(package, ())))
            for package in packages
        },
    )
