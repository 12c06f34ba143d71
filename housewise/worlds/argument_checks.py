"""Checks arguments of environments that are integers."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from housewise.core.errors import UserError


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer, of Python or NumPy. True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_limit(name: str, value: Any) -> int:
    """Return a limit of steps as an int.

    Args:
        name: Name of the argument, for the message.
        value: Its value.

    Raises:
        UserError: It is not an integer of 1 or more.
    """
    if not is_integer(value) or value < 1:
        raise UserError(f"{name} must be an integer of 1 or more, not {value!r}")
    return int(value)


def check_task_number(number: Any, count: int) -> int:
    """Return the number of a task as an int.

    Args:
        number: The number, counted from 0.
        count: Number of tasks.

    Raises:
        UserError: There is no such task.
    """
    if not is_integer(number) or not 0 <= number < count:
        raise UserError(f"there is no task {number!r}; use an integer from 0 to {count - 1}")
    return int(number)
