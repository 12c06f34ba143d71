"""One note edited by hand, and the next episode has to follow it: small generated houses that each turn on one note.

A note says that a thing belongs somewhere where the person does not want it at all, so that nothing but the note can
tell; then it is edited, and says the same of another such place.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from housewise.experiments.personalize.households import Setup, Stage
from housewise.people.house.reaction_notes import SpokenPlace, reaction_note, spoken_places
from housewise.people.memory import Memory, MemoryFolder
from housewise.selftrain.training_folder import TrainingObserver
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.episode import HouseObject, ShelfState
from housewise.worlds.house.shelf_packing import ShelfPacker
from housewise.worlds.house.spoken_names import kind_from_name
from housewise.worlds.house.tasks import generated_task

SEED = 9400
"""Of the first house; nothing is learned in any from there on."""
BEFORE, AFTER = "before", "after"

_PERSON = "majority"
_OBJECTS, _MISPLACED = (2, 4), (1, 2)


@dataclass(frozen=True)
class Turn:
    """An episode that turns on one note.

    Attributes:
        number: of the house.
        thing: that the note is about, by name.
        said: where it belongs, by what the note says before and after it is edited.
        places: the receptacles of the house by name, as people speak of them.
    """

    number: int
    thing: str
    said: dict[str, SpokenPlace]
    places: dict[str, SpokenPlace]


@dataclass(frozen=True)
class SmallHouses:
    """The small houses, as tasks; see households.Tasked."""

    number: int
    name: str = _PERSON

    def tasks(self, which: str) -> dict[str, Any]:
        """See households.Tasked."""
        size = {"objects": _OBJECTS, "misplaced": _MISPLACED}
        return {"data": None, "person": _PERSON, "houses": self.number, "seed": SEED, **size}


def turns(number: int) -> list[Turn]:
    """A turn in each of so many houses, each about another kind of thing."""
    found: list[Turn] = []
    for seed in range(SEED, SEED + number):
        task = generated_task(seed, _PERSON, objects=_OBJECTS, misplaced=_MISPLACED)
        used = {kind_from_name(turn.thing) for turn in found}
        turn = next((made for thing in task.episode.objects if (made := _turn(seed, task, thing, used))), None)
        if turn is not None:
            found.append(turn)
    return found


def _turn(seed: int, task: RearrangementTask, thing: HouseObject, used: set[str]) -> Turn | None:
    """A turn about a thing, unless there are no two kinds of place for it, or a thing of its kind had one."""
    places = spoken_places(task.scene)
    wanted = {places[task.scene.by_key[key].name] for key in (*thing.correct, thing.receptacle)}
    roomy = [task.scene.by_key[key].name for key in task.episode.receptacles if _has_room(task, key, thing)]
    free = sorted({places[name] for name in roomy} - wanted, key=str)
    if kind_from_name(thing.name) in used or len(free) < 2:
        return None
    one, other = np.random.default_rng(seed).permutation(len(free))[:2]
    return Turn(seed, thing.name, {BEFORE: free[one], AFTER: free[other]}, places)


def _has_room(task: RearrangementTask, key: str, thing: HouseObject) -> bool:
    place = task.scene.by_key[key]
    empty = ShelfState((place.box.low[0], place.box.low[2]), (place.box.size[0], place.box.size[2]))
    shelves = ShelfPacker(task.episode.shelves.get(key, empty))
    return place.usable and place.room is not None and bool(shelves.insert(thing.key, thing.size[0], thing.size[2]))


class Edited:
    """Episodes before and after notes were edited.

    Args:
        number: how many.
        folder: for everything.
    """

    def __init__(self, number: int, folder: Path) -> None:
        self._houses, self._folder = SmallHouses(number), folder
        self.turns = turns(number)

    def play(self, row: str, planner: str, setup: Setup, observer: TrainingObserver) -> None:
        """Play what is missing of a row."""
        for which, memory in self._memories().items():
            self._stage(row, which).measure(setup.settings(planner), memory, observer)

    def count_followed_notes(self, row: str) -> dict[str, Any]:
        """How many notes were followed before and after they were edited, and what became of each thing."""
        ended = {
            which: {
                record.initial_state.episode: record.final.placements for record in self._stage(row, which).records()
            }
            for which in (BEFORE, AFTER)
        }
        each: list[dict[str, Any]] = []
        counts = dict.fromkeys(ended, 0)
        for turn in self.turns:
            told: dict[str, Any] = {"house": turn.number, "thing": turn.thing}
            for which, said in turn.said.items():
                if placements := ended[which].get(turn.number):
                    place = placements[turn.thing]
                    counts[which] += turn.places.get(place) == said
                    told[which] = {"said": f"{said.room} {said.receptacle}", "ended": place}
            each.append(told)
        return {"notes": len(self.turns), "followed": counts, "each": each}

    def _memories(self) -> dict[str, Path]:
        """Folders of the memory before and after its notes are edited, made where they are not."""
        folders = {which: self._folder / "memories" / which for which in (BEFORE, AFTER)}
        if _PERSON not in MemoryFolder(folders[AFTER]).people():
            memory = Memory(_PERSON)
            notes = [memory.add(reaction_note(_PERSON, turn.thing, turn.said[BEFORE], True)) for turn in self.turns]
            MemoryFolder(folders[BEFORE]).save(memory)
            for turn, note in zip(self.turns, notes, strict=True):
                told = reaction_note(_PERSON, turn.thing, turn.said[AFTER], True)
                memory.edit(note.id, text=told.text, about=told.about.model_dump())
            MemoryFolder(folders[AFTER]).save(memory)
        return folders

    def _stage(self, row: str, which: str) -> Stage:
        return Stage(self._houses, which, self._folder / row / which, f"notes {which} they are edited, {row}", 1)
