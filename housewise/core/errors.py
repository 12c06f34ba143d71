"""Errors that a user can fix, and suggestions for misspelled names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from housewise.core.printable_text import make_printable


class UserError(Exception):
    """Something outside the program is wrong.

    The message is one line: what is wrong, where, and what to do.

    Attributes:
        exit_code: Exit code of a command that ends with this error.
        is_summary: Whether the error sums up errors that were printed before. Its own traceback is then not printed.
    """

    exit_code = 2
    is_summary = False

    def __str__(self) -> str:
        return " ".join(make_printable(super().__str__()).splitlines())


class DataError(UserError):
    """A data file is missing, damaged or contradicts another file."""


class SimulatorError(UserError):
    """A simulator ended in the middle of an episode.

    The episode cannot continue; other episodes can still be played.
    """


class UserCodeError(UserError):
    """Code of the user returned something unusable, which ends the episode."""


def suggest_names(word: str, known: Iterable[str], listing: str = "") -> str:
    """Return a hint for a message about an unknown name: the closest known name and the list of all.

    Args:
        word: The unknown name.
        known: Known names.
        listing: Command that lists them, where they are too many for a message.
    """
    names = list(known)
    close = difflib.get_close_matches(word, names, n=1)
    guess = f"did you mean {close[0]}? " if close else ""
    if listing:
        return f"{guess}{listing} lists all {len(names)}"
    return f"{guess}available: {', '.join(names)}" if names else "none available"
