"""Generates rooms with tasks, at random from furniture and objects of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from housewise.agent.stars.data_files import Name, Word, build_task, read_data_file
from housewise.agent.stars.tasks import StarsTask
from housewise.agent.stars.vocabulary import RobotVocabulary
from housewise.core.errors import DataError
from housewise.core.validation import StrictModel
from housewise.selftrain.stars.held_out_objects import held_out_nouns
from housewise.worlds.kitchen.state import Relation

_OFTEN_SHARE = 0.75


class SubtaskPlace(StrictModel):
    """A place where objects are found, and the subtask of tidying it."""

    place: Name
    relation: Relation
    subtask: Word


class RoomKind(StrictModel):
    """A kind of room.

    Attributes:
        room: Name of the room.
        tasks: Names that a task there may have.
        always, often: Furniture that is always, or often, there.
        places: Places with objects, in the order of work.
    """

    room: Word
    tasks: Annotated[tuple[Name, ...], Field(min_length=1)]
    always: tuple[Name, ...]
    often: tuple[Name, ...]
    places: tuple[SubtaskPlace, ...]


class ObjectGroup(StrictModel):
    """Objects of one kind.

    Attributes:
        kind: Their kind.
        found: Furniture where they may be found.
        wanted: Lists of furniture; they belong on the pieces of the first list that has any in the room.
        names: Their names.
        plural: Whether their names take "are".
    """

    kind: Word
    found: tuple[Name, ...]
    wanted: tuple[tuple[Name, ...], ...]
    names: tuple[Word, ...]
    plural: bool = False

    def wanted_places(self, there: Collection[str]) -> list[str]:
        """Return where they belong among the furniture of a room."""
        return next((fits for each in self.wanted if (fits := [name for name in each if name in there])), [])


class RoomParts(StrictModel):
    """The parts that rooms are generated from."""

    name: str
    rooms: Annotated[tuple[RoomKind, ...], Field(min_length=1)]
    things: tuple[ObjectGroup, ...]


def load_room_parts(name_or_path: str) -> RoomParts:
    """Load parts of rooms from a bundled file, by name, or from the user's file.

    Raises:
        UserError: There is no such file, or it is invalid; the message names file, field and remedy.
    """
    found, source = read_data_file(name_or_path, RoomParts)
    known = {name for group in found.things for name in group.names}
    if leaked := sorted(known & held_out_nouns()):
        raise DataError(f"{source}: {leaked[0]} is held out for evaluation; remove it")
    return found


def generate_room(
    parts: RoomParts, vocabulary: RobotVocabulary, things: tuple[int, int], seed: Sequence[int]
) -> tuple[StarsTask, RobotVocabulary]:
    """Generate a room with a task, and the vocabulary for it.

    Args:
        parts: Parts of rooms.
        vocabulary: Kinds and affordances.
        things: Smallest and largest number of objects.
        seed: Seed of the random number generator.

    Raises:
        DataError: The parts do not fit together.
    """
    rng = np.random.default_rng(seed)
    room = parts.rooms[rng.integers(len(parts.rooms))]
    there = [*room.always, *(name for name in room.often if rng.uniform() < _OFTEN_SHARE)]
    spots = [spot for spot in room.places if spot.place in there]
    possible = [
        (name, group, spot)
        for group in parts.things
        if group.wanted_places(there)
        for name in group.names
        for spot in spots
        if spot.place in group.found
    ]
    if not possible:
        raise DataError(
            f"{parts.name}: field things: none is found in places of the room {room.room} and wanted on furniture "
            "there; add one, or correct found and wanted"
        )
    found: dict[str, list[dict[str, Any]]] = {spot.place: [] for spot in spots}
    named: set[str] = set()
    max_things = int(rng.integers(things[0], things[1] + 1))
    shares = _balanced_probabilities([tuple(group.wanted_places(there)) for _, group, _ in possible])
    for index in rng.choice(len(possible), len(possible), replace=False, p=shares):
        name, group, spot = possible[index]
        if len(named) < max_things and name not in named:
            named.add(name)
            wanted = group.wanted_places(there)
            found[spot.place].append({"name": name, "kind": group.kind, "wanted": wanted, "plural": group.plural})
    content = {
        "name": room.tasks[rng.integers(len(room.tasks))],
        "room": room.room,
        "fixtures": [there[index] for index in rng.permutation(len(there))],
        "places": [{**spot.model_dump(), "objects": found[spot.place]} for spot in spots],
    }
    return build_task(content, vocabulary, parts.name)


def _balanced_probabilities(places: Sequence[Hashable]) -> list[float]:
    """Return a probability for each object, so that every list of places has the same total."""
    counts = Counter(places)
    return [1 / (counts[place] * len(counts)) for place in places]
