"""Tables of settings, drawn from the settings' classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import BaseModel

from housewise.core.settings_loading import plain_defaults
from housewise.core.settings_reference import SettingReference, format_value, list_settings
from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.marks import Drawn, markdown
from housewise.rollout.settings import RunSettings
from housewise.rollout.system import find_system
from housewise.selftrain.trainers.settings import PreferenceConfig
from housewise.selftrain.training_settings import TRAINING_SYSTEMS, find_training_settings

_SHARED = "all systems"
_TRAINERS = "all trainings"
_TRAINER_SECTIONS = ("training.", "warm_up.training.", "imitation.", "preference.")


def _draw_table(name: str, files: FigureFiles) -> str:
    """Draw the settings of a system or a training that it does not share, or has with another default."""
    if name == _SHARED:
        rows = iter(_list_shared())
    elif name == _TRAINERS:
        rows = iter(_list_trainers())
    elif name in TRAINING_SYSTEMS:
        rows = _list_own_of_training(name)
    else:
        rows = _leave_out(_list_rows(find_system(name).load(), find_system(name).defaults()), _list_known())
    return markdown(("setting", "default", "meaning"), [_format_row(each) for each in rows])


def _list_rows(settings: BaseModel, defaults: Mapping[str, Any] | None = None) -> list[SettingReference]:
    """Return all settings but the name of the system, each followed by the settings of its items."""
    values = None if defaults is None else plain_defaults(defaults)
    return [
        row
        for each in list_settings(settings, defaults=values)
        if each.name.rpartition(".")[2] != "system"
        for row in (each, *(replace(item, name=f"{each.name}[].{item.name}") for item in each.items))
    ]


def _list_shared() -> list[SettingReference]:
    return _list_rows(RunSettings(system=""))


def _list_known() -> list[SettingReference]:
    """Return the shared settings, also those of a model that plays a person."""
    shared = _list_shared()
    return [*shared, *(replace(each, name=each.name.replace("models.agent.", "models.person.")) for each in shared)]


def _list_trainers() -> list[SettingReference]:
    return [replace(each, name=f"training.{each.name}") for each in _list_rows(PreferenceConfig())]


def _list_own_of_training(name: str) -> Iterator[SettingReference]:
    training, system = find_training_settings(name), find_system(TRAINING_SYSTEMS[name])
    run = _list_rows(system.load(), system.defaults())
    known = [replace(each, name=f"run.{each.name}") for each in run]
    for prefix in _TRAINER_SECTIONS:
        known += [replace(each, name=f"{prefix}{each.name.partition('.')[2]}") for each in _list_trainers()]
    return _leave_out(_list_rows(training.load(None), training.defaults()), known)


def _leave_out(rows: Iterable[SettingReference], known: Iterable[SettingReference]) -> Iterator[SettingReference]:
    """Yield the settings that are not among known ones, or differ from them."""
    facts = {each.name: (each.default, each.description) for each in known}
    return (each for each in rows if facts.get(each.name) != (each.default, each.description))


def _format_row(setting: SettingReference) -> list[str]:
    default = "required" if setting.is_required else f"`{format_value(setting.default)}`"
    kind = setting.type.replace('"', "").replace(" | ", " or ")
    facts = f"{kind}, {setting.bounds}" if setting.bounds else kind
    return [f"`{setting.name}`", default, f"{setting.description} ({facts})".replace("|", "\\|")]


SETTINGS_TABLES: dict[str, Drawn] = {
    f"settings of {name}": partial(_draw_table, name)
    for name in (_SHARED, "personalize", "clipr", "stars", "adapt", "basis", _TRAINERS, *TRAINING_SYSTEMS)
}
"""How each table of settings is drawn, by the name that a mark says."""
