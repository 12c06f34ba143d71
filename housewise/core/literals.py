"""Keeps texts of records, adapters and other files out of settings' language, in which ``${...}`` is evaluated."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from housewise.core.errors import UserError

DEEPEST = 20
"""Levels that settings may be nested; no settings there are have half as many."""


class Literals:
    """Texts that stand for themselves while settings are put together.

    Each is replaced by a word that nobody can guess, and put back once everything else has been evaluated.
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def hidden(self, value: Any) -> Any:
        """A copy of a setting in which nothing is left to evaluate.

        Raises:
            UserError: when it is nested too deeply.
        """
        return self._changed(value, self._hide)

    def shown(self, value: Any) -> Any:
        """The setting as it was, wherever it has got to.

        Raises:
            UserError: when it is nested too deeply.
        """
        return self._changed(value, self._show) if self._texts else value

    def _hide(self, text: str) -> str:
        if "${" not in text:
            return text
        word = f"literal-{secrets.token_hex(16)}"
        self._texts[word] = text
        return word

    def _show(self, text: str) -> str:
        for word, hidden in self._texts.items():
            text = text.replace(word, hidden)
        return text

    def _changed(self, value: Any, change: Any, depth: int = 0) -> Any:
        if depth > DEEPEST:
            raise UserError(f"settings are nested more than {DEEPEST} levels deep; write them as in housekeep_configs/")
        if isinstance(value, str):
            return change(value)
        if isinstance(value, Mapping):
            return {key: self._changed(part, change, depth + 1) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self._changed(part, change, depth + 1) for part in value]
        return value
