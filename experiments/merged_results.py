"""Adds newly measured cells to a table of results, so that an experiment can be recorded part by part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from housewise.core.settings import flatten_settings, merge_nested
from housewise.experiments.episode_provenance import EpisodeProvenance, MeasurementOrigin, combine_origins
from housewise.experiments.grid import Cell, PlannedRun, cell_label, memory_chain
from housewise.experiments.results_table import (
    MEASURE,
    RUN,
    ResultsHeader,
    ResultsTable,
    default_settings,
    run_settings,
)
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
        left_out: Number of its rows that were left out, because they were measured with other settings or adapters or
            the table does not say with which, or because they belong to no cell of the experiment any more.
        removed_measures: Number of its rows that were left out, because the experiment no longer has their measure.
    """

    table: ResultsTable
    kept: int
    left_out: int
    removed_measures: int = 0


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
    settings: dict[str, Any] = {}
    kept, missing, left_out, removed = [], 0, 0, 0
    for (*levels, run), rows in recorded.frame.groupby([*axes, RUN], sort=False):
        cell = tuple(zip(axes, levels, strict=True))
        if tuple(levels) in played:
            continue
        unchanged = comparison.unchanged_settings(cell, run)
        if unchanged is None:
            left_out += len(rows)
            continue
        known = rows[rows[MEASURE].isin(list(made.header.measures))]
        removed += len(rows) - len(known)
        if known.empty:
            continue
        kept.append(known)
        settings |= unchanged
        missing += comparison.count_missing(cell, run, rows)
    if not kept:
        return MergedResults(made, 0, left_out, removed)
    frame = import_pandas().concat([made.frame, *kept], ignore_index=True)[list(made.frame.columns)]
    ranks = {axis: {level: rank for rank, level in enumerate(levels)} for axis, levels in axes.items()}
    frame = frame.sort_values(
        list(axes), key=lambda column: column.map(ranks[column.name]), kind="stable", ignore_index=True
    )
    header = _merge_headers(made.header, old, whole, frame).model_copy(
        update={
            "missing_episodes": made.header.missing_episodes + missing,
            "defaults": made.header.defaults or comparison.defaults,
            "settings": {**settings, **made.header.settings},
        }
    )
    return MergedResults(ResultsTable(header, frame), sum(map(len, kept)), left_out, removed)


@dataclass(frozen=True)
class _Comparison:
    """What recorded cells were measured with, beside what they would be measured with now."""

    recorded: ResultsHeader
    whole: ExperimentRunner

    @cached_property
    def _planned(self) -> dict[tuple[str, Cell], PlannedRun]:
        return {(planned.name, planned.cell): planned for planned in self.whole.grid.measured_runs}

    def unchanged_settings(self, cell: Cell, run: str) -> dict[str, Any] | None:
        """Return the settings of a cell by label; None if it would be measured with others now."""
        if not run:
            return self._settings_of_call(cell) if cell in dict(self.whole.grid.function_cells) else None
        planned = self._planned.get((run, cell))
        found: dict[str, Any] = {}
        for each in memory_chain(planned):
            own = self._settings_of_run(each)
            if own is None:
                return None
            found |= own
        return found or None

    def _settings_of_call(self, cell: Cell) -> dict[str, Any] | None:
        label, settings = cell_label(cell), self.whole.function_settings(cell)
        is_same = self.recorded.settings.get(label) == _as_json(settings)
        return {label: settings} if is_same and settings.get("adapter") not in self.recorded.changed_adapters else None

    def _settings_of_run(self, planned: PlannedRun) -> dict[str, Any] | None:
        settings = self.whole.settings(planned)
        own, there = run_settings(self.whole, [(planned, settings)], self.defaults), self.recorded.settings
        # Earlier tables do not say what the defaults were, and nothing of the runs that the measured ones build on.
        if not self.recorded.defaults or not own.keys() <= there.keys():
            return None
        if settings.models.agent.adapter in self.recorded.changed_adapters:
            return None
        for label, now in own.items():
            # Those of trainings are whole.
            is_run = label == planned.label
            then_base, base = (self.recorded.defaults, self.defaults) if is_run else ({}, now)
            compared = [merge_nested(then_base, there[label]), merge_nested(base, now), then_base, base]
            if is_run and not self.recorded.defaults.get("memory"):
                # Earlier tables do not say which memory a run had. Their rows are not lost for it.
                compared = [{key: value for key, value in each.items() if key != "memory"} for each in compared]
            if not _are_equal(*compared):
                return None
        return own

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Defaults of the system."""
        return default_settings(self.whole.experiment.system)

    def count_missing(self, cell: Cell, run: str, rows: pd.DataFrame) -> int:
        """Return how many episodes a recorded cell lacks."""
        planned = self._planned.get((run, cell))
        if planned is None:
            return 0
        there = self.whole.find_run(planned)
        jobs = [job for job in (*there.finished_jobs, *there.open_jobs) if planned.measures_task(job.task.name)]
        return max(0, len(jobs) - len(rows.drop_duplicates(["task", "repeat"])))


def _as_json(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as a table keeps them."""
    found: dict[str, Any] = json.loads(json.dumps(settings))
    return found


def _are_equal(
    then: Mapping[str, Any], now: Mapping[str, Any], defaults_then: Mapping[str, Any], defaults_now: Mapping[str, Any]
) -> bool:
    """Return whether settings are equal. One that there was only then, or is only now, has to have its default."""
    old, new = flatten_settings(_as_json(then)), flatten_settings(_as_json(now))
    old_base, new_base = flatten_settings(_as_json(defaults_then)), flatten_settings(_as_json(defaults_now))
    return all(old.get(key, new_base.get(key)) == new.get(key, old_base.get(key)) for key in {**old, **new})


def _merge_headers(
    made: ResultsHeader, recorded: ResultsHeader, whole: ExperimentRunner, frame: pd.DataFrame
) -> ResultsHeader:
    axes = whole.experiment.axes
    return made.model_copy(
        update={
            "axes": {axis: tuple(level for level in axes[axis] if level in set(frame[axis])) for axis in axes},
            "adapters": {**recorded.adapters, **made.adapters},
            "episodes": _merge_origins(_known_origins(recorded), made.episodes),
            "earlier": (*recorded.earlier, recorded.made),
        }
    )


def _known_origins(header: ResultsHeader) -> EpisodeProvenance:
    """Return what the episodes of a table were measured with. Earlier tables only say with what they were written."""
    made = MeasurementOrigin.of_call(header.made)
    return header.episodes if header.episodes.commits else combine_origins([made])


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
