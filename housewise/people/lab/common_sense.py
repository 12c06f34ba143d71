"""What a person in the lab tries without help: finds what the task names, and tries devices that are in view."""

from __future__ import annotations

import random
from collections.abc import Iterator

from housewise.people.lab.grounding import affordances, find_matches, is_common, is_small
from housewise.people.lab.understanding import Instruction, understand
from housewise.people.lab.user_memory import UserMemory
from housewise.people.lab.views import SeenThing, UserTurn, UserView
from housewise.people.lab.vocabulary import load_vocabulary
from housewise.worlds.lab.actions import LabAction, Verb
from housewise.worlds.lab.state import ROOMS

_TOOLS: dict[Verb, str] = {"Break": "hammer"}
"""Common things with which common things are done."""


class Improviser:
    """Common sense. It remembers what was tried, so that nothing is tried twice."""

    def __init__(self) -> None:
        self._tried: set[tuple[Verb, str, str]] = set()

    def act(self, view: UserView, memory: UserMemory, dangers: set[str], generator: random.Random) -> UserTurn:
        """Return the next action towards the task as a person without help understands it.

        Args:
            view: What the person knows.
            memory: What the person remembers.
            dangers: Ids of things that the person was warned of.
            generator: Decides between equally sensible actions.
        """
        wanted = self._wanted(view)
        for verb, thing in self._ideas(view, wanted):
            deed = (verb, thing.id, view.held.id if view.held else "")
            if deed in self._tried or thing.id in dangers:
                continue
            if not view.is_at(thing):
                return UserTurn("Perhaps this helps.", LabAction("GotoObject", thing.id))
            self._tried.add(deed)
            return UserTurn("Perhaps this helps.", LabAction(verb, thing.id))
        if (room := self._room_of_wanted(view, wanted, memory)) is not None:
            return UserTurn("I saw it there.", LabAction("GotoRoom", room))
        if (action := memory.explore(view, dangers)) is not None:
            return UserTurn("I look for something that helps.", action)
        rooms = [room for room in ROOMS if room not in memory.searched and room != view.room]
        if not rooms:
            memory.searched.clear()
            rooms = [room for room in ROOMS if room != view.room]
        for room in rooms:
            memory.explore_again(room)
        named = [each.room for each in understand(view.goal).instructions if each.room in rooms]
        return UserTurn("I look elsewhere.", LabAction("GotoRoom", (named or [generator.choice(rooms)])[0]))

    def _wanted(self, view: UserView) -> Instruction:
        """Return the task as an instruction: its first verb of the hand, and its words."""
        parts = understand(view.goal).instructions
        verb = next((each.verb for each in parts if each.verb in ("Break", "Throw", "Pour")), None)
        return Instruction(verb, load_vocabulary().text_content(view.goal))

    def _ideas(self, view: UserView, wanted: Instruction) -> Iterator[tuple[Verb, SeenThing]]:
        """Yield sensible actions on things in view, best first."""
        named = [match.thing for match in find_matches(wanted, view.things, {})]
        tool = Instruction("Pickup", (_TOOLS[wanted.verb],)) if wanted.verb in _TOOLS else None
        if view.held is None:
            first = named if tool is None else [each.thing for each in find_matches(tool, view.things, {})]
            yield from (("Pickup", each) for each in first if is_small(each))
        elif wanted.verb is not None:
            yield from ((wanted.verb, each) for each in named if is_common(each.name))
        if tool is not None:
            return
        devices = [each for each in view.things if not is_common(each.name) and not is_small(each)]
        for device in devices:
            if view.held is not None and "receptacle" in affordances(device.name):
                yield "Place", device
        for device in devices:
            yield "Toggle", device
            yield "Open", device

    def _room_of_wanted(self, view: UserView, wanted: Instruction, memory: UserMemory) -> str | None:
        if view.held is not None and wanted.verb is None:
            return None
        words = (_TOOLS[wanted.verb],) if wanted.verb in _TOOLS and view.held is None else wanted.words
        others = [memory.things[id] for id, room in memory.rooms.items() if room != view.room]
        matches = [
            each.thing for each in find_matches(Instruction(None, words), others, {}) if is_common(each.thing.name)
        ]
        if view.held is None:
            matches = [each for each in matches if is_small(each)]
        return memory.rooms[matches[0].id] if matches else None
