"""Rooms that do not exist, with tasks to do in them, put together at random from furniture and things."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from housewise.agent.stars.data_files import Name, Word, build_task, read_data_file
from housewise.agent.stars.tasks import StarsTask
from housewise.agent.stars.vocabulary import RobotVocabulary
from housewise.core.errors import DataError
from housewise.selftrain.stars.share import held_out
from housewise.worlds.kitchen.state import Relation

_OFTEN = 0.75


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Spot(_Part):
    """Where things are found, and what is done with them."""

    place: Name
    relation: Relation
    subtask: Word


class RoomKind(_Part):
    """One kind of rooms.

    Attributes:
        room: what it is called.
        tasks: what may be said.
        always, often: furniture.
        places: in the order of work.
    """

    room: Word
    tasks: tuple[Name, ...]
    always: tuple[Name, ...]
    often: tuple[Name, ...]
    places: tuple[Spot, ...]


class Things(_Part):
    """Things that belong together.

    Attributes:
        kind: of all of them.
        found: where they may be found.
        wanted: in anything of the first list of which something is there.
        names: what they are called.
        plural: whether one says "are" of them.
    """

    kind: Word
    found: tuple[Name, ...]
    wanted: tuple[tuple[Name, ...], ...]
    names: tuple[Word, ...]
    plural: bool = False

    def belong(self, there: Collection[str]) -> list[str]:
        """Where they belong among the furniture that is there."""
        return next((fits for each in self.wanted if (fits := [name for name in each if name in there])), [])


class Households(_Part):
    """What rooms are put together from."""

    name: str
    rooms: tuple[RoomKind, ...]
    things: tuple[Things, ...]


def load_households(name_or_path: str) -> Households:
    """What rooms are put together from, of a file that comes with the package or of the user's.

    Raises:
        UserError: when there is no such file, or it is none; the message names file, field and remedy.
    """
    found, source = read_data_file(name_or_path, Households)
    known = {name for group in found.things for name in group.names}
    if leaked := sorted(known & held_out()):
        raise DataError(f"{source}: {leaked[0]} is kept for measuring; take it out")
    return found


def household(
    parts: Households, vocabulary: RobotVocabulary, things: tuple[int, int], seed: Sequence[int]
) -> tuple[StarsTask, RobotVocabulary]:
    """A room with a task, and the words for it.

    Args:
        parts: what it is put together from.
        vocabulary: gives kinds and affordances.
        things: fewest and most of them.
        seed: the same makes the same room.

    Raises:
        DataError: when the parts do not fit together.
    """
    rng = np.random.default_rng(seed)
    room = parts.rooms[rng.integers(len(parts.rooms))]
    there = [*room.always, *(name for name in room.often if rng.uniform() < _OFTEN)]
    spots = [spot for spot in room.places if spot.place in there]
    possible = [
        (name, group, spot)
        for group in parts.things
        if group.belong(there)
        for name in group.names
        for spot in spots
        if spot.place in group.found
    ]
    found: dict[str, list[dict[str, Any]]] = {spot.place: [] for spot in spots}
    named: set[str] = set()
    most = int(rng.integers(things[0], things[1] + 1))
    shares = _evenly([tuple(group.belong(there)) for _, group, _ in possible])
    for index in rng.choice(len(possible), len(possible), replace=False, p=shares):
        name, group, spot = possible[index]
        if len(named) < most and name not in named:
            named.add(name)
            wanted = group.belong(there)
            found[spot.place].append({"name": name, "kind": group.kind, "wanted": wanted, "plural": group.plural})
    content = {
        "name": room.tasks[rng.integers(len(room.tasks))],
        "room": room.room,
        "fixtures": [there[index] for index in rng.permutation(len(there))],
        "places": [{**spot.model_dump(), "objects": found[spot.place]} for spot in spots],
    }
    return build_task(content, vocabulary, parts.name)


def _evenly(places: Sequence[Hashable]) -> list[float]:
    """How likely each of several things is drawn, so that no place has more than others for having more things."""
    counts = Counter(places)
    return [1 / (counts[place] * len(counts)) for place in places]
