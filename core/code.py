"""Code that settings name: an installed plugin by name, or ``module:Class`` or ``./file.py:Class`` of the user's own.

Here alone is such code imported. What the user typed, or wrote in a file that they named, is followed. What a run's
folder or a record kept may be somebody else's: it is followed only where the user says so.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from pydantic import AfterValidator, ValidationInfo

from housewise.core.errors import UserError, shown
from housewise.core.plugins import import_of, load_plugin, plugins

_CODE = re.compile(r"(?:[A-Za-z_][\w.]*|.+\.py):[A-Za-z_]\w*")


def is_code(name: str) -> bool:
    """Whether a name in settings refers to code, as ``module:Class`` or ``./file.py:Class``, and not to a plugin."""
    return _CODE.fullmatch(name) is not None


class UntrustedCodeError(UserError):
    """Settings that were kept name code, and nobody has said that it may run."""


def _check_trust(name: str, info: ValidationInfo) -> str:
    if is_code(name) and (info.context or {}).get("trust_code") is False:
        raise UntrustedCodeError(
            f"setting {info.field_name} names code, {shown(name)!r}, which would run; look at it, and if you trust it "
            "say trust_code=True, or name it yourself on the command line"
        )
    return name


CodeName = Annotated[str, AfterValidator(_check_trust)]
"""A setting that names a plugin or code.

What the user typed, or wrote in a file that they named, is followed. Settings that a run's folder or a record kept are
validated with the context ``{"trust_code": False}`` unless the user says otherwise, and code that they name is refused.
"""


def load_part(group: str, name: str, what: str) -> Any:
    """A part that settings name: an installed one, or code of the user's own; see is_code.

    Its module is imported and so runs: settings that somebody else may have written are validated with trust_code=False
    before; see CodeName.

    Args:
        group, name, what: see load_plugin.

    Raises:
        UserError: see load_plugin.
    """
    if not is_code(name):
        return load_plugin(group, name, what)
    module, _, attribute = name.rpartition(":")
    remedy = f"name one of {', '.join(plugins(group))}, or MODULE:NAME or ./FILE.py:NAME of your own"
    with import_of(f"{what} {name!r}", module, remedy):
        found = _import_file(Path(module)) if module.endswith(".py") else importlib.import_module(module)
        return getattr(found, attribute)


def _import_file(path: Path) -> ModuleType:
    """Import a file under its own name, from its folder: processes that episodes are played in find it there as well.

    Raises:
        ImportError: when there is none, or another module is called so.
    """
    path = path.expanduser().resolve()
    if not path.is_file():
        raise ImportError("no such file")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    module = importlib.import_module(path.stem)
    if Path(module.__file__ or "").resolve() != path:
        raise ImportError(f"another module is called {path.stem}; rename the file")
    return module
