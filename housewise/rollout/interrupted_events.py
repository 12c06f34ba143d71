"""Reads the events of interrupted attempts at an episode, so that people and models are not asked the same again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, takewhile
from pathlib import Path

from pydantic import ValidationError

from housewise.core.errors import UserError
from housewise.core.files import read_bytes
from housewise.core.record import Event, Header
from housewise.core.record_files import FAILED, FINISHED, PARTIAL, read_lines
from housewise.rollout.note_events import NOTE_EVENTS
from housewise.rollout.record_reader import migrate_line, read_header


def read_interrupted_events(
    folder: Path, name: str, events: Sequence[type[Event]], is_same_job: Callable[[Header], bool]
) -> tuple[Event, ...]:
    """Return the events of earlier attempts at an episode, oldest first.

    Lines that are incomplete or damaged are ignored.

    Args:
        folder: Folder of the records.
        name: Name of the episode's record.
        events: Event types of the system.
        is_same_job: Returns whether a header belongs to an attempt at the same episode.
    """
    known: dict[str, type[Event]] = {**NOTE_EVENTS, **{event.type: event for event in events}}
    return tuple(event for path in _find_attempts(folder, name) for event in _read_events(path, known, is_same_job))


def _find_attempts(folder: Path, name: str) -> list[Path]:
    aside = (folder / f"{name}{FINISHED}.interrupted-{number}" for number in count(1))
    last = (folder / f"{name}{ending}" for ending in (FAILED, PARTIAL))
    return [*takewhile(Path.is_file, aside), *(path for path in last if path.is_file() and not path.is_symlink())]


def _read_events(
    path: Path, known: Mapping[str, type[Event]], is_same_job: Callable[[Header], bool]
) -> Iterator[Event]:
    try:
        first, *texts = read_bytes(path).split(b"\n")
    except OSError:
        return
    header = read_header(path, first)
    if header is None or not is_same_job(header):
        return
    for number, text in enumerate(texts[:-1], start=2):
        try:
            [line] = read_lines(path, [text])
            if line.type in known:
                yield migrate_line(path, number, line, header.system).read(known)
        except (UserError, ValidationError):
            continue
