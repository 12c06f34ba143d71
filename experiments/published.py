"""Published values, which stand beside our own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from string import Formatter
from typing import Any

from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import find_paths
from housewise.core.yaml_files import read_yaml
from housewise.experiments.experiment_file import Published

_FOLDER = CONFIGS / "published"


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
    value: Any = _read(published.file)
    for part in published.address.split("/"):
        names = {axis: published.names.get(axis, {}).get(levels[axis], levels[axis]) for axis in keys}
        value = value.get(part.format_map(names)) if isinstance(value, Mapping) else None
    if value is None:
        return None
    # The number of episodes may follow.
    return " ± ".join(map(str, value[:2])) if isinstance(value, list) else str(value)


@lru_cache(maxsize=8)
def _read(name: str) -> Any:
    path = _FOLDER / f"{name}.yaml"
    if not path.is_file():
        known = [each.stem for each in find_paths(_FOLDER, "*.yaml")]
        raise UserError(f"published.file: no {name!r}; {suggest_names(name, known)}")
    return read_yaml(path)
