"""Reads and writes memories as files: JSON Lines for memories on disk and for programs, YAML for people.

A JSON Lines file begins with a header line. A line per note follows, oldest first, and then a line per forgotten id::

    {"format": "housewise-memory", "version": 1, "person": "ada"}
    {"id": "9c1b04a3d87e", "person": "ada", "kind": "reaction", "text": "...", "about": {"things": ["mug"]}, ...}
    {"forgotten": "5f0e6c2b91aa"}

A YAML file has the fields of the header, and the notes in a list under ``notes``, without their person.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import IO, Any, Literal

from housewise.core.errors import UserError
from housewise.core.files import open_regular
from housewise.core.printable_text import excerpt
from housewise.people.memory.memory import Memory
from housewise.people.memory.note import Note, check_person_name, parse_note

FORMAT, VERSION = "housewise-memory", 1
_CONTENT_FIELDS = ("kind", "text", "about", "value")
MAX_LINE_CHARACTERS = 1_000_000
"""More characters than any valid note has."""

FileFormat = Literal["yaml", "jsonl"]


@dataclass
class MemoryFile:
    """The content of a file.

    Attributes:
        person: Name of the person.
        notes: Each note with the id that the file gives, or None. The given id differs from that of the note if a user
            edited the note in the file.
        forgotten: Ids of forgotten notes.
    """

    person: str
    notes: list[tuple[Note, str | None]] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)


@dataclass
class ImportResult:
    """What an import changed.

    Attributes:
        added: New notes.
        edited: Notes that replaced others, because they were edited in the file.
        dropped: Notes that were forgotten, because the file lists them as forgotten.
        known: Number of notes that the memory had already.
        forgotten: Number of notes that were not added, because the memory has forgotten them.
    """

    added: list[Note] = field(default_factory=list)
    edited: list[Note] = field(default_factory=list)
    dropped: list[Note] = field(default_factory=list)
    known: int = 0
    forgotten: int = 0


def to_jsonl(memory: Memory, forgotten: bool = True) -> str:
    """Return a memory as JSON Lines.

    Args:
        memory: The memory.
        forgotten: Whether to include the ids of forgotten notes.
    """
    lines: list[dict[str, Any]] = [_header(memory), *({"id": note.id, **note.fields()} for note in memory.notes)]
    if forgotten:
        lines += [{"forgotten": id} for id in sorted(memory.forgotten_ids)]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def to_yaml(memory: Memory) -> str:
    """Return a memory as YAML for people, without forgotten ids."""
    import yaml

    notes = [{"id": note.id, **_drop_field(note.fields(), "person")} for note in memory.notes]
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    content = {**_header(memory), "notes": notes}
    text: str = yaml.dump(content, Dumper=dumper, allow_unicode=True, sort_keys=False, width=100)
    name = memory.person
    return (
        f"# The memory of {name}. Correct the notes, keep their ids, and import the file with\n"
        f"#   housewise memory import {name} FILE\n"
        f"# To add a note, write one without id and time. To remove one, run housewise memory forget {name} ID.\n{text}"
    )


def read_memory_file(path: Path) -> MemoryFile:
    """Read a file of either format. The name decides which, or else the first character.

    Raises:
        UserError: The file is damaged or has another version. The message names the file and the line or note.
    """
    file_format = find_format(path) or ("jsonl" if _begins_with_brace(path) else "yaml")
    return read_jsonl(path) if file_format == "jsonl" else read_memory_yaml(path)


def find_format(path: Path) -> FileFormat | None:
    """Return the format that the suffix of a file stands for, or None."""
    formats: dict[str, FileFormat] = {".jsonl": "jsonl", ".json": "jsonl", ".yaml": "yaml", ".yml": "yaml"}
    return formats.get(path.suffix.lower())


def read_jsonl(path: Path, allow_edits: bool = True) -> MemoryFile:
    """Read a JSON Lines file.

    Args:
        path: The file.
        allow_edits: Whether notes may differ from their ids, because a user edited them.

    Raises:
        UserError: See ``read_memory_file``.
    """
    content: MemoryFile | None = None
    for number, line in _json_lines(path):
        where = f"{path}: line {number}"
        if content is None:
            content = MemoryFile(_person_of_header(line, str(path)))
        elif "forgotten" in line:
            if not isinstance(line["forgotten"], str) or len(line) > 1:
                raise UserError(f"{where}: not the id of a forgotten note; take the line out, or restore the file")
            content.forgotten.append(line["forgotten"])
        else:
            content.notes.append(_note(line, where, allow_edits))
    if content is None:
        raise UserError(f"{path}: is empty, without even a first line; restore it, or remove it")
    return content


def read_memory_yaml(path: Path) -> MemoryFile:
    """Read a YAML file.

    Raises:
        UserError: See ``read_memory_file``.
    """
    from housewise.core.yaml_files import read_yaml

    fields = read_yaml(path, "name a file with notes, or correct it")
    if not isinstance(fields, dict) or not isinstance(fields.get("notes") or [], list):
        raise UserError(f"{path}: no exported memory; write it as `housewise memory export` does")
    content = MemoryFile(_person_of_header(fields, str(path)))
    for number, note in enumerate(fields.get("notes") or [], start=1):
        where = f"{path}: note {number}"
        if not isinstance(note, dict) or not all(isinstance(key, str) for key in note):
            raise UserError(f"{where}: not a note; write it as `housewise memory export` does")
        content.notes.append(_note({"person": content.person, **note}, where, allow_edits=True))
    return content


def import_notes(memory: Memory, content: MemoryFile) -> ImportResult:
    """Add the notes of a file to a memory. Notes that were edited in the file replace the remembered ones.

    Raises:
        UserError: The file is about another person.
    """
    if content.person != memory.person:
        raise UserError(
            f"the file has notes about {content.person}, not about {memory.person}; import them as "
            f"{content.person}'s, or change the person in the file"
        )
    result = ImportResult(dropped=memory.forget_ids(content.forgotten))
    edits, others = _find_edits(memory, content)
    result.known = sum(not changes for changes in edits.values())
    result.forgotten = len(content.notes) - len(edits) - len(others)
    result.edited = memory.edit_all({old: changes for old, changes in edits.items() if changes})
    for note in _rename_origins(memory, others):
        if note.id in memory:
            result.known += 1
        elif memory.add(note).id in memory:
            result.added.append(note)
        else:
            result.forgotten += 1
    return result


def _find_edits(memory: Memory, content: MemoryFile) -> tuple[dict[str, dict[str, Any]], list[tuple[Note, str | None]]]:
    """Return the changes of notes that were edited in the file, by the ids of the notes that they replace.

    If the file also contains the original note, the user copied it to add another one, and nothing is replaced.

    Returns:
        The changes; and the notes that replace none, with the ids that the file gives. Edited notes that are forgotten
        are in neither.
    """
    unchanged, forgotten = {note.id for note, _ in content.notes}, memory.forgotten_ids
    # A note that was corrected since the file was written is found by the id of its first version.
    now = {note.original_id: note.id for note in memory.notes} | {note.id: note.id for note in memory.notes}
    edits: dict[str, dict[str, Any]] = {}
    others: list[tuple[Note, str | None]] = []
    for note, id in content.notes:
        if id is None or id in unchanged or note.id in memory:
            others.append((note, id))
            continue
        replaced = now.get(id, now.get(note.version_of or id))
        if replaced is None and id in forgotten:
            continue
        if replaced is None or replaced in unchanged or replaced in edits:
            others.append((note, id))
        else:
            edits[replaced] = _changes(memory[replaced], note, is_stale=replaced != id)
    return edits, others


def _changes(old: Note, new: Note, is_stale: bool) -> dict[str, Any]:
    """Return what differs in a note that was edited in a file.

    Args:
        old: The remembered note.
        new: The note in the file.
        is_stale: Whether the note was also corrected in the memory since the file was written. Then the file's time and
            origin are those of an earlier version, and do not count.
    """
    names = _CONTENT_FIELDS if is_stale else (name for name in Note.model_fields if name != "id")
    return {name: getattr(new, name) for name in names if getattr(new, name) != getattr(old, name)}


def _rename_origins(memory: Memory, notes: Sequence[tuple[Note, str | None]]) -> list[Note]:
    """Return notes whose origins are named by the ids that they get in the memory.

    An id changes with the person and with each correction. Notes must be forgotten with their origins all the same.

    Args:
        memory: The memory that the notes are added to.
        notes: Notes with the ids that the file gives.
    """
    origins: dict[str, Note] = {}
    for note, id in notes:
        is_new = id is not None and id not in memory and id not in memory.forgotten_ids
        if id is not None and is_new and (id not in origins or id == note.id):
            origins[id] = note
    graph = {id: [origin for origin in note.derived_from if origin in origins] for id, note in origins.items()}
    renamed: dict[str, str] = {}
    with suppress(CycleError):  # Only a file that was made so has notes that derive from each other.
        for id in TopologicalSorter(graph).static_order():
            renamed[id] = _with_origins(origins[id], renamed).id
    return [note if note.id in memory else _with_origins(note, renamed) for note, _ in notes]


def _with_origins(note: Note, renamed: Mapping[str, str]) -> Note:
    origins = tuple(renamed.get(id, id) for id in note.derived_from)
    if origins == note.derived_from:
        return note
    return parse_note({**note.fields(), "derived_from": origins}, f"note {note.id}")


def _header(memory: Memory) -> dict[str, Any]:
    return {"format": FORMAT, "version": VERSION, "person": memory.person}


def _drop_field(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


def _person_of_header(header: Mapping[str, Any], where: str) -> str:
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
    try:
        return check_person_name(person)
    except UserError as error:
        raise UserError(f"{where}: {error}") from error


def _note(fields: Mapping[str, Any], where: str, allow_edits: bool) -> tuple[Note, str | None]:
    id = fields.get("id")
    if id is not None and not isinstance(id, str):
        raise UserError(f"{where}: id: not a text; leave it out")
    try:
        return parse_note(_drop_field(fields, "id") if allow_edits else fields, where), id
    except UserError as error:
        raise UserError(f"{error}; correct it, or take it out") from error


def _json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with _open_text(path) as stream:
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
            # Invalid UTF-8 raises the error while the line before it is read.
            number += isinstance(error, UnicodeDecodeError)
            raise UserError(
                f"{path}: line {number} is damaged ({excerpt(error)}); take the line out, or restore the file"
            ) from error


def _begins_with_brace(path: Path) -> bool:
    with _open_text(path) as stream:
        try:
            return stream.read(1) == "{"
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: is no text; name a file with notes") from error


def _open_text(path: Path) -> IO[str]:
    try:
        return io.TextIOWrapper(open_regular(path), encoding="utf-8-sig", newline="\n")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); name a file with notes") from error
