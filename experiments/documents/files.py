"""Results tables by their files."""

from __future__ import annotations

from pathlib import Path

from housewise.core.errors import DataError
from housewise.core.files import find_paths
from housewise.core.printable_text import excerpt
from housewise.experiments.documents.addresses import Address, find_mean
from housewise.experiments.results_table import ResultsTable, read_table


class FigureFiles:
    """The results tables of a folder, each of which is read once.

    Args:
        folder: The folder, ``results`` in the project.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tables: dict[str, ResultsTable] = {}

    def table(self, name: str) -> ResultsTable:
        """Return the results table of an experiment.

        Args:
            name: Its CSV file, below the folder.

        Raises:
            UserError: It is missing or damaged.
        """
        if name not in self._tables:
            self._tables[name] = read_table(self._folder / name)
        return self._tables[name]

    def read_all(self) -> dict[str, ResultsTable]:
        """Read all tables, and return them by name.

        Raises:
            UserError: One is damaged.
        """
        names = [path.relative_to(self._folder).as_posix() for path in find_paths(self._folder, "**/*.csv")]
        return {name: self.table(name) for name in names}

    def mean(self, address: str) -> tuple[float, float | None]:
        """Return the mean at an address (see ``addresses.Address``), with its standard error if it has one.

        Raises:
            UserError: It is not there, or the file is damaged.
        """
        place = Address.parse(address)
        if place is None:
            raise DataError(f"{excerpt(address)}: names no results table; write FILE.csv#AXIS=LEVEL,measure=NAME")
        return find_mean(self.table(place.file), place)
