"""Replaces former keys of settings, records and files by current ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from housewise.core.errors import UserError


def rename_keys(
    values: Mapping[str, Any], current: Mapping[str, str], describe_conflict: Callable[[str, str], str]
) -> dict[str, Any]:
    """Return values by key with current keys in place of former ones.

    Args:
        values: Values by key.
        current: Current key of each former key.
        describe_conflict: Returns the message for a value under a former and under its current key.

    Raises:
        UserError: A value is given under both keys.
    """
    for former, now in current.items():
        if former in values and now in values:
            raise UserError(describe_conflict(former, now))
    return {current.get(key, key): value for key, value in values.items()}
