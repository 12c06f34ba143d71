"""What a scripted person remembers: things and their rooms, names heard, and where they have looked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from housewise.people.lab.grounding import (
    find_matches,
    is_common,
    is_furniture,
    is_small,
    plain_words,
    thing_words,
)
from housewise.people.lab.understanding import Instruction
from housewise.people.lab.views import SeenThing, UserView
from housewise.worlds.lab.actions import LabAction

TURNS_PER_SEARCH = 3
"""Turns of 90 degrees with which a person has seen all around."""
VISITS_PER_SEARCH = 4
"""Pieces of furniture that a person goes to in one search of a room."""


@dataclass
class UserMemory:
    """Memory of one session.

    Attributes:
        things: Things that were in view, by id.
        rooms: Rooms of the things, by id.
        aliases: Words by which a thing was called, by id.
        turned: Turns in the current search of a room, by room.
        visited: Furniture visited, by room.
        visits: Number of pieces of furniture visited in the current search, by room.
        searches: Number of searches of each room before the current one.
        searched: Rooms that have been searched.
    """

    things: dict[str, SeenThing] = field(default_factory=dict)
    rooms: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, set[str]] = field(default_factory=dict)
    turned: Counter[str] = field(default_factory=Counter)
    visited: dict[str, set[str]] = field(default_factory=dict)
    visits: Counter[str] = field(default_factory=Counter)
    searches: Counter[str] = field(default_factory=Counter)
    searched: set[str] = field(default_factory=set)

    def look(self, view: UserView) -> None:
        """Remember what is in view, and forget where the held thing was."""
        for thing in view.things:
            self.things[thing.id], self.rooms[thing.id] = thing, view.room
        if view.held is not None:
            self.rooms.pop(view.held.id, None)
            self.things[view.held.id] = view.held

    def elsewhere_in_room(self, view: UserView) -> list[SeenThing]:
        """Return the things that were seen in this room and are not in view now."""
        now = {each.id for each in view.things}
        return [self.things[id] for id, room in self.rooms.items() if room == view.room and id not in now]

    def things_here(self, view: UserView) -> list[SeenThing]:
        """Return the things in view, nearest first, and then those that were seen in this room."""
        return [*view.things, *self.elsewhere_in_room(view)]

    def words_of(self, id: str) -> tuple[str, ...]:
        """Return the words for a thing."""
        return tuple(sorted(thing_words(self.things[id]))) if id in self.things else ()

    def learn_name(self, id: str, words: tuple[str, ...]) -> None:
        """Remember the unknown words by which an uncommon thing was called."""
        thing = self.things.get(id)
        if thing is not None and not is_common(thing.name):
            self.aliases.setdefault(id, set()).update({*words} - plain_words())

    def find_elsewhere(self, step: Instruction, here: str) -> SeenThing | None:
        """Return a thing that an instruction means and that was seen in another room. None if there is none."""
        others = [self.things[id] for id, room in self.rooms.items() if room != here]
        matches = find_matches(step, others, self.aliases, step.verb)
        return matches[0].thing if matches else None

    def explore(self, view: UserView, dangers: set[str], likely: Sequence[SeenThing] = ()) -> LabAction | None:
        """Return the next action of a search of this room. None if it is over.

        The person goes to where the thing is said to be, then turns around, then goes to furniture.

        Args:
            view: What the person knows.
            dangers: Ids of things that they were warned of.
            likely: Things in this room on or in which it is said to be.
        """
        room = view.room
        visited = self.visited.setdefault(room, set())
        if there := [each for each in likely if each.id not in visited | dangers]:
            visited.add(there[0].id)
            return LabAction("GotoObject", there[0].id)
        if self.turned[room] < TURNS_PER_SEARCH:
            self.turned[room] += 1
            # Turns of 90 degrees leave gaps, which every other search looks into.
            return LabAction("RotateRight", "45" if self.searches[room] % 2 and self.turned[room] == 1 else "90")
        large = [each for each in self.things_here(view) if is_common(each.name) and not is_small(each)]
        large = [each for each in large if each.id not in visited | dangers]
        if self.visits[room] >= VISITS_PER_SEARCH or not large:
            target = None
        elif view.history and view.history[-1].outcome.status == "TargetInaccessible":
            # What blocks the way may also hide the thing.
            target = min(large, key=lambda each: (each.distance, each.id))
        else:
            target = max(filter(is_furniture, large), key=lambda each: (each.distance, each.id), default=None)
        if target is None:
            self.searched.add(room)
            return None
        visited.add(target.id)
        self.visits[room] += 1
        return LabAction("GotoObject", target.id)

    def explore_again(self, room: str) -> None:
        """Begin another search of a room."""
        if self.visits[room] < VISITS_PER_SEARCH:
            self.visited.pop(room, None)  # there is no other furniture
        self.turned.pop(room, None)
        self.visits.pop(room, None)
        self.searches[room] += 1
