"""``housewise settings``: all settings of a system, a planner or a self-training."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from housewise.core.console import Console
from housewise.core.errors import UserError, suggest_names
from housewise.core.plugins import PLANNERS, SYSTEMS, plugin_names
from housewise.selftrain.training_settings import TRAINING_SYSTEMS, find_training_settings
from housewise.terminal.options import option

if TYPE_CHECKING:
    from pydantic import BaseModel

    from housewise.core.settings_reference import SettingReference, SettingSection

_PLANNER_SECTION = "agent"
_LONGEST_VALUE = 60


def _list_names() -> list[str]:
    return [*plugin_names(SYSTEMS), *plugin_names(PLANNERS), *TRAINING_SYSTEMS]


def settings(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A system or a planner (see housewise list), or a training: selftrain, selftrain-goals (STARS), "
            "selftrain-adapt, selftrain-guidance (BASIS).",
            autocompletion=_list_names,
        ),
    ],
    config: Annotated[
        Path | None, option("NAME|FILE", "Configuration whose values are shown beside the defaults.", names="configs")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    as_yaml: Annotated[bool, typer.Option("--yaml", help="Print a file for --config, with all values.")] = False,
) -> None:
    """Print all settings of a system, a planner or a self-training: type, default, bounds and description.

    Examples:

      housewise settings personalize

      housewise settings personalize --yaml > my.yaml

      housewise settings personalize --config paper

      housewise settings selftrain --json

    Settings are given on the command line as KEY=VALUE, or in the YAML file of --config. A name may be written without
    its section if no other section has it: housewise run max_steps=500.
    """
    from housewise.core.settings_reference import format_settings_yaml

    if as_json and as_yaml:
        raise UserError("--json and --yaml: give one of them")
    found = _find_sections(name, config)
    if as_json:
        rows = [asdict(each) for section in found for each in section.settings]
        Console().print(json.dumps(rows, indent=1), highlight=False, soft_wrap=True, markup=False)
    elif as_yaml:
        Console().print(
            format_settings_yaml(name, found, str(config or "")), highlight=False, soft_wrap=True, markup=False, end=""
        )
    else:
        _print_tables([each for each in found if each.settings], str(config or "the other defaults"))


def _print_tables(sections: Sequence[SettingSection], source: str) -> None:
    """Print a table for each section.

    Args:
        sections: The sections.
        source: What values that are no defaults follow from.
    """
    console = Console()
    names = [each.name.rpartition(".")[2] for section in sections for each in _list_with_items(section.settings)]
    for number, section in enumerate(sections):
        if number:
            console.print()
        if section.name:
            console.print(Text(section.name, "bold"))
        if section.description:
            console.print(Text(section.description))
        console.print(_build_table(section.settings, max(map(len, names)), source))


def _find_sections(name: str, config: Path | None) -> list[SettingSection]:
    """Return the sections of settings.

    Args:
        name: Name of a system, a planner or a training.
        config: File or bundled configuration, or None for the defaults.

    Raises:
        UserError: There is no such system, planner, training or configuration.
    """
    from housewise.core.settings import merge_nested, nested_differences
    from housewise.core.settings_loading import plain_defaults
    from housewise.core.settings_reference import list_sections

    loaded, base = _load(name, config)
    defaults = plain_defaults(base)
    if name in plugin_names(PLANNERS):
        defaults = merge_nested(defaults, {_PLANNER_SECTION: {"planner": name}})
    derived = nested_differences(loaded.model_dump(mode="json"), defaults)
    if name in plugin_names(PLANNERS):
        part, section = getattr(loaded, _PLANNER_SECTION), _PLANNER_SECTION
        own = set(_keys_of_planner(part, name))
        found = list_sections(part, section, defaults[section], derived.get(section))
        kept = (replace(each, settings=tuple(row for row in each.settings if row.name in own)) for each in found)
        return [each for each in kept if each.settings]
    return list(list_sections(loaded, "", defaults, derived))


def _keys_of_planner(settings: BaseModel, name: str) -> Iterator[str]:
    """Yield the dotted keys of the settings that concern a planner."""
    from housewise.core.setting_effects import list_marked_settings
    from housewise.systems.personalize.planners import reads_model_settings

    has_model = reads_model_settings(name)
    for each in list_marked_settings(settings, f"{_PLANNER_SECTION}."):
        if each.has_effect(has_model):
            yield each.key


def _load(name: str, config: Path | None) -> tuple[BaseModel, Mapping[str, Any]]:
    """Return settings in which only a configuration is set, and the default of every setting.

    Raises:
        UserError: See ``_find_sections``.
    """
    from housewise.rollout.system import find_system

    if name in plugin_names(SYSTEMS):
        return find_system(name).load(config), find_system(name).defaults()
    if name in plugin_names(PLANNERS):
        system = find_system("personalize")
        return system.load(config, overrides=[f"planner={name}"]), system.defaults()
    if name not in TRAINING_SYSTEMS:
        raise UserError(f"no settings of {name!r}; {suggest_names(name, _list_names())}")
    training = find_training_settings(name)
    return training.load(config), training.defaults()


def _list_with_items(settings: Iterable[SettingReference]) -> Iterator[SettingReference]:
    """Yield settings, each followed by the settings of its items."""
    for setting in settings:
        yield setting
        yield from (replace(item, name=f"  {item.name}") for item in setting.items)


def _build_table(settings: Iterable[SettingReference], width: int, source: str) -> Table:
    """Build a table of the settings of one section.

    Args:
        settings: The settings.
        width: Width of the longest name.
        source: What values that are no defaults follow from.
    """
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=width + 2)
    grid.add_column(overflow="fold")
    for setting in _list_with_items(settings):
        grid.add_row(Text(f"  {setting.name.rpartition('.')[2]}", "cyan"), _describe(setting, source))
    return grid


def _describe(setting: SettingReference, source: str) -> Text:
    bounds = f", {setting.bounds}" if setting.bounds else ""
    default = "required" if setting.is_required else f"default {_shorten(setting.default)}"
    derived = f" ({_shorten(setting.derived)} with {source})" if setting.is_derived else ""
    text = Text(f"{setting.description}\n" if setting.description else "")
    return text.append(f"{setting.type}{bounds}; {default}{derived}", "dim")


def _shorten(value: Any) -> str:
    return textwrap.shorten(json.dumps(value, ensure_ascii=False), _LONGEST_VALUE, placeholder=" ...")
