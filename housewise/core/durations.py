"""Durations in words."""

from __future__ import annotations


def format_duration(seconds: float) -> str:
    """A duration to one or two digits, such as ``40 s``, ``10 min`` or ``1.5 h``.

    Args:
        seconds: of it.
    """
    if seconds < 100:
        return f"{_round(seconds):.0f} s"
    if seconds < 100 * 60:
        return f"{_round(seconds / 60):.0f} min"
    return f"{seconds / 3600:.1f} h"


def _round(value: float) -> float:
    """To whole numbers below 10, and to whole fives above."""
    return max(round(value), 1) if value < 10 else 5 * round(value / 5)
