"""Settings that a user gave to a run although nothing in it reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from housewise.core.setting_effects import MarkedSetting, list_marked_settings
from housewise.core.setting_keys import short_key
from housewise.core.settings import Settings
from housewise.rollout.system import System

_MODELS = "models"
"""Section with a section for the model of each role."""


def unused_settings(system: System[Any]) -> list[str]:
    """Return the keys of the settings that the user set, and that have no effect with the other settings."""
    given = set(_user_keys(system.settings))
    marked = list_marked_settings(system.settings)
    return [short_key(each.key) for each in marked if each.key in given and not _is_read(each, system)]


def _user_keys(settings: BaseModel, section: str = "") -> Iterator[str]:
    """Yield the dotted keys that the user set, of all sections."""
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            yield from _user_keys(value, f"{section}{name}.")
        elif isinstance(settings, Settings) and name in settings.set_by_user:
            yield f"{section}{name}"


def _is_read(setting: MarkedSetting, system: System[Any]) -> bool:
    section, _, rest = setting.key.partition(".")
    role = rest.partition(".")[0]
    if section == _MODELS and role != "agent":
        return role in system.roles
    return setting.key not in system.ignored_settings and setting.has_effect(system.reads_model_settings)
