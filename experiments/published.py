"""Published values, which stand beside our own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from string import Formatter
from typing import Any

from pydantic import Field

from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import find_paths
from housewise.core.settings import Settings
from housewise.core.yaml_files import read_yaml

_FOLDER = CONFIGS / "published"


class Published(Settings):
    """Published values that stand beside ours.

    Attributes:
        file: Name of a file in ``housekeep_configs/published``.
        address: Keys of a value in the file, with slashes between them. ``{AXIS}`` stands for a level, ``{measure}``
            for a measure. A value is a number, or mean and standard error, in the units of tables.
        names: What a level or measure is called in the file, by axis.
        beside: Only cells at these levels have a published value, by axis.
    """

    file: str
    address: str
    names: dict[str, dict[str, str]] = Field(default_factory=dict)
    beside: dict[str, str] = Field(default_factory=dict)


def published_value(published: Published, levels: Mapping[str, str]) -> str | None:
    """Return the published value of a cell as text, ``mean ± standard error``; None if there is none.

    Args:
        published: Where it is.
        levels: Level of the cell by axis, and its measure.

    Raises:
        UserError: There is no such file.
    """
    keys = {name for _, name, _, _ in Formatter().parse(published.address) if name}
    if not keys <= levels.keys() or not published.beside.items() <= levels.items():
        return None
    value: Any = read_published(published.file)
    for part in published.address.split("/"):
        names = {axis: published.names.get(axis, {}).get(levels[axis], levels[axis]) for axis in keys}
        value = value.get(part.format_map(names)) if isinstance(value, Mapping) else None
    if value is None:
        return None
    # The number of episodes may follow.
    return " ± ".join(map(str, value[:2])) if isinstance(value, list) else str(value)


@lru_cache(maxsize=8)
def read_published(name: str) -> Any:
    """Return the content of a file of published values.

    Raises:
        UserError: There is no such file.
    """
    path = _FOLDER / f"{name}.yaml"
    if not path.is_file():
        known = [each.stem for each in find_paths(_FOLDER, "*.yaml")]
        raise UserError(f"published.file: no {name!r}; {suggest_names(name, known)}")
    return read_yaml(path)
