"""Protects texts of records, adapters and other files from ``${...}`` interpolation while settings are merged."""

from __future__ import annotations

import secrets
from typing import Any

from housewise.core.settings import map_texts

DEEPEST = 20
"""Maximum nesting depth of settings. Bundled settings have fewer than half as many levels."""


class Literals:
    """Texts that must not be interpolated while settings are merged.

    Each text with ``${`` is replaced by an unguessable placeholder before the merge and restored afterwards.
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def hide(self, value: Any) -> Any:
        """Return a copy of a setting with placeholders for texts that would be interpolated.

        Raises:
            UserError: If the setting is nested too deeply.
        """
        return map_texts(value, self._hide_text, DEEPEST)

    def restore(self, value: Any) -> Any:
        """Return a copy of a merged setting with the original texts in place of the placeholders.

        Raises:
            UserError: If the setting is nested too deeply.
        """
        return map_texts(value, self._restore_text, DEEPEST) if self._texts else value

    def _hide_text(self, text: str) -> str:
        if "${" not in text:
            return text
        word = f"literal-{secrets.token_hex(16)}"
        self._texts[word] = text
        return word

    def _restore_text(self, text: str) -> str:
        for word, hidden in self._texts.items():
            text = text.replace(word, hidden)
        return text
