"""Reads records of any system and version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from housewise.core.errors import UserError
from housewise.core.files import find_paths, read_end_lines
from housewise.core.migrations.record_fields import rename_former_fields
from housewise.core.plugins import SYSTEMS, plugin_names
from housewise.core.record import VERSION, Event, Header, Record, Result, UnknownEvent
from housewise.core.record_files import FINISHED, RecordLine, assemble_record, damaged_line_error, read_lines
from housewise.rollout.note_events import NOTE_EVENTS
from housewise.rollout.system import find_system

FIRST_SYSTEM = "personalize"
"""The only system of version 1, whose records and settings do not name it."""

_VERSION_1_HEADER = "episode"
"""Type of the first line of a record of version 1."""


def read_record(path: Path) -> Record:
    """Read a finished record. Events of a system that is not installed are kept as `UnknownEvent`.

    Raises:
        UserError: The record is damaged; the message names file and line.
    """
    name, lines = _migrate(path, read_lines(path))
    known: dict[str, type[Event]] = dict(NOTE_EVENTS)
    if name not in plugin_names(SYSTEMS):
        return assemble_record(path, lines, known)
    system = find_system(name)
    known |= {event.type: event for event in system.events}
    return system.add_missing_scores(assemble_record(path, lines, known))


def read_summary(path: Path) -> tuple[Header, Result]:
    """Read the header and the result of a finished record, without its events.

    Damage between the first and the last line is not detected.

    Raises:
        UserError: The record is damaged; see `read_record`.
    """
    try:
        lines = read_lines(path, read_end_lines(path))
        # Records of version 1 are read whole.
        if lines[0].type != _VERSION_1_HEADER:
            record = assemble_record(path, _migrate(path, lines)[1], {})
            return record.header, record.result
    except (OSError, UserError):
        # Read the whole record to find the damaged line.
        pass
    record = read_record(path)
    return record.header, record.result


def read_records(folder: Path | str) -> Iterator[Record]:
    """Read every finished record of a folder, ordered by name.

    Args:
        folder: Folder with records, or folder of a run.

    Raises:
        UserError: The folder does not exist, or a record is damaged.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; name the folder of a run, or its episodes/")
    episodes = folder / "episodes"
    return (read_record(path) for path in find_paths(episodes if episodes.is_dir() else folder, f"*{FINISHED}"))


def event_data(event: Event) -> tuple[str, dict[str, Any]]:
    """Return the type and the fields of an event, also of a system that is not installed."""
    if isinstance(event, UnknownEvent):
        return event.kind, event.data
    return event.type, event.model_dump(mode="json")


def read_header(path: Path, line: bytes) -> Header | None:
    """Parse the first line of a record that may be unfinished. Return None if the line is no header."""
    try:
        _, lines = _migrate(path, read_lines(path, [line]))
        return Header.model_validate(lines[0].data)
    except (UserError, ValidationError):
        return None


def migrate_line(path: Path, number: int, line: RecordLine, system: str) -> RecordLine:
    """Return a line with the current names of its fields.

    Args:
        path: Path of the record, for the message.
        number: Number of the line, from 1.
        line: The line, in the form of version 2 or later.
        system: Name of the record's system.

    Raises:
        UserError: A field is given under its former and its current name.
    """
    data = rename_former_fields(system, line.type, line.data, f"{path}: line {number}")
    if line.type == Header.type:
        data["version"] = VERSION
    return RecordLine(line.type, data)


def _migrate(path: Path, lines: Sequence[RecordLine]) -> tuple[str, list[RecordLine]]:
    """Return the name of a record's system, and its lines in the current form."""
    name, version = _read_system_and_version(path, lines[0])
    if version == 1:
        lines = find_system(name).upgrade_lines(lines)
    return name, [migrate_line(path, number, line, name) for number, line in enumerate(lines, start=1)]


def _read_system_and_version(path: Path, line: RecordLine) -> tuple[str, int]:
    if line.type == _VERSION_1_HEADER:
        return FIRST_SYSTEM, 1
    name, version = line.data.get("system"), line.data.get("version")
    if line.type != Header.type or not isinstance(name, str) or not isinstance(version, int):
        raise damaged_line_error(path, 1, "no header that names its system and version")
    if version > VERSION:
        raise UserError(
            f"{path}: is a record of version {version}, and this program reads up to {VERSION}; install a later "
            "housewise"
        )
    return name, version
