"""Upgrades records of version 1, which knew only houses, to the form of version 2.

Version 1 had flat lines, a first line of type ``episode``, and settings without sections. The fields get the names
of version 2 here, such as ``run``, ``setting`` and ``ended``. ``core.migrations.record_fields`` then renames them, as
it does in every record of version 2. Only settings get their current names here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from housewise.core.record import Header, Result, Usage
from housewise.core.record_files import RecordLine
from housewise.core.settings_loading import drop_unknown_keys, place_in_sections
from housewise.systems.personalize.settings import PersonalizeSettings

_INITIAL_STATE = ("scene", "episode", "task_set", "simulator", "rooms", "placements", "correct")
_USAGE = tuple(Usage.model_fields)
_NOT_SCORES = {"ended", "placements", *_USAGE}


def migrate_version_1(lines: Sequence[RecordLine]) -> list[RecordLine]:
    """Return the lines of a version 1 record in the form of version 2. Damaged lines stay damaged."""
    base = PersonalizeSettings().model_dump(mode="json")
    return [_upgrade_line(line, base) for line in lines]


def _upgrade_line(line: RecordLine, base: Mapping[str, Any]) -> RecordLine:
    if line.type == "episode":
        return RecordLine(Header.type, _header(line.data, base))
    if line.type == Result.type:
        return RecordLine(Result.type, _result(line.data))
    return line


def _header(data: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    config, scene, episode = data.get("config"), data.get("scene"), data.get("episode")
    flat = config if isinstance(config, dict) else {}
    group = f"{scene}/{data['task_set']}" if data.get("task_set") else scene
    has_number = isinstance(episode, int)
    return {
        **{key: data[key] for key in ("run", "seed", "software", "started") if key in data},
        "system": "personalize",
        # Without a number, reading the initial state fails with an error that names the field.
        "task": f"{scene}-{episode:04d}" if has_number else str(scene),
        "group": group,
        "agent": data.get("planner"),
        "person": str(flat.get("person", "majority")),
        "models": {"agent": data["model"]} if data.get("model") else {},
        "settings": place_in_sections(drop_unknown_keys(flat, base), base, "the record"),
        "setting": {key: data[key] for key in _INITIAL_STATE if key in data},
    }


def _result(data: Mapping[str, Any]) -> dict[str, Any]:
    scores = {key: value for key, value in data.items() if key not in _NOT_SCORES}
    actions, ended = data.get("actions"), data.get("ended")
    if isinstance(actions, int) and actions:
        scores["executability"] = data.get("succeeded", 0) / actions
    scores["complete"] = float(ended == "complete")
    return {
        "ended": ended,
        "scores": scores,
        "usage": {key: data[key] for key in _USAGE if key in data},
        "final": {"placements": data.get("placements")},
    }
