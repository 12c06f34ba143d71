"""Finds the bundled data and configurations in ``housekeep_configs``."""

from __future__ import annotations

import contextlib
import re
from functools import lru_cache
from importlib import resources
from pathlib import Path

from housewise.core.errors import UserError, suggest_names
from housewise.core.files import find_paths
from housewise.core.plugins import SYSTEMS, plugin_names

CONFIGS = Path(str(resources.files("housewise.housekeep_configs"))).resolve()
"""Folder of the bundled data and configurations."""

PAPER = "paper"
"""Name of the configuration of a system's paper."""
_FORMER_CONFIGS = {"run": "personalize", "selftrain": "selftrain"}
"""Former bundled files that held all defaults, with the argument of ``housewise settings`` that prints them."""
_SECTIONS = re.compile(r"^(?:system|run|agent|models):", re.MULTILINE)
"""Sections of settings. Other files in the folder of a system, which are data, have none of them."""


def packaged_configs() -> dict[str, Path]:
    """Return the bundled configurations by name. One of a single system is named ``SYSTEM/NAME``."""
    return {path.stem: path for path in find_paths(CONFIGS, "*.yaml")} | _system_configs()


def find_config(name_or_path: Path, system: str | None = None) -> Path:
    """Return a configuration file: the path if there is such a file, else the bundled file of that name.

    Args:
        name_or_path: A file, the name of a bundled configuration, or, with ``system``, ``NAME`` for ``SYSTEM/NAME``.
        system: System whose configurations are looked up first.

    Raises:
        UserError: If there is neither; the message lists the bundled ones.
    """
    with contextlib.suppress(OSError):
        if name_or_path.exists() and not name_or_path.is_dir():
            return name_or_path
    known, name = packaged_configs(), str(name_or_path).removesuffix(".yaml")
    if name in _FORMER_CONFIGS:
        raise UserError(
            f"{name_or_path}: is no longer a bundled file; `housewise settings {_FORMER_CONFIGS[name]} --yaml` prints "
            "all settings as such a file"
        )
    if (found := known.get(f"{system}/{name}") or known.get(name)) is not None:
        return found
    if others := [each for each in known if each.endswith(f"/{name}")]:
        problem = f"{system} has no such configuration" if system else "name the system, too"
        raise UserError(f"{name_or_path}: {problem}; available: {', '.join(others)}")
    names = [each.removeprefix(f"{system}/") for each in known]
    raise UserError(f"{name_or_path}: no such configuration file, and none of that name; {suggest_names(name, names)}")


def system_of_config(path: Path) -> str | None:
    """Return the name of the system in whose folder a bundled configuration is, or None."""
    return next((name.partition("/")[0] for name, each in _system_configs().items() if each == path), None)


@lru_cache(maxsize=1)
def _system_configs() -> dict[str, Path]:
    """Return the configurations in the folders of systems by ``SYSTEM/NAME``."""
    return {
        f"{system}/{path.stem}": path
        for system in plugin_names(SYSTEMS)
        for path in find_paths(CONFIGS / system, "*.yaml")
        if path.stem == PAPER or _SECTIONS.search(path.read_text(encoding="utf-8"))
    }
