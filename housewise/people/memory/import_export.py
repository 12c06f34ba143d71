"""Notes in files: JSON lines for programs and for memories themselves, YAML for people.

A file of lines begins with a line that says what it is, then has a note a line, the oldest first, and may end with the
ids of what was forgotten, one a line::

    {"format": "housewise-memory", "version": 1, "person": "ada"}
    {"id": "9c1b04a3d87e", "person": "ada", "kind": "reaction", "text": "...", "about": {"things": ["mug"]}, ...}
    {"forgotten": "5f0e6c2b91aa"}

A YAML file says the same, with the notes in a list under ``notes`` and the person once.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from housewise.core.errors import UserError, excerpt
from housewise.core.files import open_regular
from housewise.people.memory.memory import Memory
from housewise.people.memory.note import Note, check_person_name, parse_note

FORMAT, VERSION = "housewise-memory", 1
MAX_LINE_CHARACTERS = 1_000_000
"""Characters; no note has as many."""

FileFormat = Literal["yaml", "jsonl"]


@dataclass
class MemoryFile:
    """What a file says.

    Attributes:
        person: whose notes they are.
        notes: each with the id that stands beside it, which is another one where the note was changed since; None where
            there is none.
        forgotten: ids.
    """

    person: str
    notes: list[tuple[Note, str | None]] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)


@dataclass
class ImportResult:
    """What has come of an import.

    Attributes:
        added: notes that are new.
        edited: notes that replace others, as they were changed in the file.
        dropped: notes that the file says were forgotten.
        known: how many were there already.
        forgotten: how many had been forgotten here, and stay so.
    """

    added: list[Note] = field(default_factory=list)
    edited: list[Note] = field(default_factory=list)
    dropped: list[Note] = field(default_factory=list)
    known: int = 0
    forgotten: int = 0


def to_jsonl(memory: Memory, forgotten: bool = True) -> str:
    """A memory as JSON lines.

    Args:
        memory: of a person.
        forgotten: whether ids of what was forgotten are told.
    """
    header = {"format": FORMAT, "version": VERSION, "person": memory.person}
    lines: list[dict[str, Any]] = [header, *({"id": note.id, **note.fields()} for note in memory.notes)]
    if forgotten:
        lines += [{"forgotten": id} for id in sorted(memory.forgotten_ids)]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def to_yaml(memory: Memory) -> str:
    """A memory as YAML, without what was forgotten."""
    import yaml

    notes = [{"id": note.id, **_without_person(note.fields())} for note in memory.notes]
    content = {"format": FORMAT, "version": VERSION, "person": memory.person, "notes": notes}
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(content, Dumper=dumper, allow_unicode=True, sort_keys=False, width=100)
    name = memory.person
    return (
        f"# What is remembered of {name}. Change what is wrong, leave the ids as they are, and bring it back with\n"
        f"#   housewise memory import {name} FILE\n"
        f"# To add a note, write one without id and time; to take one out, housewise memory forget {name} ID.\n{text}"
    )


def read_memory_file(path: Path) -> MemoryFile:
    """What a file of either kind says.

    Raises:
        UserError: when it is damaged or of another version; the message names file and line, or note.
    """
    style = find_format(path) or ("jsonl" if _begins_with_brace(path) else "yaml")
    return read_jsonl(path) if style == "jsonl" else read_memory_yaml(path)


def find_format(path: Path) -> FileFormat | None:
    """How a file is written, by its name."""
    styles: dict[str, FileFormat] = {".jsonl": "jsonl", ".json": "jsonl", ".yaml": "yaml", ".yml": "yaml"}
    return styles.get(path.suffix.lower())


def read_jsonl(path: Path, changed: bool = True) -> MemoryFile:
    """What a file of JSON lines says.

    Args:
        path: of the file.
        changed: whether notes may be changed, so that they do not fit their ids.

    Raises:
        UserError: see read_file.
    """
    written: MemoryFile | None = None
    for number, line in _lines(path):
        where = f"{path}: line {number}"
        if written is None:
            written = MemoryFile(_person(line, str(path)))
        elif "forgotten" in line:
            if not isinstance(line["forgotten"], str) or len(line) > 1:
                raise UserError(f"{where}: not the id of a forgotten note; take the line out, or restore the file")
            written.forgotten.append(line["forgotten"])
        else:
            written.notes.append(_note(line, where, changed))
    if written is None:
        raise UserError(f"{path}: is empty, without even a first line; restore it, or remove it")
    return written


def read_memory_yaml(path: Path) -> MemoryFile:
    """What a YAML file says.

    Raises:
        UserError: see read_file.
    """
    content = _yaml(path)
    if not isinstance(content, dict) or not isinstance(content.get("notes") or [], list):
        raise UserError(f"{path}: no exported memory; write it as `housewise memory export` does")
    written = MemoryFile(_person(content, str(path)))
    for number, fields in enumerate(content.get("notes") or [], start=1):
        where = f"{path}: note {number}"
        if not isinstance(fields, dict) or not all(isinstance(key, str) for key in fields):
            raise UserError(f"{where}: not a note; write it as `housewise memory export` does")
        written.notes.append(_note({"person": written.person, **fields}, where, changed=True))
    return written


def import_notes(memory: Memory, written: MemoryFile) -> ImportResult:
    """Remember what a file says; what was changed in it replaces what is remembered.

    Raises:
        UserError: when the file is about another person.
    """
    if written.person != memory.person:
        raise UserError(
            f"the file has notes of {written.person}, not of {memory.person}; import them as {written.person}'s, or "
            "change the person in the file"
        )
    found = ImportResult()
    for gone in written.forgotten:
        if gone in memory:
            found.dropped.extend(memory.forget(gone))
    edits = _edits(memory, written)
    found.edited = memory.edit_all({old: _changes(memory[old], new) for old, new in edits.items()})
    for note, id in written.notes:
        if id is not None and edits.get(id) is note:
            continue
        if note.id in memory:
            found.known += 1
        elif memory.add(note).id in memory:
            found.added.append(note)
        else:
            found.forgotten += 1
    return found


def _edits(memory: Memory, written: MemoryFile) -> dict[str, Note]:
    """What replaces which note; where that one is in the file as well, it was copied to make another of it."""
    kept = {note.id for note, _ in written.notes}
    edits: dict[str, Note] = {}
    for note, id in written.notes:
        if id is not None and id in memory and id not in kept and note.id not in memory:
            edits.setdefault(id, note)
    return edits


def _changes(old: Note, new: Note) -> dict[str, Any]:
    return {
        name: getattr(new, name)
        for name in Note.model_fields
        if name != "id" and getattr(new, name) != getattr(old, name)
    }


def _without_person(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "person"}


def _person(header: Mapping[str, Any], where: str) -> str:
    """Whose notes a file has, by what it says of itself."""
    if header.get("format") != FORMAT:
        raise UserError(f"{where}: does not begin as a memory does (format: {FORMAT}); name another file")
    version, person = header.get("version"), header.get("person")
    if version != VERSION:
        raise UserError(
            f"{where}: is of version {excerpt(version)}, and this Housewise reads version {VERSION}; install the one "
            "that wrote it"
        )
    if not isinstance(person, str):
        raise UserError(f"{where}: does not say whose notes it has; write person: NAME at its beginning")
    return check_person_name(person)


def _note(fields: Mapping[str, Any], where: str, changed: bool) -> tuple[Note, str | None]:
    id = fields.get("id")
    if id is not None and not isinstance(id, str):
        raise UserError(f"{where}: id: not a text; leave it out")
    kept = {name: value for name, value in fields.items() if name != "id"} if changed else fields
    try:
        return parse_note(kept, where), id
    except UserError as error:
        raise UserError(f"{error}; correct it, or take it out") from error


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with _opened(path) as stream:
        number = 0
        try:
            while text := stream.readline(MAX_LINE_CHARACTERS + 1):
                number += 1
                if len(text) > MAX_LINE_CHARACTERS:
                    raise ValueError(f"it has more than {MAX_LINE_CHARACTERS} characters")
                if text.strip():
                    line = json.loads(text)
                    if not isinstance(line, dict):
                        raise ValueError("it is no JSON object")
                    yield number, line
        except (ValueError, RecursionError) as error:
            # A line that is no text is met while the one before it is read.
            number += isinstance(error, UnicodeDecodeError)
            raise UserError(
                f"{path}: line {number} is damaged ({excerpt(error)}); take the line out, or restore the file"
            ) from error


def _yaml(path: Path) -> Any:
    from housewise.core.yaml_files import read_yaml as read_values

    return read_values(path, "name a file with notes, or correct it")


def _begins_with_brace(path: Path) -> bool:
    with _opened(path) as stream:
        try:
            return stream.read(1) == "{"
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: is no text; name a file with notes") from error


def _opened(path: Path) -> IO[str]:
    try:
        return io.TextIOWrapper(open_regular(path), encoding="utf-8-sig", newline="\n")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); name a file with notes") from error
