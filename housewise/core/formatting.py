"""Formats counts, names and durations as text."""

from __future__ import annotations

from collections.abc import Sequence


def plural(count: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 episode`` or ``3 episodes``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def join_names(names: Sequence[str], max_names: int = 10, separator: str = ", ") -> str:
    """Join names. Of more than ``max_names``, the first ones and the number of the others are named."""
    more = f" and {len(names) - max_names} more" if len(names) > max_names else ""
    return separator.join(names[:max_names]) + more


def format_duration(seconds: float) -> str:
    """Return a duration rounded to one or two digits, such as ``40 s``, ``10 min`` or ``1.5 h``."""
    if seconds < 100:
        return f"{_round(seconds):.0f} s"
    if seconds < 100 * 60:
        return f"{_round(seconds / 60):.0f} min"
    return f"{seconds / 3600:.1f} h"


def _round(value: float) -> float:
    """Round to whole numbers below 10 and to multiples of five above."""
    return max(round(value), 1) if value < 10 else 5 * round(value / 5)
