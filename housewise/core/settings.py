"""Base class of settings, which remembers which values the user set and under which dotted key."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, PrivateAttr, ValidationInfo
from pydantic_core import PydanticCustomError
from typing_extensions import Self

from housewise.core.errors import UserError, suggest_names

SECTIONS = ("tasks", "world", "agent", "models", "memory", "execution")
"""Sections of a run's settings."""
MAX_COUNT = 1_000_000
"""Largest value of a setting that counts something. A larger one is a typing error that would fill the memory."""
LARGEST_SEED = 2**63 - 1


def check_known_name(name: str, known: Sequence[str]) -> str:
    """Return a name if it is known, for use in a validator of settings.

    Raises:
        PydanticCustomError: If it is unknown; the message suggests a known name.
    """
    if name in known:
        return name
    hint = suggest_names(name, known)
    raise PydanticCustomError("unknown_name", "no {name}; {hint}", {"name": repr(name), "hint": hint})


def _check_command(command: str) -> str:
    # ValueError: No closing quotation.
    shlex.split(command)
    return command


Command = Annotated[str, AfterValidator(_check_command)]
"""A program with its arguments, quoted as in a shell."""


ONE_OR_SEVERAL = BeforeValidator(lambda value: (value,) if isinstance(value, str | int) else value)
"""Marks a list that may also be given as a single value."""


def _check_distinct(values: tuple[Any, ...], info: ValidationInfo) -> tuple[Any, ...]:
    if len(set(values)) < len(values):
        raise ValueError(f"each {info.field_name} at most once; repeats=N repeats all of them")
    return values


DISTINCT = AfterValidator(_check_distinct)
"""Marks a list of tasks, or of people, in which no value may stand twice."""


class Settings(BaseModel):
    """Immutable settings without unknown keys. The docstring of a field is its description."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

    _set_by_user: frozenset[str] = PrivateAttr(default=frozenset())
    _keys: Mapping[str, str] = PrivateAttr(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        # Who set a value does not matter.
        return type(self) is type(other) and vars(self) == vars(other)

    @property
    def set_by_user(self) -> frozenset[str]:
        """Keys that the user set, on the command line or in a file of their own."""
        return self._set_by_user

    @property
    def setting_keys(self) -> dict[str, str]:
        """Dotted key of each setting that has one; see ``key``."""
        return dict(self._keys)

    def key(self, name: str) -> str:
        """Return the dotted key of a setting, such as ``training.learning_rate``, for messages."""
        return self._keys.get(name, name)

    def with_keys(self, keys: Mapping[str, str]) -> Self:
        """Return a copy in which some settings have other dotted keys; see ``key``."""
        renamed = self.model_copy()
        renamed._keys = {**self._keys, **keys}
        return renamed


def record_user_keys(settings: BaseModel, by_user: Mapping[str, Any]) -> None:
    """Record in every section of settings which of its keys the user set, in addition to those recorded before.

    Args:
        settings: Settings of any class.
        by_user: Nested values by key; only the keys matter.
    """
    if isinstance(settings, Settings):
        settings._set_by_user |= by_user.keys()
    for key, value in by_user.items():
        inner = getattr(settings, key, None)
        if isinstance(inner, BaseModel) and isinstance(value, Mapping):
            record_user_keys(inner, value)


def record_dotted_keys(settings: BaseModel, section: str = "") -> None:
    """Record in every section of settings the dotted keys of its settings; see ``Settings.key``.

    Args:
        settings: Settings of any class.
        section: Prefix of the keys, with a dot at its end.
    """
    for name in type(settings).model_fields:
        if isinstance(inner := getattr(settings, name), BaseModel):
            record_dotted_keys(inner, f"{section}{name}.")
    if isinstance(settings, Settings) and section:
        settings._keys = {name: f"{section}{name}" for name in type(settings).model_fields}


def copy_user_keys(source: BaseModel, target: BaseModel) -> None:
    """Copy which keys the user set from settings to others of the same class; see ``record_user_keys``."""
    if isinstance(source, Settings) and isinstance(target, Settings):
        target._set_by_user |= source._set_by_user
    for key in type(source).model_fields:
        inner, other = getattr(source, key), getattr(target, key, None)
        if isinstance(inner, BaseModel) and isinstance(other, BaseModel):
            copy_user_keys(inner, other)


def flatten_settings(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings by dotted key."""
    found: dict[str, Any] = {}
    for key, value in settings.items():
        inner = flatten_settings(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
        found |= inner
    return found


def nested_differences(values: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return the nested values that differ from a base."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping) and isinstance(base.get(key), Mapping):
            found |= {key: inner} if (inner := nested_differences(value, base[key])) else {}
        elif value != base.get(key):
            found[key] = value
    return found


def merge_nested(values: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested values, updated with others."""
    found = dict(values)
    for key, value in others.items():
        earlier = found.get(key)
        found[key] = (
            merge_nested(earlier, value) if isinstance(value, Mapping) and isinstance(earlier, Mapping) else value
        )
    return found


def nest_value(path: str, value: Any) -> dict[str, Any]:
    """Return a value in nested mappings, by its dotted path."""
    first, dot, rest = path.partition(".")
    return {first: nest_value(rest, value) if dot else value}


def map_texts(value: Any, change: Callable[[str], str], deepest: int | None = None, depth: int = 0) -> Any:
    """Return a copy of a nested value with changed texts.

    Raises:
        UserError: There are more than ``deepest`` levels.
    """
    if deepest is not None and depth > deepest:
        raise UserError(f"settings are nested more than {deepest} levels deep; write them as in housekeep_configs/")
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: map_texts(part, change, deepest, depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [map_texts(part, change, deepest, depth + 1) for part in value]
    return value


def empty_mappings(model: type[BaseModel], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return defaults in which each setting that is a mapping, and no section, is empty: it takes any keys."""
    found = dict(defaults)
    for name, field in model.model_fields.items():
        is_union = get_origin(field.annotation) in (Union, UnionType)
        for kind in get_args(field.annotation) if is_union else (field.annotation,):
            inner, origin = found.get(name), get_origin(kind) or kind
            if isinstance(inner, Mapping) and isinstance(origin, type):
                if issubclass(origin, Mapping):
                    found[name] = {}
                elif issubclass(origin, BaseModel):
                    found[name] = empty_mappings(origin, inner)
    return found


def setting_paths(base: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the dotted path of every key of nested values, outer keys first."""
    for key in base:
        yield f"{prefix}{key}"
    for key, inner in base.items():
        if isinstance(inner, Mapping):
            yield from setting_paths(inner, f"{prefix}{key}.")
