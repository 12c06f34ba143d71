"""Memories on disk: a folder per person, whose ``notes.jsonl`` holds all notes about them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from housewise.core.errors import UserError, suggest_names
from housewise.core.files import find_paths, write_text
from housewise.core.folder_locks import exclusive_lock
from housewise.core.user_folders import expand_user
from housewise.people.memory.import_export import read_jsonl, to_jsonl
from housewise.people.memory.memory import Memory
from housewise.people.memory.note import check_person_name, is_person_name

NOTES_FILE = "notes.jsonl"
_RULES_FILE = "rules.json"


class MemoryFolder:
    """The memories of several people. Any number of programs can use a folder at once without losing notes.

    Args:
        root: The folder. It is created when the first memory is saved.
        patience: Seconds to wait for another program that is writing.
    """

    def __init__(self, root: Path, patience: float = 60.0) -> None:
        self.root = Path(root)
        self._patience = patience

    @classmethod
    def default(cls, named: str | Path | None = None) -> MemoryFolder:
        """Return the named folder, or that of HOUSEWISE_MEMORY, or ``~/.local/share/housewise/memory``."""
        home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
        folder = named or os.environ.get("HOUSEWISE_MEMORY") or Path(home) / "housewise" / "memory"
        return cls(expand_user(folder, "name the folder of memories in HOUSEWISE_MEMORY"))

    def notes_path(self, person: str) -> Path:
        """Return the path of the file with a person's notes.

        Raises:
            UserError: The name is not valid for a person.
        """
        return self.root / check_person_name(person) / NOTES_FILE

    def rules_path(self, person: str) -> Path:
        """Return the path of the file with rules that a model concluded from the notes; see RulesFile."""
        return self.notes_path(person).with_name(_RULES_FILE)

    def people(self) -> list[str]:
        """Return the names of the people with a memory, in alphabetical order."""
        return [name for name in self.folder_names() if is_person_name(name)]

    def folder_names(self) -> list[str]:
        """Return the names of all folders with notes, including names that are not valid for a person."""
        return [path.parent.name for path in find_paths(self.root, f"*/{NOTES_FILE}")]

    def load(self, person: str, missing_ok: bool = False) -> Memory:
        """Read the memory of a person.

        Args:
            person: Name of the person.
            missing_ok: Whether to return an empty memory if the person has none.

        Raises:
            UserError: There is no memory, or its file is damaged or has another version.
        """
        path = self.notes_path(person)
        if not path.exists():
            if missing_ok:
                return Memory(person)
            raise UserError(
                f"{self.root}: no memory of {person}; {suggest_names(person, self.people())}; "
                f"housewise learn {person} makes one"
            )
        content = read_jsonl(path, allow_edits=False)
        if content.person != person:
            raise UserError(f"{path}: line 1: has notes about {content.person}; name the folder {content.person}")
        return Memory(person, (note for note, _ in content.notes), content.forgotten)

    def save(self, memory: Memory) -> Memory:
        """Merge a memory with the saved one and write the result, unless it is the saved one.

        Returns:
            The merged memory.

        Raises:
            UserError: The file cannot be written, or the saved memory is damaged and is left unchanged.
        """
        with self.lock(memory.person):
            there = self.load(memory.person) if self.notes_path(memory.person).exists() else None
            merged = there.merge(memory) if there is not None else memory
            if there is None or _is_changed(there, merged):
                self._write(merged)
        return merged

    @contextmanager
    def edit_memory(self, person: str, missing_ok: bool = False) -> Iterator[Memory]:
        """Lock a memory for changes and save it at the end, unless an error is raised.

        Args:
            person: Name of the person.
            missing_ok: Whether to begin with an empty memory if the person has none.

        Raises:
            UserError: See ``load`` and ``save``.
        """
        if not missing_ok and not self.notes_path(person).exists():
            self.load(person)  # Raises the error without creating the folder.
        with self.lock(person):
            memory = self.load(person, missing_ok)
            before = memory.copy()
            yield memory
            if _is_changed(before, memory):
                self._write(memory)

    def _write(self, memory: Memory) -> None:
        path = self.notes_path(memory.person)
        write_text(path, to_jsonl(memory))
        # Rules, and a partial file of a killed program, may tell of notes that are forgotten by now.
        for left in (*path.parent.glob(".*.partial"), self.rules_path(memory.person)):
            left.unlink(missing_ok=True)

    def lock(self, person: str) -> AbstractContextManager[None]:
        """Return a context in which no other program writes into the folder of a person."""
        folder = self.notes_path(person).parent
        # Memories are private. If the folder cannot be created, exclusive_lock() says why.
        with suppress(OSError):
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        return exclusive_lock(folder, self._patience, may_hold_links=True)


def _is_changed(before: Memory, after: Memory) -> bool:
    return (before.notes, before.forgotten_ids) != (after.notes, after.forgotten_ids)


@dataclass(frozen=True)
class RulesFile:
    """The file with rules that a model concluded from a memory. It is deleted when the memory changes.

    Attributes:
        folder: Folder of the memory.
        memory: The memory that rules are concluded from. It may have changed in the folder since it was loaded.
    """

    folder: MemoryFolder
    memory: Memory

    def read(self) -> bytes | None:
        """Return the content of the file; None if there is none."""
        try:
            return self.folder.rules_path(self.memory.person).read_bytes()
        except OSError:
            return None

    def write(self, content: str) -> None:
        """Keep rules, if the memory is on this machine, has not changed and may be written."""
        person = self.memory.person
        if not self.folder.notes_path(person).exists():
            return
        with suppress(UserError), self.folder.lock(person):
            if self.folder.load(person).digest == self.memory.digest:
                write_text(self.folder.rules_path(person), content)
