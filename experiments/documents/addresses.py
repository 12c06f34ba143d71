"""Addresses into results tables of experiments, and the tables that documents show of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from housewise.core.errors import DataError, UserError
from housewise.experiments.catalogue import FOLDER, load_experiment
from housewise.experiments.experiment_file import Experiment, TableLayout
from housewise.experiments.results_table import VALUE, WEIGHT, ResultsTable
from housewise.experiments.statistics import (
    DIFFERENCE,
    ERROR_OVER_EPISODES,
    ERROR_OVER_TASKS,
    MEAN,
    paired_differences,
    summarize,
)
from housewise.experiments.tables import format_differences, format_results

if TYPE_CHECKING:
    import pandas as pd

_MINUS = " - "
_STATISTICS: Mapping[str, Callable[[pd.DataFrame, float], float]] = {
    "sum": lambda frame, scale: scale * float((frame[VALUE] * frame[WEIGHT]).sum()),
    "weight": lambda frame, scale: float(frame[WEIGHT].sum()),
    "max": lambda frame, scale: scale * float(frame[VALUE].max()),
}


@dataclass(frozen=True)
class Address:
    """Rows of a results table: ``FILE.csv#AXIS=LEVEL|LEVEL,...; OPTION=VALUE; ...``.

    Attributes:
        file: Name of the CSV file, below the folder of results.
        levels: Levels of axes, and names of measures by ``measure``.
        options: ``rows`` and ``columns`` of a table (axes with commas between them), ``compare=AXIS=LEVEL`` for a table
            of paired differences, and ``statistic=NAME`` in place of a mean: ``sum`` (of the values, each times its
            weight), ``weight`` (the sum of the weights) or ``max``.
    """

    file: str
    levels: Mapping[str, tuple[str, ...]]
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Address | None:
        """Return what an address says; None if it is not one of a results table.

        Raises:
            DataError: A part has no name.
        """
        where, *options = (part.strip() for part in text.split(";"))
        file, _, selection = where.partition("#")
        if not file.endswith(".csv"):
            return None
        # A level may hold a comma, but a comma before NAME= ends it.
        parts = re.split(r",(?=[^,=]+=)", selection) if selection else []
        levels = {name: tuple(level.split("|")) for name, level in (_split(part, text) for part in parts)}
        return cls(file, levels, dict(_split(option, text) for option in options))


def find_mean(table: ResultsTable, address: Address) -> tuple[float, float | None]:
    """Return a mean and its standard error, in the units of tables.

    The error is that over tasks, or over episodes if the experiment's file says so. The level ``A - B`` of an axis
    means by how much A is more than B, episode by episode.

    Raises:
        DataError: The address selects nothing, or several measures.
    """
    with _naming_file(address.file):
        pairs = {axis: each[0].split(_MINUS) for axis, each in address.levels.items() if len(each) == 1}
        compared = {
            axis: pair
            for axis, pair in pairs.items()
            if len(pair) == 2 and axis in table.header.axes and set(pair) <= set(table.header.axes[axis])
        }
        chosen = table.select({**address.levels, **{axis: tuple(pair) for axis, pair in compared.items()}})
        if len(chosen.header.measures) != 1:
            raise DataError(f"name one measure: {', '.join(chosen.header.measures)}")
        (unit,) = chosen.header.measures.values()
        if (statistic := address.options.get("statistic")) is not None:
            if statistic not in _STATISTICS:
                raise DataError(f"no statistic {statistic!r}; available: {', '.join(_STATISTICS)}")
            return _STATISTICS[statistic](chosen.frame, unit.scale), None
        if compared:
            ((axis, (_, base)),) = compared.items()
            found, column = paired_differences(chosen.frame, axis, base), DIFFERENCE
        else:
            found, column = summarize(chosen.frame, []), MEAN
        if found.empty:
            raise DataError("no episodes to compare")
        line = found.iloc[0]
        spec = None if compared or table.header.aggregate else _find_spec(address.file)
        error = line[ERROR_OVER_EPISODES if spec and spec.table.errors == "episodes" else ERROR_OVER_TASKS]
        return unit.scale * line[column], None if error is None or error != error else unit.scale * error


def draw_table(table: ResultsTable, address: Address) -> str:
    """Return a table in Markdown, laid out as the experiment's file or the address says.

    Raises:
        DataError: The address selects nothing.
    """
    with _naming_file(address.file):
        chosen, spec = table.select(address.levels), _find_spec(address.file)
        layout = spec.table if spec else TableLayout()
        axes = {key: tuple(address.options[key].split(",")) for key in ("rows", "columns") if key in address.options}
        for axis in (axis for each in axes.values() for axis in each if axis != "measure"):
            if axis not in chosen.header.axes:
                raise DataError(f"no axis {axis!r}; available: {', '.join(chosen.header.axes)}")
        layout = layout.model_copy(update=axes)
        if "compare" not in address.options:
            return format_results(chosen, spec, layout).markdown_body
        axis, base = _split(address.options["compare"], address.file)
        for each in format_differences(chosen, layout, {axis: [base]}):
            return each.markdown_body
        raise DataError(f"no episodes to compare with {axis}={base}")


@cache
def _find_spec(file: str) -> Experiment | None:
    """Return the bundled experiment of a results table. A document has many figures of each table."""
    path = (FOLDER / file).with_suffix(".yaml")
    return load_experiment(path) if path.is_file() else None


def _split(part: str, where: str) -> tuple[str, str]:
    name, sign, value = part.partition("=")
    if not sign:
        raise DataError(f"{where}: {part!r} is not NAME=VALUE")
    return name.strip(), value.strip()


@contextmanager
def _naming_file(file: str) -> Iterator[None]:
    """Put the name of the results table before the message of an error."""
    try:
        yield
    except UserError as error:
        raise type(error)(f"{file}: {error}") from error
