"""Checks what a world says at the end of an episode: its scores and its final state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from housewise.core.errors import UserCodeError
from housewise.core.printable_text import excerpt
from housewise.core.record import MAX_NUMBER
from housewise.rollout.scores import USAGE

_MEASURED = frozenset({"plans", "complete", *(score.name for score in USAGE)})
"""Scores that are measured of every episode. A world may give ``steps`` itself, if it counts them otherwise."""


def check_scores(scores: Any, system: str) -> dict[str, float]:
    """Return the scores of a world as numbers of Python.

    Args:
        scores: What the world returned.
        system: Name of the system, for messages.

    Raises:
        UserCodeError: These are no scores, or one is not a finite number or measured of every episode.
    """
    if not isinstance(scores, Mapping) or not all(isinstance(name, str) for name in scores):
        raise _error(system, "scores", f"returned {excerpt(repr(scores))}; return numbers by name, or {{}}")
    found = {}
    for name, value in scores.items():
        if name in _MEASURED:
            raise _error(system, "scores", f"score {name!r} is measured of every episode; give it another name")
        number = _as_number(value)
        if not abs(number) <= MAX_NUMBER:
            raise _error(
                system,
                "scores",
                f"score {name!r} is {excerpt(repr(value))}; return a number of at most {MAX_NUMBER:g}, and leave the "
                "score out of episodes that have none",
            )
        found[name] = number
    return found


def check_final(final: Any, system: str) -> dict[str, Any]:
    """Return the final state of a world.

    Raises:
        UserCodeError: It is not a mapping with texts as keys.
    """
    if not isinstance(final, Mapping) or not all(isinstance(key, str) for key in final):
        raise _error(system, "final", f"returned {excerpt(repr(final))}; return values of JSON by name, or {{}}")
    return dict(final)


def _as_number(value: Any) -> float:
    """Return a number of any library, such as numpy, as one of Python; NaN for what is no number."""
    try:
        return math.nan if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _error(system: str, method: str, what: str) -> UserCodeError:
    return UserCodeError(f"system {system}: {method}() of its world: {what}")
