"""Errors that a user can do something about."""

from __future__ import annotations


class UserError(Exception):
    """Something outside the program is wrong; the message is one line: what, where, and the remedy.

    Attributes:
        exit_code: of a program that ends with it.
    """

    exit_code = 2


class DataError(UserError):
    """A file of the data is missing, damaged or contradicts another."""
