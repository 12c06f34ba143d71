from typing import Any

from housewise.core.record import Header
from housewise.worlds.house.env import Task


def header(task: Task, **changes: Any) -> Header:
    """A record's first line for a task."""
    names = {place.key: place.name for place in task.scene.receptacles}
    fields: dict[str, Any] = {
        "scene": task.scene.name,
        "episode": task.episode.id,
        "run": 0,
        "seed": 0,
        "planner": "scripted",
        "simulator": "raycast",
        "rooms": [room.name for room in task.scene.rooms],
        "placements": {thing.name: names[thing.receptacle] for thing in task.episode.objects},
        "correct": {thing.name: sorted(names[key] for key in thing.correct) for thing in task.episode.objects},
    }
    return Header(**{**fields, **changes})
