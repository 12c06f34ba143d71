"""Reference of settings: name, type, default, bounds and description of every field of a settings class."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

_BOUNDS = {"ge": "at least {}", "gt": "greater than {}", "le": "at most {}", "lt": "less than {}"}
_LENGTHS = {"min_length": "at least {} items", "max_length": "at most {} items"}


@dataclass(frozen=True)
class SettingReference:
    """A setting as users write it.

    Attributes:
        name: Dotted name, for example ``models.agent.model``.
        type: Type of its value, for example ``int`` or ``"ray" | "threads"``.
        default: Value that it has if the user does not set it.
        bounds: Bounds of its value, for example ``at least 1, at most 10``, or an empty text.
        description: Description of the field, or an empty text.
    """

    name: str
    type: str
    default: Any
    bounds: str
    description: str


def list_settings(settings: BaseModel, section: str = "") -> Iterator[SettingReference]:
    """Yield every setting, section by section.

    Args:
        settings: Settings with their default values.
        section: Dotted name of the section that they form, or an empty text.
    """
    prefix, defaults = f"{section}." if section else "", settings.model_dump(mode="json")
    sections = []
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            sections.append((f"{prefix}{name}", value))
        else:
            kind, bounds = _format_type(field.annotation), _format_bounds(field)
            yield SettingReference(f"{prefix}{name}", kind, defaults[name], bounds, field.description or "")
    for name, value in sections:
        yield from list_settings(value, name)


def _format_type(annotation: Any) -> str:
    """Format a type as users know it from YAML: alternatives are separated by bars, and constants are quoted."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _format_type(arguments[0])
    if origin is Literal:
        return " | ".join(f'"{each}"' if isinstance(each, str) else str(each) for each in arguments)
    if origin in (Union, types.UnionType):
        return " | ".join(map(_format_type, arguments))
    if annotation in (None, type(None)):
        return "null"
    if annotation in (str, Path):
        return "text"
    if arguments:
        inner = ", ".join(_format_type(each) for each in arguments if each is not Ellipsis)
        return f"{getattr(origin, '__name__', origin)}[{inner}]"
    return str(getattr(annotation, "__name__", annotation))


def _format_bounds(field: FieldInfo) -> str:
    """Format the numeric bounds of a field, and the bounds of its length."""
    parts = []
    for forms in (_BOUNDS, _LENGTHS):
        for constraint in field.metadata:
            parts += [
                form.format(value)
                for name, form in forms.items()
                if (value := getattr(constraint, name, None)) is not None
            ]
    return ", ".join(parts)
