"""Texts with placeholders in files of prompts. They are checked when a file is read."""

from __future__ import annotations

import string
from collections.abc import Collection
from typing import Any, cast

from pydantic import Field, ValidationInfo, field_validator

from housewise.core.validation import StrictModel

_EXAMPLE_VALUES = {"most_steps": 1, "step": 1}


def template_text(*placeholders: str, default: Any = ..., alias: str | None = None) -> Any:
    """Return a field for a text, or several, that may contain these placeholders. Other fields may contain any text."""
    return Field(default, alias=alias, json_schema_extra={"placeholders": [*placeholders]})


class Template(StrictModel):
    """Texts that may contain the placeholders of their fields; see template_text."""

    @field_validator("*")
    @classmethod
    def _check_placeholders(cls, value: Any, info: ValidationInfo) -> Any:
        extra = cls.model_fields[info.field_name or ""].json_schema_extra
        if isinstance(extra, dict):
            for text in [value] if isinstance(value, str) else value:
                check_placeholders(text, cast("list[str]", extra["placeholders"]))
        return value


def check_placeholders(text: str, known: Collection[str]) -> None:
    """Check that a text can be filled in with known placeholders.

    Raises:
        ValueError: It cannot. The message says why, and names the known placeholders.
    """
    try:
        for _, name, _, _ in string.Formatter().parse(text):
            if name is not None and name not in known:
                raise ValueError(f"unknown placeholder {{{name}}}")
        text.format(**{name: _EXAMPLE_VALUES.get(name, "") for name in known})
    except (KeyError, ValueError) as error:
        available = ", ".join(sorted(known)) or "none"
        raise ValueError(f"cannot be filled in ({error}); available: {available}") from error
