"""Tables of results for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod
from rich.table import Table
from rich.text import Text

_GAP = 2
NO_VALUE = frozenset({"", "–"})
"""Contents of a cell without a value."""


@dataclass(frozen=True)
class FittedTable:
    """A table of numbers that adapts to the width of the terminal.

    Names and headings are wrapped between words, numbers never. Columns that do not fit are moved into a further table
    with the same rows and names. Columns without any value are left out.

    Attributes:
        title: Title of the table.
        columns: Names of the columns. The first ones hold names.
        rows: A cell for each column; a cell may have several lines.
        left: Further columns that hold words and are left-aligned.
        names: Number of columns with names.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: Collection[str] = ()
    names: int = 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text | Table]:
        yield Text(self.title, style="table.title")
        for part in self._parts(options.max_width):
            widths = self._widths(part, options.max_width)
            made = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
            for index, width in zip(part, widths, strict=True):
                side: JustifyMethod = "left" if self._words(index) else "right"
                made.add_column(Text(self.columns[index]), justify=side, width=width, overflow="fold")
            for row in self.rows:
                made.add_row(*(Text(row[index]) for index in part))
            yield made

    def _parts(self, width: int) -> list[list[int]]:
        """Return the columns of each table: as many as fit beside the names."""
        names = list(range(self.names))
        parts = [[*names]]
        for index in range(self.names, len(self.columns)):
            if self.rows and not any(row[index] not in NO_VALUE for row in self.rows):
                continue
            if len(parts[-1]) > self.names and self._room([*parts[-1], index], self._least) > width:
                parts.append([*names])
            parts[-1].append(index)
        return parts

    def _widths(self, part: Sequence[int], width: int) -> list[int]:
        """Return the widths of a table's columns; the names get the remaining width if not all fit on one line."""
        if self._room(part, self._most) <= width:
            return [self._most(index) for index in part]
        figures = [self._least(index) for index in part[1:]]
        left = width - sum(figures) - _GAP * len(figures)
        return [max(1, min(self._most(0), left)), *figures]

    def _room(self, part: Sequence[int], measure: Callable[[int], int]) -> int:
        return sum(map(measure, part)) + _GAP * (len(part) - 1)

    def _most(self, index: int) -> int:
        """Return the width at which no cell is wrapped."""
        return max(cell_len(line) for cell in self._cells(index) for line in cell.split("\n"))

    def _least(self, index: int) -> int:
        """Return the width at which only names and headings are wrapped, between words."""
        heading, *cells = self._cells(index)
        pieces = [piece for cell in cells for piece in (cell.split() if self._words(index) else cell.split("\n"))]
        return max(map(cell_len, [*heading.split(), *pieces]), default=1)

    def _words(self, index: int) -> bool:
        return index < self.names or self.columns[index] in self.left

    def _cells(self, index: int) -> list[str]:
        return [self.columns[index], *(row[index] for row in self.rows)]
