"""Functions that an experiment's file names."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from housewise.core.errors import UserError
from housewise.rollout.saved_settings import check_user_files, copy_user_files


def load_function(reference: str | None, where: str) -> Callable[..., Any]:
    """Return a function of an experiment's file, which is trusted as a program of its author is.

    Args:
        reference: ``module:function``.
        where: Its field, for the error.

    Raises:
        UserError: There is no such function.
    """
    module, _, name = (reference or "").partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UserError(f"{where}: no function {reference} ({error}); write module:function") from error
    if not callable(found):
        raise UserError(f"{where}: {reference} is not a function; write module:function")
    return cast(Callable[..., Any], found)


def copy_function_file(reference: str | None, folder: Path) -> None:
    """Copy the file of a user's function to the folder of what it makes."""
    copy_user_files(_user_files(reference), folder, anew=True)


def check_function_file(reference: str | None, folder: Path) -> None:
    """Compare the file of a user's function with the copy in the folder of what it has made, if there is one.

    Raises:
        UserError: It has changed since.
    """
    check_user_files(_user_files(reference), folder)


def _user_files(reference: str | None) -> dict[str, Path]:
    """Return the file of a function by the name of its copy; none for bundled functions, whose commit is recorded."""
    module = (reference or "").partition(":")[0]
    file = None if module.partition(".")[0] == "housewise" else importlib.import_module(module).__file__
    return {} if file is None else {"function": Path(file)}


def check_arguments(reference: str, settings: Mapping[str, Any]) -> None:
    """Check that a function accepts the settings of its experiment as arguments.

    Raises:
        UserError: It does not, or there is no such function.
    """
    function = load_function(reference, "function")
    try:
        inspect.signature(function).bind(**settings)
    except TypeError as error:
        raise UserError(f"function {reference}: does not fit the settings, its arguments ({error})") from error
