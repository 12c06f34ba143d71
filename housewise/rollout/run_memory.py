"""The memories that a run starts from and leaves: copies in its folder, and what is new in them for their people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError, suggest_names
from housewise.core.files import check_writable
from housewise.people.memory import Memory, MemoryFolder, Note
from housewise.rollout.settings import MemorySettings


class RunMemory:
    """Memories of a run.

    What a run starts from is copied when it begins, so that it goes on from the same after an interruption, whatever
    has become of the memory meanwhile.

    Args:
        folder: of what they have become; what they were is in a folder beside it.
        settings: whose memory it starts from.

    Raises:
        UserError: when there is no such memory, or it is damaged.
    """

    def __init__(self, folder: Path, settings: MemorySettings) -> None:
        self._now, self._start = MemoryFolder(folder), MemoryFolder(folder.with_name("memory_at_start"))
        self._settings = settings

    @cached_property
    def _source(self) -> MemoryFolder:
        """Where the memory comes from that is named; nowhere to be looked for without one."""
        return MemoryFolder.default(self._settings.folder)

    def check_writable(self) -> None:
        """Check that what the memories become can be written down where they come from.

        Raises:
            UserError: when it cannot.
        """
        if self._settings.start is not None:
            check_writable(self._source.notes_path(self._settings.start).parent)

    def check_memories_exist(self, people: Iterable[str]) -> None:
        """Check that there are the memories that the run starts from, before anything is made.

        Raises:
            UserError: when one is missing.
        """
        if self._settings.start is None or self._settings.new:
            return
        copied = self._start.people()
        for person in people:
            if person not in copied and person not in (there := self._source.people()):
                raise UserError(
                    f"{self._source.root}: no memory of {person}; {suggest_names(person, there)}; "
                    "memory.new=true begins one"
                )

    def load_memories(self, people: Iterable[str], learned: Iterable[Sequence[Note]]) -> dict[str, Memory]:
        """What is remembered of each person, with what episodes that are over have taught.

        Args:
            people: by name.
            learned: in each episode that is over, in order.
        """
        found = {person: self._load_initial(person) for person in people}
        for notes in learned:
            for note in notes:
                if note.person in found:
                    found[note.person].add(note)
        return found

    def save(self, memories: Mapping[str, Memory]) -> None:
        """Write down what the memories have become, here and where they came from."""
        for memory in memories.values():
            self._now.save(memory)
            if self._settings.start is not None:
                self._source.save(memory)

    def is_saved(self, memories: Mapping[str, Memory]) -> bool:
        """Whether what the memories have become is written down: a run may be killed just before."""
        there = self._now.people()
        return all(
            person in there and self._now.load(person).digest == memory.digest for person, memory in memories.items()
        )

    def _load_initial(self, person: str) -> Memory:
        if person in self._start.people():
            return self._start.load(person)
        self.check_memories_exist([person])
        memory = Memory(person)
        if self._settings.start is not None and person in self._source.people():
            memory = self._source.load(person)
        self._start.save(memory)
        return memory


def continued_memory_settings(memory: MemorySettings, folder: Path) -> dict[str, Any]:
    """What a run remembers by that goes on from a memory and leaves that as it is, its episodes played side by side.

    Args:
        memory: whose it is, and where.
        folder: of the run; what the memory becomes is in it.

    Returns:
        Settings of its section ``memory``.

    Raises:
        UserError: when there is no such memory, or it is damaged.
    """
    people = [memory.start] if memory.start is not None else []
    RunMemory(folder / "memory", memory).load_memories(people, ())
    return {"start": memory.start, "folder": str(folder / "memory"), "new": True, "learn": "run"}
