"""Memories on disk: a folder for each person, in which ``notes.jsonl`` holds all that is remembered of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from housewise.core.errors import UserError, suggest_names
from housewise.core.files import exclusive_lock, find_paths, write_text
from housewise.core.user_folders import expand_user
from housewise.people.memory.import_export import read_jsonl, to_jsonl
from housewise.people.memory.memory import Memory
from housewise.people.memory.note import check_person_name, is_person_name

NOTES_FILE = "notes.jsonl"


class MemoryFolder:
    """Memories of several people; any number of programs may use them at once, and none loses what another has kept.

    Args:
        root: with a folder for each person; made when something is first kept.
        patience: seconds to wait for another program that is writing.
    """

    def __init__(self, root: Path, patience: float = 60.0) -> None:
        self.root = Path(root)
        self._patience = patience

    @classmethod
    def default(cls, named: str | Path | None = None) -> MemoryFolder:
        """The folder that was named, else that of HOUSEWISE_MEMORY, else ``~/.local/share/housewise/memory``."""
        home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
        folder = named or os.environ.get("HOUSEWISE_MEMORY") or Path(home) / "housewise" / "memory"
        return cls(expand_user(folder, "name the folder of memories in HOUSEWISE_MEMORY"))

    def notes_path(self, person: str) -> Path:
        """Where a person's notes are.

        Raises:
            UserError: when that cannot be a person's name.
        """
        return self.root / check_person_name(person) / NOTES_FILE

    def people(self) -> list[str]:
        """Of whom something is remembered, by name."""
        return [name for name in self.folder_names() if is_person_name(name)]

    def folder_names(self) -> list[str]:
        """Names of all folders with notes in them, also of those that cannot be a person's."""
        return [path.parent.name for path in find_paths(self.root, f"*/{NOTES_FILE}")]

    def load(self, person: str, missing_ok: bool = False) -> Memory:
        """What is remembered of a person.

        Args:
            person: whose memory it is.
            new: whether it is empty where nothing is remembered, which is an error otherwise.

        Raises:
            UserError: when nothing is, or the file is damaged or of another version.
        """
        path = self.notes_path(person)
        if missing_ok and not path.exists():
            return Memory(person)
        if not path.exists():
            raise UserError(f"{self.root}: no memory of {person}; {suggest_names(person, self.people())}")
        written = read_jsonl(path, changed=False)
        if written.person != person:
            raise UserError(f"{path}: line 1: has notes of {written.person}; name the folder {written.person}")
        return Memory(person, (note for note, _ in written.notes), written.forgotten)

    def save(self, memory: Memory) -> Memory:
        """Keep a memory together with what others have kept meanwhile; what either has forgotten is left out.

        Returns:
            What is kept.

        Raises:
            UserError: when the disk does not take it, or what is there is damaged, which is then left as it is.
        """
        with self._alone(memory.person):
            merged = self.load(memory.person).merge(memory) if self.notes_path(memory.person).exists() else memory
            self._write(merged)
        return merged

    @contextmanager
    def edit_memory(self, person: str, missing_ok: bool = False) -> Iterator[Memory]:
        """A memory to be changed, while other programs wait; it is kept at the end, unless an error is raised.

        Args:
            person: whose.
            new: whether it may begin here.

        Raises:
            UserError: see load and save.
        """
        if not missing_ok and not self.notes_path(person).exists():
            self.load(person)
        with self._alone(person):
            memory = self.load(person, missing_ok)
            before = memory.copy()
            yield memory
            if (memory.notes, memory.forgotten_ids) != (before.notes, before.forgotten_ids):
                self._write(memory)

    def _write(self, memory: Memory) -> None:
        path = self.notes_path(memory.person)
        write_text(path, to_jsonl(memory))
        # What a killed program left half written may hold what is forgotten by now.
        for partial in path.parent.glob(".*.partial"):
            partial.unlink(missing_ok=True)

    def _alone(self, person: str) -> AbstractContextManager[None]:
        folder = self.notes_path(person).parent
        # Nobody else's business; what keeps it from being made, alone() says.
        with suppress(OSError):
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        return exclusive_lock(folder, self._patience, may_hold_links=True)
