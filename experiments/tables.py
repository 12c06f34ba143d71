"""Tables of results for the terminal and for Markdown: rows and columns are axes, cells are means ± standard errors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from housewise.core.formatting import plural
from housewise.core.tables import FittedTable
from housewise.experiments.experiment_file import MEASURE, SEED, Experiment, TableLayout
from housewise.experiments.published import published_value
from housewise.experiments.results_table import MeasureUnit, ResultsHeader, ResultsTable
from housewise.experiments.statistics import (
    DIFFERENCE,
    EPISODES,
    ERROR_OVER_EPISODES,
    ERROR_OVER_TASKS,
    HIGH,
    HIGH_OVER_EPISODES,
    LOW,
    LOW_OVER_EPISODES,
    MEAN,
    TASKS,
    paired_differences,
    summarize,
)

if TYPE_CHECKING:
    import pandas as pd

NONE = "–"
_ERRORS = {ERROR_OVER_EPISODES: "episodes", ERROR_OVER_TASKS: "tasks"}
"""What standard errors are over, by column, in the order of a cell that shows both."""

_INTERVALS = {
    "tasks": (ERROR_OVER_TASKS, LOW, HIGH),
    "episodes": (ERROR_OVER_EPISODES, LOW_OVER_EPISODES, HIGH_OVER_EPISODES),
}
"""Columns of the error and the ends of the interval of a difference, by what they are over."""


@dataclass(frozen=True)
class FormattedTable(FittedTable):
    """A table for a terminal and for Markdown; the first columns are those of the row axes.

    Attributes:
        notes: Notes below.
    """

    notes: Sequence[str] = ()

    @property
    def markdown(self) -> str:
        """Title, table and notes in Markdown."""
        return "\n\n".join([f"**{self.title}**", self.markdown_body, *self.notes]) + "\n"

    @property
    def markdown_body(self) -> str:
        """The table alone in Markdown."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return "\n".join(f"| {' | '.join(_escape(cell) for cell in line)} |" for line in lines)


def format_results(
    results: ResultsTable, experiment: Experiment | None = None, layout: TableLayout | None = None
) -> FormattedTable:
    """Format the means of a results table.

    Args:
        results: The results.
        experiment: Says rows, columns, notes and what was published. Without it, rows are all axes but ``seed``, and
            columns are the measures.
        layout: Rows and columns in place of those of the experiment.
    """
    header = results.header
    layout = layout or (experiment.table if experiment else TableLayout())
    rows, columns = _complete_layout(header, layout)
    axes = (*rows, *columns)
    published = experiment.published if experiment else None
    over = experiment.table.errors if experiment else "tasks"
    cells: dict[tuple[str, ...], str] = {}
    has_published = False
    totals = {} if layout.total is None else dict.fromkeys(rows, layout.total)
    lines = _summary_lines(results, axes) + (_summary_lines(results, columns) if totals else [])
    for line in lines:
        levels = {axis: str(line[axis]) if axis in line else totals[axis] for axis in axes}
        theirs = published_value(published, levels) if published else None
        has_published |= theirs is not None
        mean = _format_mean(line, header.measures[levels[MEASURE]], over)
        cells[tuple(levels.values())] = f"{mean} [{theirs}]" if theirs else mean
    row_keys = list(_present_keys(header, rows, [key[: len(rows)] for key in cells]))
    column_keys = list(_present_keys(header, columns, [key[len(rows) :] for key in cells]))
    headed = [(_join_levels(header, rows, row), row) for row in row_keys]
    headed += [(layout.total, tuple(totals.values()))] if layout.total is not None else []
    body = [[heading, *(cells.get((*row, *column), NONE) for column in column_keys)] for heading, row in headed]
    headings = [_join_levels(header, columns, key) for key in column_keys]
    notes = [*(experiment.notes if experiment else ()), *map(describe_change, header.changed_adapters)]
    notes += ["These results are of a small part (--quick)."] if header.quick else []
    beside = ["Published values are in brackets; they are of other models and data."] if has_published else []
    notes = [_describe(results, over), *beside, *notes]
    return FormattedTable(header.title, ["", *headings], body, notes=notes)


def _summary_lines(results: ResultsTable, axes: Sequence[str]) -> list[dict[Any, Any]]:
    means = summarize(results.frame, [axis for axis in axes if axis != MEASURE])
    lines: list[dict[Any, Any]] = means.to_dict("records")
    return lines


def describe_change(adapter: str) -> str:
    """Return a note on results whose adapter has been replaced since."""
    return f"These results are of an adapter {adapter} that has been replaced since; measure them again."


def format_differences(
    results: ResultsTable, layout: TableLayout, compare: Mapping[str, Sequence[str]]
) -> Iterator[FormattedTable]:
    """Format by how much the levels of axes differ from one of them, episode by episode. Without pairs, yield nothing.

    Args:
        results: The results.
        layout: Axes whose levels are compared separately, and what errors and intervals are over: episodes if it says
            so, else tasks.
        compare: Levels that the others are compared with, by axis.
    """
    units, over = results.header.measures, "episodes" if layout.errors == "episodes" else "tasks"
    for axis, base in ((axis, base) for axis, bases in compare.items() for base in bases):
        by = [name for name in (*layout.rows, *layout.columns) if name not in (axis, MEASURE)]
        found = paired_differences(results.frame, axis, base, by)
        if found.empty:
            continue
        rows = [
            [
                _join_levels(results.header, (axis, *by), [str(line[name]) for name in (axis, *by)]),
                *([units[line[MEASURE]].label] if len(units) > 1 else []),
                *_format_difference(line, units[line[MEASURE]], over),
            ]
            for _, line in found.iterrows()
        ]
        what = ["", MEASURE] if len(units) > 1 else [next(iter(units.values())).label]
        columns = [*what, f"more than {base}", f"95 % interval over {over}", "episodes", "tasks"]
        yield FormattedTable(f"{results.header.title}: paired differences", columns, rows, names=len(what))


def _complete_layout(header: ResultsHeader, layout: TableLayout) -> tuple[tuple[str, ...], tuple[str, ...]]:
    columns = layout.columns or (() if MEASURE in layout.rows else (MEASURE,))
    rows = layout.rows or tuple(axis for axis in header.axes if axis not in (SEED, *columns))
    return (rows, columns) if MEASURE in (*rows, *columns) else (rows, (*columns, MEASURE))


def _present_keys(
    header: ResultsHeader, axes: Sequence[str], there: Collection[tuple[str, ...]]
) -> Iterator[tuple[str, ...]]:
    """Yield the combinations of levels that have a cell, in the order of the experiment."""
    levels = [tuple(header.measures) if axis == MEASURE else header.axes[axis] for axis in axes]
    yield from (key for key in product(*levels) if key in there)


def _join_levels(header: ResultsHeader, axes: Sequence[str], key: Sequence[str]) -> str:
    """Return levels as one text, without those that are the only one of their axis."""
    levels = [
        header.measures[level].label if axis == MEASURE else level
        for axis, level in zip(axes, key, strict=True)
        if len(header.measures if axis == MEASURE else header.axes[axis]) > 1
    ]
    return ", ".join(levels) or (header.measures[key[-1]].label if axes[-1:] == (MEASURE,) else ", ".join(key))


def _format_mean(line: Mapping[Any, Any], unit: MeasureUnit, over: str) -> str:
    mean = line[MEAN]
    if mean != mean:
        return NONE
    # Aggregates have one error, which is kept as that over tasks.
    over = "tasks" if line[TASKS] == 0 else over
    errors = [line[key] for key, kind in _ERRORS.items() if over in (kind, "both")]
    shown = [f"± {unit.scale * error:.{unit.decimals}f}" for error in errors if error is not None and error == error]
    return " ".join([f"{unit.scale * mean:.{unit.decimals}f}", *shown[:1], *(f"({error})" for error in shown[1:])])


def _format_difference(line: pd.Series, unit: MeasureUnit, over: str) -> list[str]:
    def show(value: float, sign: str = "+") -> str:
        return f"{unit.scale * value:{sign}.{unit.decimals}f}"

    error, low, high = (line[column] for column in _INTERVALS[over])
    mean = show(line[DIFFERENCE]) + ("" if error is None or error != error else f" ± {show(error, '')}")
    # Episodes of one task have no interval over tasks.
    interval = NONE if low is None or low != low else f"{show(low)} to {show(high)}"
    return [mean, interval, str(line[EPISODES]), str(line[TASKS])]


def _describe(results: ResultsTable, over: str) -> str:
    header, frame = results.header, results.frame
    if header.aggregate:
        over = "tasks" if over == "both" else over
        return f"Means ± standard errors over {over}. Single episodes were not kept."
    over = "episodes (in parentheses: over tasks)" if over == "both" else over
    frame = frame[frame["task"] != ""]
    episodes = frame.drop_duplicates([*header.axes, "run", "task", "repeat"])
    verb = "is" if header.missing_episodes == 1 else "are"
    missing = f"; {header.missing_episodes} {verb} missing" if header.missing_episodes else ""
    counts = f"{plural(len(episodes), 'episode')} of {plural(frame['task'].nunique(), 'task')}"
    return f"Means ± standard errors over {over}; {counts}{missing}."


def _escape(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
