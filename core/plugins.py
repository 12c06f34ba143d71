"""Parts that are found by name: those of this package and those of any other, through entry points.

A package of somebody else's adds a part by naming it in its own ``pyproject.toml``, as in

    [project.entry-points."housewise.systems"]
    pantry = "pantry.system:Pantry"

and is found as soon as it is installed beside this one. Its module is imported when the part is asked for, not before.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from housewise.core.errors import UserError, alternatives

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

SYSTEMS, PLANNERS, SIMULATORS = "housewise.systems", "housewise.planners", "housewise.simulators"
MODELS, TRAINERS, FILTERS = "housewise.models", "housewise.trainers", "housewise.filters"
VIEWS, EXPORTS, TRACKERS = "housewise.views", "housewise.exports", "housewise.trackers"


def plugins(group: str) -> list[str]:
    """Names of the parts of a group, in order; nothing is imported."""
    return sorted(_found(group))


def load_plugin(group: str, name: str, what: str) -> Any:
    """A part by name.

    Args:
        group: one of those above.
        name: of the part.
        what: it is called in messages, as in ``"system"``.

    Raises:
        UserError: when there is none, there are several, or it fails to import; the message names the package.
    """
    found = _found(group).get(name, ())
    if not found:
        raise UserError(f"no {what} {name!r} is installed; {alternatives(name, plugins(group))}")
    if len({each.value for each in found}) > 1:
        told = ", ".join(f"{each.value} of {_package(each)}" for each in found)
        raise UserError(f"{what} {name!r} is there more than once ({told}); uninstall all but one of these packages")
    try:
        return found[0].load()
    except (Exception, SystemExit) as error:  # a module may raise anything
        told = " ".join(f"{type(error).__name__}: {error}".split())
        raise UserError(
            f"{what} {name!r} cannot be imported from {found[0].value} of {_package(found[0])} ({told}); mend or "
            "uninstall that package"
        ) from error


@lru_cache(maxsize=16)
def _found(group: str) -> dict[str, tuple[EntryPoint, ...]]:
    # Takes a while, and help and completion look nothing up.
    from importlib.metadata import entry_points

    found: dict[str, list[EntryPoint]] = {}
    for each in entry_points(group=group):
        found.setdefault(each.name, []).append(each)
    return {name: tuple(several) for name, several in found.items()}


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "an unknown package"
