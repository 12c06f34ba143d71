"""Records of version 1, which knew houses alone: flat lines, settings without sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from housewise.core.record import Header, RecordLine, Result, Usage
from housewise.core.settings import drop_unknown_keys, place_in_sections
from housewise.systems.personalize.settings import PersonalizeSettings

_SETTING = ("scene", "episode", "task_set", "simulator", "rooms", "placements", "correct")
_USAGE = tuple(Usage.model_fields)
_NOT_SCORES = {"ended", "placements", *_USAGE}


def upgraded(lines: Sequence[RecordLine]) -> list[RecordLine]:
    """Lines of version 1 in today's form; what is damaged stays so.

    Args:
        lines: of a record.
    """
    base = PersonalizeSettings().model_dump(mode="json")
    return [_upgraded(line, base) for line in lines]


def _upgraded(line: RecordLine, base: Mapping[str, Any]) -> RecordLine:
    if line.type == "episode":
        return RecordLine(Header.type, _header(line.data, base))
    if line.type == Result.type:
        return RecordLine(Result.type, _result(line.data))
    return line


def _header(data: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    config, scene, episode = data.get("config"), data.get("scene"), data.get("episode")
    flat = config if isinstance(config, dict) else {}
    group = f"{scene}/{data['task_set']}" if data.get("task_set") else scene
    numbered = isinstance(episode, int)
    return {
        **{key: data[key] for key in ("run", "seed", "software", "started") if key in data},
        "system": "personalize",
        # Without a number the setting is refused below, with its field named.
        "task": f"{scene}-{episode:04d}" if numbered else str(scene),
        "group": group,
        "agent": data.get("planner"),
        "person": str(flat.get("person", "majority")),
        "models": {"agent": data["model"]} if data.get("model") else {},
        "settings": place_in_sections(drop_unknown_keys(flat, base), base, "the record"),
        "setting": {key: data[key] for key in _SETTING if key in data},
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
