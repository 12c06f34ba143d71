"""Reference of settings: name, type, default, bounds and description of every field of a settings class."""

from __future__ import annotations

import math
import textwrap
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from housewise.core.settings import LARGEST_SEED, MAX_COUNT, SECTIONS

_BOUNDS = {"ge": "at least {}", "gt": "greater than {}", "le": "at most {}", "lt": "less than {}"}
_LENGTHS = {"min_length": "at least {} {unit}", "max_length": "at most {} {unit}"}
_UNREACHABLE = (MAX_COUNT, LARGEST_SEED)
"""Bounds that only refuse typing errors, which are not shown."""
_WIDTH = 120
_YAML_HINT = (
    "Keep what you change and delete the rest. ${tasks.seed} stands for another setting, and ${oc.env:NAME} for an "
    "environment variable."
)
_DERIVED_HINT = (
    "Where # stands before a setting, its default follows from other settings, such as the adapter; remove the # to "
    "set it, and that of its section."
)


@dataclass(frozen=True)
class SettingReference:
    """A setting as users write it.

    Attributes:
        name: Dotted name, for example ``models.agent.model``.
        type: Type of its value, for example ``int`` or ``"ray" | "threads"``.
        default: Default value, or None if the setting is required.
        bounds: Bounds of its value, for example ``at least 1, at most 10``, or an empty text.
        description: Description of the field, or an empty text.
        is_required: Whether it has no default. Only settings of items in lists and mappings are required.
        is_derived: Whether another value than ``default`` follows from other settings, or is set by a configuration.
        derived: That value.
        items: Settings of each item of a list or mapping, by their name in the item.
    """

    name: str
    type: str
    default: Any
    bounds: str
    description: str
    is_required: bool = False
    is_derived: bool = False
    derived: Any = None
    items: tuple[SettingReference, ...] = ()


@dataclass(frozen=True)
class SettingSection:
    """A section of settings.

    Attributes:
        name: Dotted name, empty for settings outside of all sections.
        description: What the section is about.
        settings: The settings of the section itself.
    """

    name: str
    description: str
    settings: tuple[SettingReference, ...]


def list_sections(
    settings: BaseModel,
    section: str = "",
    defaults: Mapping[str, Any] | None = None,
    derived: Mapping[str, Any] | None = None,
) -> Iterator[SettingSection]:
    """Yield every section of settings, outer sections first.

    Args:
        settings: Settings, for their classes.
        section: Dotted name of the section that they form, or an empty text.
        defaults: Default values by key. Defaults to the values of the settings.
        derived: Values that replace defaults in a run in which nothing is set; see ``SettingReference``.
    """
    prefix, known = f"{section}." if section else "", settings.model_dump(mode="json") if defaults is None else defaults
    inner, rows, changed = [], [], derived or {}
    for name, field in type(settings).model_fields.items():
        value, other = getattr(settings, name), changed.get(name)
        if isinstance(value, BaseModel):
            inner.append((name, value, known[name], other))
        else:
            row = replace(_describe_field(f"{prefix}{name}", field), default=known[name])
            rows.append(replace(row, is_derived=True, derived=other) if name in changed else row)
    yield SettingSection(section, _summarise_class(type(settings)), tuple(rows))
    inner.sort(key=lambda each: SECTIONS.index(each[0]) if each[0] in SECTIONS else len(SECTIONS))
    for name, value, value_defaults, value_derived in inner:
        yield from list_sections(value, f"{prefix}{name}", value_defaults, value_derived)


def list_settings(
    settings: BaseModel, section: str = "", defaults: Mapping[str, Any] | None = None
) -> Iterator[SettingReference]:
    """Yield every setting, section by section; see ``list_sections``."""
    for each in list_sections(settings, section, defaults):
        yield from each.settings


def format_settings_yaml(title: str, sections: Iterable[SettingSection], config: str = "") -> str:
    """Format settings as YAML that holds every value, with descriptions as comments.

    Without a configuration, settings whose defaults follow from other settings are commented out, so that they still do
    when the file is loaded.

    Args:
        title: What the settings are of.
        sections: Sections, outer sections first.
        config: Name of the configuration whose values they have. Empty for the defaults.
    """
    sections = list(sections)
    active = {f"{each.name}." for each in sections for setting in each.settings if config or not setting.is_derived}
    values, hint = (f"the values of {config}", "") if config else ("their defaults", f" {_DERIVED_HINT}")
    lines = [*_comment(f"Settings of {title}, with {values}. {_YAML_HINT}{hint}", ""), ""]
    for section in sections:
        depth = len(section.name.split(".")) if section.name else 0
        indent = "  " * depth
        if section.name:
            lines += _comment(section.description, indent[2:])
            is_active = any(name.startswith(f"{section.name}.") for name in active)
            lines.append(f"{indent[2:]}{'' if is_active else '# '}{section.name.rpartition('.')[2]}:")
        for setting in section.settings:
            facts = setting.type + (f", {setting.bounds}" if setting.bounds else "")
            lines += _comment(f"{setting.description} ({facts})".strip(), indent)
            for item in setting.items:
                more = "required" if item.is_required else f"default {format_value(item.default)}"
                lines += _comment(f"- {item.name} ({item.type}, {more}): {item.description}", indent, "  ")
            inactive = "# " if setting.is_derived and not config else ""
            value = format_value(setting.derived if setting.is_derived and config else setting.default)
            lines.append(f"{indent}{inactive}{setting.name.rpartition('.')[2]}: {value}")
    return "\n".join(lines) + "\n"


def format_value(value: Any) -> str:
    """Format a value as YAML in one line."""
    text = yaml.safe_dump(value, default_flow_style=True, width=math.inf, allow_unicode=True, sort_keys=False)
    return text.strip().removesuffix("\n...")


def _comment(text: str, indent: str, hanging: str = "") -> list[str]:
    """Return a text as lines of a YAML comment."""
    return textwrap.wrap(
        text, _WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# {hanging}", break_on_hyphens=False
    )


def _summarise_class(settings: type[BaseModel]) -> str:
    """Return the first paragraph of a docstring without what only concerns programmers."""
    paragraph = " ".join((settings.__doc__ or "").strip().partition("\n\n")[0].split())
    first = paragraph.partition("; see ")[0].replace("``", "")
    return first if not first or first.endswith(".") else f"{first}."


def _describe_field(name: str, field: FieldInfo) -> SettingReference:
    kind = _format_type(field.annotation)
    bounds = _format_bounds(field, "characters" if kind == "text" else "items")
    default = (
        None
        if field.is_required()
        else TypeAdapter(Any).dump_python(field.get_default(call_default_factory=True), mode="json")
    )
    items = next(_find_item_classes(field.annotation), None)
    inner = () if items is None else tuple(_describe_field(*each) for each in items.model_fields.items())
    description = " ".join((field.description or "").split())
    return SettingReference(name, kind, default, bounds, description, field.is_required(), items=inner)


def _find_item_classes(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the classes of settings that are items of a list or mapping."""
    for each in get_args(annotation):
        if isinstance(each, type) and issubclass(each, BaseModel):
            yield each
        yield from _find_item_classes(each)


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
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "settings"
    if origin is tuple and Ellipsis not in arguments:
        return f"[{', '.join(map(_format_type, arguments))}]"
    if arguments:
        name = "list" if origin is tuple else getattr(origin, "__name__", origin)
        inner = ", ".join(_format_type(each) for each in arguments if each is not Ellipsis)
        return f"{name}[{inner}]"
    return str(getattr(annotation, "__name__", annotation))


def _format_bounds(field: FieldInfo, unit: str) -> str:
    """Format the numeric bounds of a field, and the bounds of its length in some unit."""
    parts = []
    for forms in (_BOUNDS, _LENGTHS):
        for constraint in field.metadata:
            parts += [
                form.format(value, unit=unit)
                for name, form in forms.items()
                if (value := getattr(constraint, name, None)) is not None and value not in _UNREACHABLE
            ]
    return ", ".join(parts)
