"""Finds where in code of the user's own, or of another package's plugin, an error was raised."""

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
    """Finds the innermost frame of an error that lies in code of the user's own or of another package's plugin.

    Returns:
        The frame; of a syntax error in such code, the place of it. None where only Housewise, the standard library and
        installed libraries are involved.
    """
    if isinstance(error, SyntaxError) and error.filename and _is_user_file(error.filename):
        return FrameSummary(error.filename, error.lineno or 1, "<module>", lookup_line=False, line=error.text or "")
    frames = [frame for frame, owner in _owned_frames(error) if _is_user_code(owner, frame.filename)]
    return frames[-1] if frames else None


def describe_error(error: BaseException) -> str:
    """One line about an error: its type, what it says, and the user's frame that it comes from, if any."""
    words = error.msg if isinstance(error, SyntaxError) and error.filename else str(error)
    line = " ".join(f"{type(error).__name__}: {words}".split()) if words else type(error).__name__
    frame = user_frame(error)
    return line if frame is None else f"{line}, in {describe_frame(frame)}"


def describe_frame(frame: FrameSummary) -> str:
    """A frame as ``file:line (function): source line``; the file as seen from the working directory."""
    function = "" if frame.name == "<module>" else f" ({frame.name})"
    source = " ".join((frame.line or "").split())
    source = source if len(source) <= _LONGEST_SOURCE else f"{source[:_LONGEST_SOURCE]} ..."
    return f"{_short_path(frame.filename)}:{frame.lineno}{function}" + (f": {source}" if source else "")


def describe_code(function: Callable[..., object]) -> str:
    """Where a function is written, as ``file:line (function)``; its name alone where that is not known."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    name = getattr(function, "__qualname__", type(function).__name__)
    return name if code is None else f"{_short_path(code.co_filename)}:{code.co_firstlineno} ({name})"


def _owned_frames(error: BaseException) -> Iterator[tuple[FrameSummary, str]]:
    """Frames of a traceback, each with the top-level package or module that its code belongs to."""
    summaries, step = extract_tb(error.__traceback__), error.__traceback__
    for summary in summaries:
        if step is None:
            return
        names = step.tb_frame.f_globals
        # A module that is run as a program is called __main__, whatever its package.
        owner = str(names.get("__package__") or names.get("__name__") or "")
        yield summary, owner.partition(".")[0]
        step = step.tb_next


def _is_user_code(owner: str, filename: str) -> bool:
    if owner == _PACKAGE or (owner in sys.stdlib_module_names and owner != "__main__"):
        return False
    return owner in _plugin_packages() or _is_user_file(filename)


def _is_user_file(filename: str) -> bool:
    path = Path(filename)
    if filename.startswith("<") or _INSTALLED & set(path.parts):
        return False
    return not any(path.is_relative_to(folder) for folder in _library_folders())


@cache
def _library_folders() -> tuple[str, ...]:
    """Folders of the standard library and of the programs of installed packages."""
    return tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "scripts"))


@cache
def _plugin_packages() -> frozenset[str]:
    """Other packages that name parts for Housewise in their entry points."""
    # Takes a while, and is only needed once something has failed.
    from importlib.metadata import entry_points

    found = entry_points()
    groups = (group for group in found.groups if group.startswith(f"{_PACKAGE}."))
    modules = {entry.module.partition(".")[0] for group in groups for entry in found.select(group=group)}
    return frozenset(modules - {_PACKAGE})


def _short_path(filename: str) -> str:
    path = Path(filename)
    return os.path.relpath(path) if path.is_absolute() and path.is_relative_to(Path.cwd()) else filename
