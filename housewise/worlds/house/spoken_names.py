"""Converts keys of the data into the spoken names that planners and people use for rooms, receptacles and objects.

Housekeep's keys are file names (``bathroom_0-table_7_0.urdf``, ``picture_frame_1``). The spoken names are those of
LLM-Personalize (``bathroom 0 table 7``, ``picture frame 1``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from housewise.worlds.house.scene import Scene

HOUSE, ROBOT = "house", "robot"
"""Reserved names of the house and of the robot."""

_RECEPTACLE = re.compile(r"^(?P<room>[^-]+)-(?P<thing>.+)_\d+\.urdf$")
_NUMBER = re.compile(r"[_ ]\d+$")
_NUMBERS = re.compile(r" \d+\b")


def spoken_receptacle_name(key: str) -> str:
    """Return the spoken name of a receptacle: ``bathroom_0-table_7_0.urdf`` becomes ``bathroom 0 table 7``.

    A receptacle of no room (``none-...``) has a name without a room.

    Raises:
        ValueError: If the key has another form.
    """
    match = _RECEPTACLE.match(key.lower())
    if match is None:
        raise ValueError(f"receptacle key {key!r} is not of the form <room>_<n>-<kind>_<n>_<n>.urdf")
    thing = match["thing"].replace("_no_top", "").replace("_", " ")
    return thing if match["room"] == "none" else f"{spoken_name(match['room'])} {thing}"


def spoken_name(key: str) -> str:
    """Return the spoken name of an object, room or category: ``picture_frame_1`` becomes ``picture frame 1``."""
    return key.strip().replace("_", " ")


def remove_numbers(name: str) -> str:
    """Return a spoken name without its numbers: ``kitchen 0 counter 22`` becomes ``kitchen counter``."""
    return _NUMBERS.sub("", name)


def kind_from_name(name: str) -> str:
    """Return the kind of a room key or name: ``living_room_0`` and ``living room 0`` become ``living room``."""
    return spoken_name(_NUMBER.sub("", name))


@dataclass(frozen=True)
class SpokenPlace:
    """A receptacle as people speak of it.

    Attributes:
        receptacle: Kind of receptacle, such as ``"shelf"``.
        room: Kind of the room in which it stands, or None.
    """

    receptacle: str
    room: str | None = None


def spoken_places(scene: Scene) -> dict[str, SpokenPlace]:
    """Return the receptacles of a house, by name, as people speak of them."""
    rooms = {room.name: room.kind for room in scene.rooms}
    return {
        place.name: SpokenPlace(place.kind, rooms[place.room] if place.room else None) for place in scene.receptacles
    }
