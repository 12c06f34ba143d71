"""How a prompt names things: full names, or shorter ones where they stay clear. An addition to the paper's prompt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from housewise.worlds.house.scene_graph import SceneGraph
from housewise.worlds.house.spoken_names import remove_numbers

Naming = Literal["full", "short", "plain"]
"""Full names; receptacles without their rooms; or everything without its numbers. Ambiguous names stay full."""


def shorten_names(graph: SceneGraph, naming: Naming) -> dict[str, str]:
    """Return the names used in the prompt by full name, of things whose names differ."""
    if naming == "full":
        return {}
    candidates = _names_without_rooms(graph) if naming == "short" else _names_without_numbers(graph)
    resolve = graph.vocabulary.resolve
    clear = {
        name: next((short for short in shorts if resolve(short).name == name), None) for name, shorts in candidates
    }
    return {name: short for name, short in clear.items() if short is not None}


def _names_without_rooms(graph: SceneGraph) -> Iterator[tuple[str, list[str]]]:
    """Yield receptacles, each with its name without the room."""
    for room in graph.rooms:
        for place in graph.contents_of(room):
            yield place, [place.removeprefix(f"{room} ")]


def _names_without_numbers(graph: SceneGraph) -> Iterator[tuple[str, list[str]]]:
    """Yield all names without their numbers, and receptacles also without their rooms' numbers, shortest first."""
    for name in (*graph.rooms, *graph.objects):
        yield name, [remove_numbers(name)]
    for room in graph.rooms:
        for place in graph.contents_of(room):
            yield place, [remove_numbers(place), remove_numbers(room) + place.removeprefix(room)]
