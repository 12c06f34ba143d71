"""Parts that are found by name: those of this package and those of any other, through entry points.

A package of somebody else's adds a part by naming it in its own ``pyproject.toml``, as in

    [project.entry-points."housewise.systems"]
    pantry = "pantry.system:Pantry"

and is found as soon as it is installed beside this one. Its module is imported when the part is asked for, not before.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from housewise.core.console import Console, print_error
from housewise.core.error_origin import describe_error
from housewise.core.errors import UserError, excerpt, suggest_names

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

SYSTEMS, PLANNERS, SIMULATORS = "housewise.systems", "housewise.planners", "housewise.simulators"
MODELS, TRAINERS, FILTERS = "housewise.models", "housewise.trainers", "housewise.filters"
VIEWS, EXPORTS, TRACKERS = "housewise.views", "housewise.exports", "housewise.trackers"

_PACKAGE = __name__.partition(".")[0]
# Seconds after which it is told what is being imported.
_PATIENCE, _OWN_PATIENCE = 10.0, 600.0
_LONGEST = 700


def plugin_names(group: str) -> list[str]:
    """Names of the parts of a group, in order; nothing is imported."""
    return sorted(_entry_points(group))


def load_plugin(group: str, name: str, what: str) -> Any:
    """A part by name.

    Args:
        group: one of those above.
        name: of the part.
        what: it is called in messages, as in ``"system"``.

    Raises:
        UserError: when there is none, there are several, or it fails to import; the message names the package.
    """
    found = _entry_points(group).get(name, ())
    if not found:
        raise UserError(f"no {what} {name!r} is installed; {suggest_names(name, plugin_names(group))}")
    if len({each.value for each in found}) > 1:
        told = ", ".join(f"{each.value} of {_distribution_name(each)}" for each in found)
        raise UserError(f"{what} {name!r} is there more than once ({told}); uninstall all but one of these packages")
    if found[0].module in sys.modules:
        # It is asked for at every record, and the source of what has been imported takes the longest to find.
        with suppress(AttributeError):
            return found[0].load()
    source = f"{found[0].value} of {_distribution_name(found[0])}"
    # Ours may take long on a machine with much to do.
    patience = _OWN_PATIENCE if found[0].module.partition(".")[0] == _PACKAGE else _PATIENCE
    with convert_import_errors(f"{what} {name!r}", source, "mend or uninstall that package", patience):
        return found[0].load()


def open_plugin(group: str, name: str, what: str, *arguments: Any, needs: Sequence[str] = (), **options: Any) -> Any:
    """Load a part that makes something, and call it.

    Args:
        group, name, what: see load_plugin.
        *arguments, **options: of the call.
        needs: attributes that what is made has to have.

    Raises:
        UserError: when the part cannot be called so, fails, or makes something else; see also load_plugin.
    """
    return call_plugin(load_plugin(group, name, what), f"{what} {name!r}", *arguments, needs=needs, **options)


def call_plugin(part: Any, label: str, *arguments: Any, needs: Sequence[str] = (), **options: Any) -> Any:
    """Call a part that was loaded; see open_plugin.

    Args:
        part: what was loaded.
        label: what it is called in messages.
        *arguments, **options: of the call.
        needs: attributes that what is made has to have.

    Raises:
        UserError: see open_plugin.
    """
    if not callable(part):
        raise UserError(f"{label}: {excerpt(repr(part))} cannot be called; see docs/extending.md")
    try:
        inspect.signature(part).bind(*arguments, **options)
    except TypeError as error:
        raise UserError(f"{label}: takes other arguments ({excerpt(error)}); see docs/extending.md") from error
    except ValueError:  # of some built-in functions there is no signature
        pass
    try:
        made = part(*arguments, **options)
    except (UserError, KeyboardInterrupt):
        raise
    except BaseException as error:
        # Of a defect of ours the traceback is wanted.
        if str(getattr(part, "__module__", "")).partition(".")[0] == _PACKAGE:
            raise
        raise UserError(f"{label}: failed ({_describe_import_error(error)}); mend or uninstall it") from error
    if missing := [each for each in needs if not hasattr(made, each)]:
        raise UserError(f"{label}: made {excerpt(repr(made))}, which has no {missing[0]}; see docs/extending.md")
    return made


@contextmanager
def convert_import_errors(label: str, source: str, remedy: str, patience: float = _PATIENCE) -> Iterator[None]:
    """Have what a module raises while it is imported told in one line, and in another one that it takes long.

    Args:
        label: what the part is called in messages.
        source: where it is imported from.
        remedy: what to do when it cannot be.
        patience: seconds after which it is told that it is still being imported.

    Raises:
        UserError: when it cannot be imported.
    """
    waiting = threading.Timer(patience, _tell_waiting, [f"{label} is still being imported from {source}"])
    waiting.daemon = True
    waiting.start()
    try:
        yield
    except KeyboardInterrupt:
        print_error(f"{label}: interrupted while it was imported from {source}")
        raise
    except BaseException as error:
        raise UserError(
            f"{label} cannot be imported from {source} ({_describe_import_error(error)}); {remedy}"
        ) from error
    finally:
        waiting.cancel()


def _tell_waiting(line: str) -> None:
    with suppress(OSError):
        Console(stderr=True, soft_wrap=True).print(line, highlight=False)


def _describe_import_error(error: BaseException) -> str:
    return describe_error(error)[:_LONGEST]


@lru_cache(maxsize=16)
def _entry_points(group: str) -> dict[str, tuple[EntryPoint, ...]]:
    # Takes a while, and help and completion look nothing up.
    from importlib.metadata import entry_points

    found: dict[str, list[EntryPoint]] = {}
    for each in entry_points(group=group):
        found.setdefault(each.name, []).append(each)
    return {name: tuple(several) for name, several in found.items()}


def _distribution_name(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "an unknown package"
