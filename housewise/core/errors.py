"""Errors that a user can do something about."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_MOST_SHOWN = 120


class UserError(Exception):
    """Something outside the program is wrong; the message is one line: what, where, and the remedy.

    Attributes:
        exit_code: of a program that ends with it.
        is_summary: Whether it sums up errors that were told before, so that its own traceback says nothing.
    """

    exit_code = 2
    is_summary = False

    def __str__(self) -> str:
        return " ".join(make_printable(super().__str__()).splitlines())


class DataError(UserError):
    """A file of the data is missing, damaged or contradicts another."""


class SimulatorError(UserError):
    """A simulator has ended in the middle of an episode, which can't go on; another episode can be played."""


class UserCodeError(UserError):
    """Code of the user's own gave what cannot be used; it ends the episode in which it did."""


def make_printable(text: str) -> str:
    """A text with nothing in it that would make a terminal do something: what is unseen becomes a space or ?."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each == "\n" else " " if each.isspace() else "?" for each in text)


def suggest_names(word: str, known: Iterable[str]) -> str:
    """What could have been meant by a name that there is not, for the end of a message.

    Args:
        word: that was given.
        known: what there is.
    """
    names = list(known)
    close = difflib.get_close_matches(word, names, n=1)
    guess = f"did you mean {close[0]}? " if close else ""
    return f"{guess}there are {', '.join(names)}" if names else "there are none"


def excerpt(text: object) -> str:
    """Words of somebody else's, fit to be told on one line."""
    line = " ".join(str(text).split())
    line = line if line.isprintable() else line.encode("unicode_escape").decode()
    return line if len(line) <= _MOST_SHOWN else line[:_MOST_SHOWN] + " ..."
