"""Errors that a user can do something about."""

from __future__ import annotations

_MOST_SHOWN = 120


class UserError(Exception):
    """Something outside the program is wrong; the message is one line: what, where, and the remedy."""


class DataError(UserError):
    """A file of the data is missing, damaged or contradicts another."""


def shown(text: object) -> str:
    """Words of somebody else's, fit to be told on one line."""
    line = " ".join(str(text).split())
    line = line if line.isprintable() else line.encode("unicode_escape").decode()
    return line if len(line) <= _MOST_SHOWN else line[:_MOST_SHOWN] + " ..."
