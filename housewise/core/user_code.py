"""Imports code that settings name: a plugin's name, ``module:Class``, or ``./file.py:Class``.

Only this module imports such code. References that the user typed, or wrote into a file that they named, are imported.
References in the folder of a run or in a record may be somebody else's: they are imported only if the user allows it.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from pydantic import AfterValidator, ValidationInfo

from housewise.core.errors import UserError, suggest_names
from housewise.core.plugins import convert_import_errors, load_plugin, plugin_names
from housewise.core.printable_text import excerpt

_CODE = re.compile(r"(?:[A-Za-z_][\w.]*|.+\.py):[A-Za-z_]\w*")


def is_code_reference(name: str) -> bool:
    """Whether a name in settings refers to code, as ``module:Class`` or ``./file.py:Class``, and not to a plugin."""
    return _CODE.fullmatch(name) is not None


class UntrustedCodeError(UserError):
    """Stored settings refer to code that the user has not allowed to run."""


def _check_trust(name: str, info: ValidationInfo) -> str:
    if is_code_reference(name) and (info.context or {}).get("trust_code") is False:
        raise UntrustedCodeError(
            f"setting {info.field_name} names code, {excerpt(name)!r}, which would run; look at it, and if you trust "
            "it say trust_code=True, or name it yourself on the command line"
        )
    return name


CodeReference = Annotated[str, AfterValidator(_check_trust)]
"""A setting that names a plugin or code.

Settings of a run's folder or of a record are validated with the context ``{"trust_code": False}`` unless the user
allows code; a reference to code is then refused."""


def load_plugin_or_code(group: str, name: str, what: str) -> Any:
    """Import the part that a setting names: a plugin, or code of the user; see ``is_code_reference``.

    Importing runs the module. Validate settings of somebody else with trust_code=False first; see ``CodeReference``.

    Args:
        group: See ``load_plugin``.
        name: Name of the plugin, or reference to code.
        what: See ``load_plugin``.

    Raises:
        UserError: See ``load_plugin``.
    """
    if not is_code_reference(name):
        return load_plugin(group, name, what)
    module, _, attribute = name.rpartition(":")
    label, file = f"{what} {name!r}", referenced_file(name)
    known = f"one of {', '.join(names)}, or " if (names := plugin_names(group)) else ""
    others = f"name {known}MODULE:NAME or ./FILE.py:NAME of your own"
    if file is not None and not file.is_file():
        raise UserError(f"{label}: {module}: no such file; {others}")
    with convert_import_errors(label, module, f"mend it, or {others}"):
        found = _import_module(module) if file is None else _import_file(file)
    try:
        return getattr(found, attribute)
    except AttributeError:
        named = ((each, value) for each, value in vars(found).items() if not each.startswith("_"))
        own = [each for each, value in named if getattr(value, "__module__", None) == found.__name__]
        raise UserError(f"{label}: {module} has no attribute {attribute!r}; {suggest_names(attribute, own)}") from None


def referenced_file(name: str) -> Path | None:
    """Return the file of a reference such as ``./file.py:Class``; None for ``module:Class`` and for plugins."""
    module = name.rpartition(":")[0]
    return Path(module).expanduser().resolve() if is_code_reference(name) and module.endswith(".py") else None


def is_same_code(one: str, other: str) -> bool:
    """Return whether two references are equal, or name the same attribute of the same file."""
    files = referenced_file(one), referenced_file(other)
    same_file = None not in files and files[0] == files[1]
    return one == other or (same_file and one.rpartition(":")[2] == other.rpartition(":")[2])


def _import_module(name: str) -> ModuleType:
    """Import an installed module, or else one in the working directory, as ``python -m`` does."""
    here, first = Path.cwd(), name.partition(".")[0]
    spec = importlib.util.find_spec(first)
    is_here = spec is not None and spec.origin is not None and Path(spec.origin).parent in (here, here / first)
    return _import_from(here, name) if spec is None or is_here else importlib.import_module(name)


def _import_from(folder: Path, module: str) -> ModuleType:
    """Import a module from a folder, and let worker processes find it there too."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    return importlib.import_module(module)


def _import_file(path: Path) -> ModuleType:
    """Import a file under its own name, from its folder.

    Raises:
        ImportError: If another module has that name.
    """
    module = _import_from(path.parent, path.stem)
    if Path(module.__file__ or "").resolve() != path:
        raise ImportError(f"another module is called {path.stem}; rename the file")
    return module
