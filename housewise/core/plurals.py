"""Numbers with their nouns."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """A number with its noun, as in ``1 episode`` and ``3 episodes``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
