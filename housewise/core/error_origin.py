"""Finds where in the user's code, or in another package's plugin, an error was raised."""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from traceback import FrameSummary, extract_tb

_PACKAGE = __name__.partition(".")[0]
_LONGEST_SOURCE = 80
_INSTALLED = frozenset({"site-packages", "dist-packages"})


def user_frame(error: BaseException) -> FrameSummary | None:
    """Find the innermost frame of an error in the user's code or in another package's plugin.

    Returns:
        The frame, or the place of a syntax error in such code. None if only Housewise, the standard library and
        installed libraries are involved.
    """
    if isinstance(error, SyntaxError) and error.filename and _is_user_file(error.filename):
        return FrameSummary(error.filename, error.lineno or 1, "<module>", lookup_line=False, line=error.text or "")
    frames = [frame for frame, owner in _owned_frames(error) if _is_user_code(owner, frame.filename)]
    return frames[-1] if frames else None


def describe_error(error: BaseException) -> str:
    """Return an error on one line: its type, its message, and the user's frame that raised it, if any."""
    words = error.msg if isinstance(error, SyntaxError) and error.filename else str(error)
    line = " ".join(f"{type(error).__name__}: {words}".split()) if words else type(error).__name__
    frame = user_frame(error)
    return line if frame is None else f"{line}, in {describe_frame(frame)}"


def describe_frame(frame: FrameSummary) -> str:
    """Return a frame as ``file:line (function): source line``, with the path relative to the working directory."""
    function = "" if frame.name == "<module>" else f" ({frame.name})"
    source = " ".join((frame.line or "").split())
    source = source if len(source) <= _LONGEST_SOURCE else f"{source[:_LONGEST_SOURCE]} ..."
    return f"{_short_path(frame.filename)}:{frame.lineno}{function}" + (f": {source}" if source else "")


def describe_code(function: Callable[..., object]) -> str:
    """Return where a function is defined, as ``file:line (function)``, or only its name if that is unknown."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    name = getattr(function, "__qualname__", type(function).__name__)
    return name if code is None else f"{_short_path(code.co_filename)}:{code.co_firstlineno} ({name})"


def _owned_frames(error: BaseException) -> Iterator[tuple[FrameSummary, str]]:
    """Yield the frames of a traceback, each with the top-level package or module that owns its code."""
    summaries, step = extract_tb(error.__traceback__), error.__traceback__
    for summary in summaries:
        if step is None:
            return
        names = step.tb_frame.f_globals
        # A module that runs as a program is named __main__; its package is known.
        owner = str(names.get("__package__") or names.get("__name__") or "")
        yield summary, owner.partition(".")[0]
        step = step.tb_next


def _is_user_code(owner: str, filename: str) -> bool:
    """Whether code is a plugin's or the user's, by the package that owns it and its file."""
    if owner == _PACKAGE or (owner in sys.stdlib_module_names and owner != "__main__"):
        return False
    return owner in _plugin_packages() or _is_user_file(filename)


def _is_user_file(filename: str) -> bool:
    """Whether a file is outside the standard library and installed packages."""
    path = Path(filename)
    if filename.startswith("<") or _INSTALLED & set(path.parts):
        return False
    return not any(path.is_relative_to(folder) for folder in _library_folders())


@cache
def _library_folders() -> tuple[str, ...]:
    """Return the folders of the standard library and of the scripts of installed packages."""
    return tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "scripts"))


@cache
def _plugin_packages() -> frozenset[str]:
    """Return the other packages that define entry points for Housewise."""
    # This import is slow and only needed after an error.
    from importlib.metadata import entry_points

    found = entry_points()
    groups = (group for group in found.groups if group.startswith(f"{_PACKAGE}."))
    modules = {entry.module.partition(".")[0] for group in groups for entry in found.select(group=group)}
    return frozenset(modules - {_PACKAGE})


def _short_path(filename: str) -> str:
    path = Path(filename)
    return os.path.relpath(path) if path.is_absolute() and path.is_relative_to(Path.cwd()) else filename
