"""Tables of results: figures from records beside published ones, for the terminal, as files, and as a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.text import Text

from housewise.core.files import write_json, write_text
from housewise.core.plots import new_figure, save_figure
from housewise.core.provenance import provenance
from housewise.core.tables import table
from housewise.rollout.scores import standard_error

MARK = "†"


def nest_by_keys(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Values by tuples of keys as dictionaries within each other, for JSON."""
    found: dict[str, Any] = {}
    for (*outer, last), value in values.items():
        inner = found
        for key in outer:
            inner = inner.setdefault(key, {})
        inner[last] = value
    return found


@dataclass(frozen=True)
class Figure:
    """A mean over episodes.

    Attributes:
        mean: of all episodes.
        error: the mean's standard error, in which the runs of a task count once; see rollout.scores. One task tells
            none.
        episodes: how many there were, None where nobody said.
    """

    mean: float
    error: float | None
    episodes: int | None = None

    @classmethod
    def from_episodes(cls, episodes: Iterable[tuple[Hashable, float]]) -> Figure | None:
        """The figure of some episodes, each with its task; None when there are none."""
        found = list(episodes)
        if not found:
            return None
        values, tasks = [value for _, value in found], [task for task, _ in found]
        error = standard_error(values, tasks) if len(set(tasks)) > 1 else None
        return cls(float(np.mean(values)), error, len(found))

    def __str__(self) -> str:
        return f"{self.mean:.1f}" if self.error is None else f"{self.mean:.1f} ± {self.error:.1f}"


@dataclass(frozen=True)
class Cell:
    """A figure of a table, and what was published for it.

    Attributes:
        row, column: where it stands.
        ours: None while nothing has been played.
        published: None where nothing was.
        marked: whether the model behind it had also learned from something that the published one had not.
        expected: how many episodes there will be, None where nobody said.
    """

    row: str
    column: str
    ours: Figure | None
    published: Figure | None = None
    marked: bool = False
    expected: int | None = None

    @property
    def missing(self) -> bool:
        """Whether not all of its episodes have been played."""
        return self.expected is not None and (self.ours is None or (self.ours.episodes or 0) < self.expected)


@dataclass(frozen=True)
class Results:
    """A table.

    Attributes:
        title: what its figures are, with their unit.
        cells: in the order of rows and columns.
        notes: said below it.
        over: what the standard errors are over.
    """

    title: str
    cells: Sequence[Cell]
    notes: Sequence[str] = ()
    over: str = "tasks"

    @property
    def rows(self) -> list[str]:
        """Names of the rows, in order."""
        return list(dict.fromkeys(cell.row for cell in self.cells))

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return list(dict.fromkeys(cell.column for cell in self.cells))

    @property
    def words(self) -> list[tuple[str, ...]]:
        """Every row in words: its name, then for each column our figure, how many episodes, the published figure."""
        at = {(cell.row, cell.column): cell for cell in self.cells}
        return [
            (self._row_label(row), *(_cell_text(at.get((row, column))) for column in self.columns)) for row in self.rows
        ]

    @property
    def markdown(self) -> str:
        """The table as Markdown, with its title above and its notes below."""
        lines = [("", *self.columns), ("---", *["---:"] * len(self.columns)), *self.words]
        body = "\n".join(f"| {' | '.join(line)} |".replace("\n", "<br>") for line in lines)
        return "\n\n".join([f"**{self.title}**", body, *self._caption]) + "\n"

    @property
    def csv(self) -> str:
        """A line for each cell."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        fields = ("mean", "standard_error", "episodes")
        writer.writerow(("table", "row", "column", *fields, *(f"published_{field}" for field in fields), "marked"))
        for cell in self.cells:
            numbers = [number for figure in (cell.ours, cell.published) for number in _numbers(figure)]
            writer.writerow((self.title, cell.row, cell.column, *numbers, int(cell.marked)))
        return stream.getvalue()

    @property
    def content(self) -> dict[str, Any]:
        """The table for a JSON file."""
        cells = [
            {
                "row": cell.row,
                "column": cell.column,
                "ours": vars(cell.ours) if cell.ours else None,
                "published": vars(cell.published) if cell.published else None,
                "marked": cell.marked,
                "expected": cell.expected,
            }
            for cell in self.cells
        ]
        return {"title": self.title, "cells": cells, "notes": list(self._caption)}

    def show(self, console: Console) -> None:
        """Print the table and its notes, no more columns at a time than a terminal has room for."""
        console.print(table(self.title, ("", *self.columns), self.words))
        console.print(Group(*(Text(note) for note in self._caption)))

    @property
    def _caption(self) -> list[str]:
        marked = any(cell.marked for cell in self.cells)
        given = any(cell.published for cell in self.cells)
        beside = ", the paper's in brackets" if given else ""
        return [
            f"mean over n episodes ± standard error over {self.over}{beside}",
            *self.notes,
            *([f"{MARK} started from an adapter, which had learned from other houses beforehand"] if marked else []),
        ]

    def _row_label(self, row: str) -> str:
        marked = any(cell.marked for cell in self.cells if cell.row == row)
        return f"{row} {MARK}" if marked else row


def write(
    results: Sequence[Results],
    folder: Path,
    name: str,
    more: Mapping[str, Any],
    drawn: Sequence[Results] | None = None,
) -> list[Path]:
    """Leave tables as ``<name>.csv``, ``.md``, ``.json`` and ``.png``.

    Args:
        results: with at least one.
        folder: where the files go.
        name: of the files.
        more: what else the JSON file holds.
        drawn: those of them that are in the picture; all by default.

    Returns:
        The files.

    Raises:
        UserError: when the disk does not take them, or matplotlib is not there to draw the picture.
    """
    heads = results[0].csv.splitlines(keepends=True)[:1]
    lines = [line for each in results for line in each.csv.splitlines(keepends=True)[1:]]
    paths = [folder / f"{name}.{ending}" for ending in ("csv", "md", "json", "png")]
    write_text(paths[0], "".join(heads + lines))
    write_text(paths[1], "\n".join(each.markdown for each in results))
    tables = {"tables": [each.content for each in results]}
    write_json(paths[2], {**tables, **more, **provenance()})
    draw(drawn or results, paths[3])
    return paths


def draw(results: Sequence[Results], path: Path) -> None:
    """A picture with a line of panels for each table: a panel for each column, ours as bars, published as rings."""
    most = max(len(each.columns) for each in results)
    picture = new_figure(1.0 + 2.8 * most, 0.4 + 2.9 * len(results))
    panels = picture.subplots(len(results), most, squeeze=False, sharey="row")
    for each, line in zip(results, panels, strict=True):
        for axes in line[len(each.columns) :]:
            axes.set_axis_off()
        for column, axes in zip(each.columns, line, strict=False):
            _panel(axes, [cell for cell in each.cells if cell.column == column])
            axes.set_title(column, fontsize=9)
        line[0].set_ylabel(each.title, fontsize=8, wrap=True)
    handles: dict[str, Any] = {}
    for axes in panels.flat:
        handles |= zip(*reversed(axes.get_legend_handles_labels()), strict=True)
    if handles:
        panels[0][0].legend(handles.values(), handles.keys(), fontsize=7)
    save_figure(picture, path)


def _cell_text(cell: Cell | None) -> str:
    if cell is None:
        return ""
    of = f" of {cell.expected}" if cell.missing else ""
    lines = [f"{cell.ours}", f"n={cell.ours.episodes}{of}"] if cell.ours else ["–"]
    return "\n".join([*lines, *([f"({cell.published})"] if cell.published else [])])


def _numbers(figure: Figure | None) -> tuple[float | int | str | None, ...]:
    if figure is None:
        return ("", "", "")
    error = "" if figure.error is None else round(figure.error, 3)
    return (round(figure.mean, 3), error, "" if figure.episodes is None else figure.episodes)


def _panel(axes: Any, cells: Sequence[Cell]) -> None:
    names = [f"{cell.row}{MARK if cell.marked else ''}" for cell in cells]
    place = dict(zip((cell.row for cell in cells), range(len(cells)), strict=True))
    theirs = [(place[cell.row], cell.published) for cell in cells if cell.published]
    for missing, label in ((False, "ours"), (True, "ours, unfinished")):
        ours = [(place[cell.row], cell.ours) for cell in cells if cell.ours and cell.missing == missing]
        if ours:
            errors = [figure.error or 0.0 for _, figure in ours]
            means = [figure.mean for _, figure in ours]
            look = {"alpha": 0.4, "hatch": "//"} if missing else {}
            axes.bar([x for x, _ in ours], means, yerr=errors, capsize=3, label=label, color="C0", **look)
    for cell in cells:
        if cell.ours is None:
            look = {"transform": axes.get_xaxis_transform(), "va": "top", "ha": "center", "color": "gray"}
            axes.text(place[cell.row], 0.97, "not played", rotation=90, fontsize=7, **look)
    if theirs:
        means, errors = [figure.mean for _, figure in theirs], [figure.error or 0.0 for _, figure in theirs]
        axes.errorbar([x for x, _ in theirs], means, yerr=errors, fmt="o", mfc="none", color="black", label="paper")
    axes.axhline(0, color="black", linewidth=0.6)
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right", fontsize=7)
    axes.grid(axis="y", alpha=0.3)
