"""The names by which planners and people speak of rooms, receptacles and objects.

Housekeep's keys are file names (``bathroom_0-table_7_0.urdf``, ``picture_frame_1``); the spoken
names are those of LLM-Personalize (``bathroom 0 table 7``, ``picture frame 1``).
"""

from __future__ import annotations

import re

HOUSE, ROBOT = "house", "robot"
"""What the house as a whole and the robot are called; nothing in the house may be."""

_RECEPTACLE = re.compile(r"^(?P<room>[^-]+)-(?P<thing>.+)_\d+\.urdf$")
_NUMBER = re.compile(r"[_ ]\d+$")
_NUMBERS = re.compile(r" \d+\b")


def spoken_receptacle(key: str) -> str:
    """``bathroom_0-table_7_0.urdf`` becomes ``bathroom 0 table 7``; roomless things lose the room.

    Raises:
        ValueError: when the key is not of that form.
    """
    match = _RECEPTACLE.match(key.lower())
    if match is None:
        raise ValueError(f"receptacle key {key!r} is not of the form <room>_<n>-<kind>_<n>_<n>.urdf")
    thing = match["thing"].replace("_no_top", "").replace("_", " ")
    return thing if match["room"] == "none" else f"{spoken(match['room'])} {thing}"


def spoken(key: str) -> str:
    """``picture_frame_1`` becomes ``picture frame 1``."""
    return key.strip().replace("_", " ")


def without_numbers(name: str) -> str:
    """``kitchen 0 counter 22`` becomes ``kitchen counter``."""
    return _NUMBERS.sub("", name)


def kind_of(name: str) -> str:
    """``kitchen_0`` becomes ``kitchen``, ``living_room_0`` and ``living room 0`` become ``living room``."""
    return spoken(_NUMBER.sub("", name))
