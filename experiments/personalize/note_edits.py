"""Notes that a person edits by hand, each in a small generated house whose episode depends on it.

A note says that an object belongs where the person does not want it at all, so that nothing but the note can tell.
After the edit it names another such place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from housewise.experiments.measured_values import MeasuredValue
from housewise.people.house.reaction_notes import reaction_note
from housewise.people.memory import Memory, MemoryFolder
from housewise.rollout.run import Run
from housewise.systems.personalize.record import read_house_records
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.episode import HouseObject, ShelfState
from housewise.worlds.house.shelf_packing import ShelfPacker
from housewise.worlds.house.spoken_names import SpokenPlace, kind_from_name, spoken_places
from housewise.worlds.house.tasks import generated_task

SEED = 9400
"""Seed of the first house. Nothing is learned in any house from there on."""

_PERSON = "majority"
_OBJECTS, _MISPLACED = (2, 4), (1, 2)


@dataclass(frozen=True)
class NotedObject:
    """An object that a note is about.

    Attributes:
        house: Seed of the house.
        name: Name of the object.
        wanted: Place that the note names, before and after the edit.
        places: Receptacles of the house by name, as people speak of them.
    """

    house: int
    name: str
    wanted: tuple[SpokenPlace, SpokenPlace]
    places: dict[str, SpokenPlace]


def follow_notes(
    planner: str, edited: bool, notes: int, adapter: str | None = None, meaning: bool | None = None
) -> Iterator[MeasuredValue]:
    """Yield for each note whether the object ends where it says.

    Args:
        planner: Planner of the robot.
        edited: Whether the notes are edited first.
        notes: Number of houses, with one note each.
        adapter: Adapter of the model.
        meaning: Whether notes of similar meaning are recalled as well; see ``MemorySettings``.
    """
    objects = choose_objects(notes)
    with TemporaryDirectory() as folder:
        MemoryFolder(Path(folder) / "memory").save(_write_memory(objects, edited))
        memory = {"folder": str(Path(folder) / "memory"), "start": _PERSON, "learn": "never", "meaning": meaning}
        tasks = {"houses": notes, "seed": SEED, "objects": _OBJECTS, "misplaced": _MISPLACED, "person": _PERSON}
        asked = {"planner": planner, **({"adapter": adapter} if adapter else {})}
        run = Run(Personalize(house_settings(settings={**tasks, **asked, "memory": memory})), Path(folder) / "run")
        run.play()
        ended = {each.initial_state.episode: each.final.placements for each in read_house_records(run.episodes)}
    for each in objects:
        place = each.places.get(ended[each.house][each.name])
        yield MeasuredValue(f"generated-{each.house}", 0, "followed", float(place == each.wanted[edited]))


def choose_objects(houses: int) -> list[NotedObject]:
    """Return an object in each of so many houses, each of another kind."""
    found: list[NotedObject] = []
    for seed in range(SEED, SEED + houses):
        task = generated_task(seed, _PERSON, objects=_OBJECTS, misplaced=_MISPLACED)
        used = {kind_from_name(each.name) for each in found}
        candidates = (_note_object(seed, task, thing, used) for thing in task.episode.objects)
        found += [each for each in candidates if each is not None][:1]
    return found


def _note_object(seed: int, task: RearrangementTask, thing: HouseObject, used: set[str]) -> NotedObject | None:
    """Return an object with two places for a note; None if there are none, or its kind is used."""
    places = spoken_places(task.scene)
    wanted = {places[task.scene.by_key[key].name] for key in (*thing.correct, thing.receptacle)}
    roomy = [task.scene.by_key[key].name for key in task.episode.receptacles if _has_room(task, key, thing)]
    free = sorted({places[name] for name in roomy} - wanted, key=str)
    if kind_from_name(thing.name) in used or len(free) < 2:
        return None
    one, other = np.random.default_rng(seed).permutation(len(free))[:2]
    return NotedObject(seed, thing.name, (free[one], free[other]), places)


def _has_room(task: RearrangementTask, key: str, thing: HouseObject) -> bool:
    place = task.scene.by_key[key]
    empty = ShelfState((place.box.low[0], place.box.low[2]), (place.box.size[0], place.box.size[2]))
    shelves = ShelfPacker(task.episode.shelves.get(key, empty))
    return place.usable and place.room is not None and bool(shelves.insert(thing.key, thing.size[0], thing.size[2]))


def _write_memory(objects: list[NotedObject], edited: bool) -> Memory:
    """Return a memory with a note about each object."""
    memory = Memory(_PERSON)
    notes = [memory.add(reaction_note(_PERSON, each.name, each.wanted[0], True)) for each in objects]
    for each, note in zip(objects, notes, strict=True) if edited else ():
        new = reaction_note(_PERSON, each.name, each.wanted[1], True)
        memory.edit(note.id, text=new.text, about=new.about.model_dump())
    return memory
