"""``housewise settings``: all settings of a system, a planner or a self-training."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from housewise.core.console import Console
from housewise.core.errors import UserError, suggest_names
from housewise.core.plugins import PLANNERS, SYSTEMS, plugin_names

if TYPE_CHECKING:
    from pydantic import BaseModel

    from housewise.core.settings_reference import SettingReference

_TRAININGS = ("selftrain", "selftrain-goals")
_PLANNER_SECTION = "agent"


def _list_names() -> list[str]:
    return [*plugin_names(SYSTEMS), *plugin_names(PLANNERS), *_TRAININGS]


def settings(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A system or a planner (see housewise list), selftrain, or selftrain-goals (of STARS).",
            autocompletion=_list_names,
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print all settings of a system, a planner or a self-training: type, default, bounds and description.

    Examples:

      housewise settings personalize

      housewise settings selftrain --json

    Settings are given on the command line as KEY=VALUE, or in the YAML file of --config. A name may be written without
    its section if no other section has it: housewise run max_steps=500.
    """
    from housewise.core.settings_reference import list_settings

    found = list(list_settings(*_load_defaults(name)))
    if as_json:
        Console().print(json.dumps([asdict(each) for each in found], indent=1), highlight=False, soft_wrap=True)
        return
    console, width = Console(), max(len(each.name.rpartition(".")[2]) for each in found)
    for number, (section, rows) in enumerate(groupby(found, lambda each: each.name.rpartition(".")[0])):
        if number:
            console.print()
        if section:
            console.print(Text(section, "bold"))
        console.print(_build_table(rows, width))


def _load_defaults(name: str) -> tuple[BaseModel, str]:
    """Return default settings, and the dotted name of their section.

    Raises:
        UserError: No system, planner or training has this name.
    """
    from housewise.rollout.system import find_system

    if name in _TRAININGS:
        from housewise.selftrain.personalize.settings import load_selftraining
        from housewise.selftrain.stars.settings import load_goal_training

        return (load_selftraining() if name == "selftrain" else load_goal_training()), ""
    if name in plugin_names(SYSTEMS):
        return find_system(name).load(), ""
    if name in plugin_names(PLANNERS):
        loaded = find_system("personalize").load(overrides=[f"planner={name}"])
        agent: BaseModel = getattr(loaded, _PLANNER_SECTION)
        return agent, _PLANNER_SECTION
    raise UserError(f"no settings of {name!r}; {suggest_names(name, _list_names())}")


def _build_table(settings: Iterable[SettingReference], width: int) -> Table:
    """Build a table of the settings of one section.

    Args:
        settings: The settings.
        width: Width of the longest name.
    """
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=width + 2)
    grid.add_column(overflow="fold")
    for setting in settings:
        grid.add_row(Text(f"  {setting.name.rpartition('.')[2]}", "cyan"), _describe(setting))
    return grid


def _describe(setting: SettingReference) -> Text:
    default = json.dumps(setting.default, ensure_ascii=False)
    bounds = f", {setting.bounds}" if setting.bounds else ""
    text = Text(f"{setting.type}{bounds}; default {default}")
    return text.append(f"\n{setting.description}", "dim") if setting.description else text
