"""Memories of a run: copies of those that it starts from, and what they have become."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError, suggest_names
from housewise.core.files import check_writable
from housewise.people.memory import Memory, MemoryFolder
from housewise.rollout.note_events import MemoryChange
from housewise.rollout.settings import MemorySettings


class RunMemory:
    """The memories that a run starts from and writes.

    The initial memories are copied into the run's folder, so that an interrupted run resumes from the same memories
    even if the originals have changed since.

    Args:
        folder: Folder for the final memories. The initial ones are in `memory_at_start` beside it.
        settings: Memory settings of the run.
        people: Names of the people whose memories the run uses.
    """

    def __init__(self, folder: Path, settings: MemorySettings, people: Iterable[str]) -> None:
        self._now, self._start = MemoryFolder(folder), MemoryFolder(folder.with_name("memory_at_start"))
        self._settings, self._people = settings, people

    @cached_property
    def _source(self) -> MemoryFolder:
        """Folder with the memory that the settings name."""
        return MemoryFolder.default(self._settings.folder)

    def check_writable(self) -> None:
        """Check that the final memories can be written to the folder that the initial ones come from.

        Raises:
            UserError: The folder is not writable.
        """
        if self._settings.start is not None:
            check_writable(self._source.notes_path(self._settings.start).parent)

    def check_memories_exist(self) -> None:
        """Check that the run's initial memories exist.

        Raises:
            UserError: A memory is missing.
        """
        if self._settings.start is None or self._settings.new:
            return
        copied = self._start.people()
        for person in self._people:
            if person not in copied and person not in (there := self._source.people()):
                raise UserError(
                    f"{self._source.root}: no memory of {person}; {suggest_names(person, there)}; "
                    "create it with memory.new=true"
                )

    def load_memories(self, learned: Iterable[Sequence[MemoryChange]] = ()) -> dict[str, Memory]:
        """Return the memory of each person, changed as finished episodes say.

        Args:
            learned: Events of each finished episode that change memories, in order.

        Raises:
            UserError: A memory is missing or damaged.
        """
        found = {person: self._load_initial(person) for person in self._people}
        for changes in learned:
            for change in changes:
                if change.note.person in found:
                    change.apply(found[change.note.person])
        return found

    def save(self, memories: Mapping[str, Memory]) -> None:
        """Write the final memories to the folder that the initial ones come from and to the run's folder.

        The run's folder comes last: `is_saved` looks there, and after a failure both are written again. A memory that
        has the notes already is left as it is, and what was forgotten in the meantime stays forgotten.
        """
        for memory in memories.values():
            if self._settings.start is not None:
                self._source.save(memory)
            self._now.save(memory)

    def is_saved(self, memories: Mapping[str, Memory]) -> bool:
        """Return whether the final memories have been written; a run may have been killed just before."""
        there = self._now.people()
        return all(
            person in there and self._now.load(person).digest == memory.digest for person, memory in memories.items()
        )

    def _load_initial(self, person: str) -> Memory:
        if person in self._start.people():
            return self._start.load(person)
        self.check_memories_exist()
        memory = Memory(person)
        if self._settings.start is not None and person in self._source.people():
            memory = self._source.load(person)
        self._start.save(memory)
        return memory


def continued_memory_settings(memory: MemorySettings, folder: Path) -> dict[str, Any]:
    """Return memory settings for a run that continues from a copy of a memory and plays its episodes in parallel.

    Args:
        memory: Memory settings that name the original.
        folder: Folder of the run, which receives the changed memory.

    Returns:
        Values for the section `memory` of the run's settings.

    Raises:
        UserError: The memory is missing or damaged.
    """
    people = [memory.start] if memory.start is not None else []
    RunMemory(folder / "memory", memory, people).load_memories()
    return {"start": memory.start, "folder": str(folder / "memory"), "new": True, "learn": "run"}
