"""Gymnasium spaces of printable ASCII text, for environments whose actions and observations are text."""

from __future__ import annotations

import string

from gymnasium import spaces

_CHARACTERS = frozenset(string.printable)


def text_space(max_length: int) -> spaces.Text:
    """A space of texts of at most ``max_length`` printable ASCII characters."""
    return spaces.Text(max_length, min_length=0, charset=string.printable)


def fit_text(text: str, max_length: int) -> str:
    """The text as an element of ``text_space(max_length)``: other characters become ``?``, and it is cut at the end."""
    return "".join(letter if letter in _CHARACTERS else "?" for letter in text[:max_length])
