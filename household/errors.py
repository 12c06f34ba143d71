"""Errors that a user can do something about."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Something outside the program is wrong; the message is one line: what, where, and the remedy."""


class DataError(UserError):
    """A file of the data is missing, damaged or contradicts another."""


def alternatives(word: str, known: Iterable[str]) -> str:
    """What could have been meant by a name that there is not, for the end of a message.

    Args:
        word: that was given.
        known: what there is.
    """
    names = list(known)
    close = difflib.get_close_matches(word, names, n=1)
    guess = f"did you mean {close[0]}? " if close else ""
    return f"{guess}there are {', '.join(names)}" if names else "there are none"
