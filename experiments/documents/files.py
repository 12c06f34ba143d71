"""Files of results, read as data: whatever is wrong with one is told in one line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from housewise.core.errors import DataError, UserError
from housewise.core.files import find_paths
from housewise.core.printable_text import excerpt
from housewise.core.text_files import read_json
from housewise.experiments.documents.addresses import Address, find_mean
from housewise.experiments.results_table import ResultsTable, read_table


class FigureFiles:
    """Figures by the file that they are in and where in it they stand.

    An address is ``FILE#POINTER``: a path below the folder, and a JSON pointer (RFC 6901) without escapes, as in
    ``adapt/answers.json#/sets/all unseen/found``. What is in a list goes by its place, or by what only it says:
    ``FILE#/rows/measure=plans,conversations=16/ratio``.

    In a results table of an experiment the levels of axes stand in place of a pointer, as in
    ``personalize/new_houses.csv#adapter=tidy,measure=success_rate``; see ``addresses.Address``.

    Args:
        folder: with the files, ``results`` in the project.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, dict[str, Any]] = {}
        self._tables: dict[str, ResultsTable] = {}

    def read(self, name: str) -> dict[str, Any]:
        """A whole file.

        Args:
            name: of the file, below the folder.

        Raises:
            DataError: it is missing, no JSON object, or does not say what it was made with.
        """
        if name not in self._read:
            self._read[name] = self._load(name)
        return self._read[name]

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

    def has(self, name: str) -> bool:
        """Return whether there is a file of this name."""
        return (self._folder / name).is_file()

    def read_all(self) -> dict[str, ResultsTable]:
        """Read every file there is, and return the results tables of experiments by name.

        Raises:
            UserError: see read and table.
        """
        tables = find_paths(self._folder, "**/*.csv")
        for path in tables:
            self.table(path.relative_to(self._folder).as_posix())
        for path in find_paths(self._folder, "**/*.json"):
            if path.with_suffix(".csv") not in tables:
                self.read(path.relative_to(self._folder).as_posix())
        return self._tables

    def at(self, address: str) -> Any:
        """What stands at an address.

        Raises:
            DataError: nothing does, or the file is damaged.
        """
        name, _, pointer = address.partition("#/")
        found: Any = self.read(name)
        for key in pointer.split("/"):
            try:
                found = found[_place(found, key)] if isinstance(found, list) else found[key]
            except (AttributeError, LookupError, TypeError, ValueError):
                raise self._wrong(name, f"nothing, or more than one, at /{excerpt(pointer)}") from None
        return found

    def keys(self, address: str) -> list[str]:
        """What stands below an address: the names of an object's fields, or the places of a list.

        Raises:
            DataError: neither stands there, or the file is damaged.
        """
        found = self.at(address)
        if not isinstance(found, dict | list):
            name, _, pointer = address.partition("#/")
            raise self._wrong(name, f"no object or list at /{excerpt(pointer)} but {excerpt(found)}")
        return [*found] if isinstance(found, dict) else [*map(str, range(len(found)))]

    def number(self, address: str) -> float:
        """A finite number.

        Raises:
            DataError: none stands there, or the file is damaged.
        """
        if (place := Address.parse(address)) is not None:
            return find_mean(self.table(place.file), place)[0]
        found = self.at(address)
        if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
            name, _, pointer = address.partition("#/")
            raise self._wrong(name, f"no number at /{excerpt(pointer)} but {excerpt(found)}")
        return found

    def with_error(self, address: str) -> tuple[float, float | None]:
        """A mean with its standard error, None where there is none.

        Either stands as ``mean`` and ``error`` below the address, or the error beside the mean, as
        ``success_rate_stderr`` beside ``success_rate``.

        Raises:
            DataError: it is not there, or the file is damaged.
        """
        if (place := Address.parse(address)) is not None:
            return find_mean(self.table(place.file), place)
        if isinstance(self.at(address), dict):
            mean, error = f"{address}/mean", f"{address}/error"
        else:
            mean, error = address, f"{address}_stderr"
        return self.number(mean), None if self.at(error) is None else self.number(error)

    def _load(self, name: str) -> dict[str, Any]:
        try:
            content = read_json(self._folder / name)
        except (UserError, ValueError) as error:
            raise self._wrong(name, f"cannot be read ({excerpt(error)})") from None
        if not isinstance(content, dict):
            raise self._wrong(name, "holds no JSON object")
        if "commit" not in content:
            raise self._wrong(name, "field commit is missing (null where it was not recorded)")
        return content

    def _wrong(self, name: str, what: str) -> DataError:
        path = self._folder / name
        return DataError(f"{path}: {what}; have the command that wrote it write it anew, or change what is taken of it")


def _place(rows: list[Any], key: str) -> int:
    """Where in a list something is; ValueError where it is nowhere, or more than once."""
    if "=" not in key:
        return int(key)
    wanted = dict(pair.split("=", 1) for pair in key.split(","))
    (place,) = (
        number
        for number, row in enumerate(rows)
        if all(str(row.get(field)) == value for field, value in wanted.items())
    )
    return place
