"""Finds parts (systems, planners, models, ...) by name through entry points.

Another package adds a part by naming it in its ``pyproject.toml``:

    [project.entry-points."housewise.systems"]
    pantry = "pantry.system:Pantry"

The part is found as soon as the package is installed. Its module is imported when the part is requested, not before.
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
from housewise.core.errors import UserError, suggest_names
from housewise.core.printable_text import excerpt

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

SYSTEMS, PLANNERS, SIMULATORS = "housewise.systems", "housewise.planners", "housewise.simulators"
MODELS, TRAINERS, FILTERS = "housewise.models", "housewise.trainers", "housewise.filters"
WRAPPERS, VIEWS, EXPORTS, TRACKERS = "housewise.wrappers", "housewise.views", "housewise.exports", "housewise.trackers"

_PACKAGE = __name__.partition(".")[0]
# Seconds after which a note says what is being imported; for other packages and for this one.
_PATIENCE, _OWN_PATIENCE = 10.0, 600.0
_LONGEST = 700


def plugin_names(group: str) -> list[str]:
    """Return the sorted names of a group's parts, without importing anything."""
    return sorted(_entry_points(group))


def load_plugin(group: str, name: str, what: str) -> Any:
    """Import a part by name.

    Args:
        group: One of the entry-point groups above.
        name: Name of the part.
        what: What messages call the part, such as ``"system"``.

    Raises:
        UserError: If there is no such part, if several packages define it, or if its import fails. The message names
            the package.
    """
    found = _entry_points(group).get(name, ())
    if not found:
        raise UserError(f"no {what} {name!r} is installed; {suggest_names(name, plugin_names(group))}")
    if len({each.value for each in found}) > 1:
        sources = ", ".join(f"{each.value} of {_distribution_name(each)}" for each in found)
        raise UserError(f"{what} {name!r} is there more than once ({sources}); uninstall all but one of these packages")
    if found[0].module in sys.modules:
        # Parts are looked up for every record; finding the distribution of an imported part takes longest.
        with suppress(AttributeError):
            return found[0].load()
    source = f"{found[0].value} of {_distribution_name(found[0])}"
    # Modules of this package may take long to import on a busy machine.
    patience = _OWN_PATIENCE if found[0].module.partition(".")[0] == _PACKAGE else _PATIENCE
    with convert_import_errors(f"{what} {name!r}", source, "mend or uninstall that package", patience):
        return found[0].load()


def open_plugin(group: str, name: str, what: str, *arguments: Any, needs: Sequence[str] = (), **options: Any) -> Any:
    """Load a part that constructs something, and call it.

    Args:
        group: See ``load_plugin``.
        name: See ``load_plugin``.
        what: See ``load_plugin``.
        *arguments: Arguments of the call by position.
        needs: Attributes that the result must have.
        **options: Arguments of the call by name.

    Raises:
        UserError: If the part cannot be called with these arguments, fails, or returns something else. See also
            ``load_plugin``.
    """
    return call_plugin(load_plugin(group, name, what), f"{what} {name!r}", *arguments, needs=needs, **options)


def call_plugin(part: Any, label: str, *arguments: Any, needs: Sequence[str] = (), **options: Any) -> Any:
    """Call a loaded part; see ``open_plugin``.

    Args:
        part: The loaded part.
        label: What messages call the part.
        *arguments: Arguments of the call by position.
        needs: Attributes that the result must have.
        **options: Arguments of the call by name.

    Raises:
        UserError: See ``open_plugin``.
    """
    if not callable(part):
        raise UserError(f"{label}: {excerpt(repr(part))} cannot be called; see docs/extending.md")
    try:
        inspect.signature(part).bind(*arguments, **options)
    except TypeError as error:
        raise UserError(f"{label}: takes other arguments ({excerpt(error)}); see docs/extending.md") from error
    except ValueError:  # some built-in functions have no signature
        pass
    try:
        made = part(*arguments, **options)
    except (UserError, KeyboardInterrupt):
        raise
    except BaseException as error:
        # The traceback of a defect in this package is useful.
        if str(getattr(part, "__module__", "")).partition(".")[0] == _PACKAGE:
            raise
        raise UserError(f"{label}: failed ({_describe_import_error(error)}); mend or uninstall it") from error
    if missing := [each for each in needs if not hasattr(made, each)]:
        raise UserError(f"{label}: made {excerpt(repr(made))}, which has no {missing[0]}; see docs/extending.md")
    return made


@contextmanager
def convert_import_errors(label: str, source: str, remedy: str, patience: float = _PATIENCE) -> Iterator[None]:
    """Convert errors of an import into a ``UserError``, and print a note if the import takes long.

    Args:
        label: What messages call the part.
        source: Where the part is imported from.
        remedy: What to do if the import fails.
        patience: Seconds until the note is printed.

    Raises:
        UserError: If the import fails.
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
    # This import is slow, and help and completion do not need it.
    from importlib.metadata import entry_points

    found: dict[str, list[EntryPoint]] = {}
    for each in entry_points(group=group):
        found.setdefault(each.name, []).append(each)
    return {name: tuple(several) for name, several in found.items()}


def _distribution_name(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "an unknown package"
