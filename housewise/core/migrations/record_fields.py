"""Former names of fields in records: they are read under either name, and written under the current one."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from housewise.core.migrations.keys import rename_keys

FRAME_FIELDS: Mapping[str, Mapping[str, str]] = {
    "header": {"run": "repetition", "setting": "initial_state"},
    "result": {"ended": "end_reason"},
}
"""Current name by former name, by type of line, in records of every system."""

SYSTEM_FIELDS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "personalize": {
        "plan": {"tried": "alternatives", "earlier": "prior_calls", "choices": "choice_count", "known": "scene_graph"},
        "plan.alternatives": {"done": "succeeded_steps", "moved": "moved_objects", "discovered": "discovered_count"},
        "action": {"aimed": "aim_targets", "low_level": "low_level_actions", "moved": "moves"},
    },
    "clipr": {"header.initial_state": {"answered": "remembered_answers", "known": "remembered_rules"}},
    "stars": {
        "object": {"seen": "description"},
        "retrieved": {"asked": "usage"},
        "repair": {"asked": "usage", "wrong": "refused_goal"},
        "selection": {"asked": "usage"},
        "goal": {"by": "source"},
    },
    "adapt": {
        "header.initial_state": {"told": "remembered_answers"},
        "action": {"made": "prepared_food", "said": "text"},
        "result.final": {"made": "prepared_food"},
    },
}
"""The same by system. ``plan.alternatives`` stands for each part of the field ``alternatives`` of a plan."""


FORMER_VALUES: Mapping[str, Mapping[str, Mapping[str, Mapping[str, str]]]] = {
    "personalize": {"header": {"agent": {"store": "memory_lookup", "nearest": "memory_nearest"}}},
}
"""Current value by former value of a field, by system, type of line and field."""


def rename_former_fields(system: str, kind: str, data: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the data of a record's line under current names.

    Args:
        system: Name of the record's system.
        kind: Type of the line.
        data: The data, not yet validated.
        where: File and line, for the message.

    Raises:
        UserError: A field is given under both names.
    """
    fields = _fields_of(system)
    renamed = _rename(data, fields.get(kind, {}), f"{where}: {kind}")
    for field, values in FORMER_VALUES.get(system, {}).get(kind, {}).items():
        if isinstance(value := renamed.get(field), str):
            renamed[field] = values.get(value, value)
    for place, names in fields.items():
        owner, _, field = place.partition(".")
        if owner != kind or field not in renamed:
            continue
        value, inside = renamed[field], f"{where}: {place}"
        if isinstance(value, list):
            renamed[field] = [_rename(each, names, inside) if isinstance(each, dict) else each for each in value]
        elif isinstance(value, dict):
            renamed[field] = _rename(value, names, inside)
    return renamed


@functools.cache
def _fields_of(system: str) -> Mapping[str, Mapping[str, str]]:
    return {**FRAME_FIELDS, **SYSTEM_FIELDS.get(system, {})}


def _rename(data: Mapping[str, Any], names: Mapping[str, str], where: str) -> dict[str, Any]:
    return rename_keys(
        data,
        names,
        lambda former, now: f"{where}: {former} is the former name of {now}, and both are given; remove {former}",
    )
