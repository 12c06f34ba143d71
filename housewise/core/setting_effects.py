"""Selects settings by what they affect: those that a resumed run must keep, and those that tell experiments apart."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from housewise.core.setting_marks import RESULT, Affects, Effect
from housewise.core.settings import flatten_settings


@dataclass(frozen=True)
class MarkedSetting:
    """A setting with its complete mark.

    Attributes:
        key: Dotted key.
        mark: Its own mark, refined from the marks of its sections.
        is_active: Whether it has an effect: the field that its mark requires has the required value.
    """

    key: str
    mark: Affects
    is_active: bool

    def has_effect(self, has_model: bool) -> bool:
        """Return whether the setting has an effect beside the others, in a run with or without a chat model."""
        return self.is_active and (has_model or not self.mark.needs_model)


def list_marked_settings(
    settings: BaseModel, prefix: str = "", section: Affects = RESULT, is_active: bool = True
) -> Iterator[MarkedSetting]:
    """Yield every setting, of all sections.

    Args:
        settings: Settings of any class.
        prefix: Dotted key of the section that they form, with a dot at its end.
        section: Mark of that section.
        is_active: Whether that section has an effect.
    """
    for name in type(settings).model_fields:
        own = list(_own_marks(type(settings), name))
        mark, active, value = section, is_active, getattr(settings, name)
        for each in own:
            mark = mark.refine(each)
            if each.needs is not None:
                required = each.needs[1] if isinstance(each.needs[1], tuple) else (each.needs[1],)
                active &= getattr(settings, each.needs[0], None) in required
        if isinstance(value, BaseModel):
            yield from list_marked_settings(value, f"{prefix}{name}.", mark, active)
        else:
            yield MarkedSetting(f"{prefix}{name}", mark, active)


def settings_by_effect(settings: BaseModel, effects: Collection[Effect]) -> dict[str, Any]:
    """Return the values of the settings with some effects, by dotted key."""
    return _pick(settings, {each.key for each in list_marked_settings(settings) if each.mark.effect in effects})


def compared_settings(settings: BaseModel, has_model: bool) -> dict[str, Any]:
    """Return the values of the settings that tell experiments apart, by dotted key.

    Args:
        settings: Settings of a run.
        has_model: Whether a chat model is asked.
    """
    return _pick(
        settings,
        {
            each.key
            for each in list_marked_settings(settings)
            if each.mark.effect == "result" and each.mark.compared is not False and each.has_effect(has_model)
        },
    )


def _own_marks(owner: type[BaseModel], name: str) -> Iterator[Affects]:
    """Yield the marks of a field, those that the field had in base classes first."""
    for each in reversed(owner.__mro__):
        field = each.model_fields.get(name) if issubclass(each, BaseModel) else None
        yield from (mark for mark in field.metadata if isinstance(mark, Affects)) if field else ()


def _pick(settings: BaseModel, keys: Collection[str]) -> dict[str, Any]:
    """Return the values at some keys. A value that is a mapping is flattened."""
    found = {}
    for key, value in flatten_settings(settings.model_dump()).items():
        parts = key.split(".")
        if any(".".join(parts[:length]) in keys for length in range(1, len(parts) + 1)):
            found[key] = value
    return found
