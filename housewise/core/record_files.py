"""Reads and writes the files of episode records; see core.record for what they hold."""

from __future__ import annotations

import contextlib
import json
import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from housewise.core.errors import UserError
from housewise.core.files import open_new, open_regular, read_bytes
from housewise.core.record import Event, EventTypes, Failure, Header, Record, Result, UnknownEvent

FINISHED, PARTIAL, FAILED = ".jsonl", ".jsonl.partial", ".jsonl.failed"
"""Endings of a record's file name: of a finished, a running and a failed episode."""


class RecordWriter:
    """Writes an episode as it happens; the file gets its final name with the result or the failure.

    What is left of an attempt that a person took part in is kept, as ``<name>.jsonl.interrupted-<n>``: what was
    answered cannot be asked again.

    Args:
        folder: where records live; made when it is missing.
        name: of the record.

    Attributes:
        attempt: how many such attempts there are.

    Raises:
        UserError: when there can be no such file.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._final, self._failed = folder / f"{name}{FINISHED}", folder / f"{name}{FAILED}"
        self._partial, self._interrupted = folder / f"{name}{PARTIAL}", folder / f"{name}{FINISHED}.interrupted-"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.attempt = _keep_interrupted(self._partial, self._interrupted)
            self._partial.unlink(missing_ok=True)
            self._stream: IO[str] = open_new(self._partial, "w", encoding="utf-8")
        except OSError as error:
            raise UserError(f"{self._partial}: cannot be written ({error.strerror}); choose another folder") from error

    def write(self, event: Event) -> None:
        """Append a line.

        Raises:
            UserError: when the disk does not take it.
        """
        try:
            self._stream.write(format_event(event) + "\n")
            self._stream.flush()
            if isinstance(event, Result | Failure):
                os.fsync(self._stream.fileno())
                self._stream.close()
                _keep_interrupted(self._failed, self._interrupted)
                self._partial.replace(self._final if isinstance(event, Result) else self._failed)
            if isinstance(event, Result):
                self._failed.unlink(missing_ok=True)
        except OSError as error:
            raise UserError(
                f"{self._partial}: cannot be written ({error.strerror}); make room and run the same command again: "
                "finished episodes are kept"
            ) from error

    def close(self) -> None:
        """Leave an unfinished record as it is; what a full disk did not take has been complained about already."""
        with contextlib.suppress(OSError):
            self._stream.close()


def _keep_interrupted(left: Path, interrupted: Path) -> int:
    """Number what is left of an attempt with a person's answers; how many of them there are."""
    earlier = len(list(left.parent.glob(f"{interrupted.name}*")))
    if not left.is_file() or left.is_symlink() or not _has_answers(left):
        return earlier
    left.replace(interrupted.with_name(f"{interrupted.name}{earlier + 1}"))
    return earlier + 1


def _has_answers(left: Path) -> bool:
    with open_regular(left) as stream:
        return any(line.startswith(b'{"type":"answer"') for line in stream)


def file_key(name: str) -> str:
    """A file's name as disks see it that make no difference between cases and between forms of a letter."""
    return unicodedata.normalize("NFC", name).casefold()


def format_event(event: Event) -> str:
    """An event as a line of a record, without the line's end."""
    kind, data = event.type, event.model_dump_json()
    if isinstance(event, UnknownEvent):
        kind, data = event.kind, json.dumps(event.data, ensure_ascii=False, separators=(",", ":"))
    return f'{{"type":{json.dumps(kind)},"data":{data}}}'


@dataclass(frozen=True)
class RecordLine:
    """A line of a record before it is known what its type means.

    Attributes:
        type: of the event.
        data: the rest of it.
    """

    type: str
    data: dict[str, Any]

    def read(self, known: EventTypes) -> Event:
        """The event.

        Args:
            known: types of events.

        Raises:
            ValidationError: when its data does not fit its type.
        """
        kind = known.get(self.type)
        return UnknownEvent(kind=self.type, data=self.data) if kind is None else kind.model_validate(self.data)


FRAME: EventTypes = {kind.type: kind for kind in (Header, Result, Failure)}
"""What every record has, whatever is played."""


def read_lines(path: Path, texts: Iterable[str | bytes] | None = None) -> list[RecordLine]:
    """The lines of a record of any version; version 1 has no frame: its fields stand beside the type.

    Args:
        path: of the record.
        texts: its lines; None reads them.

    Raises:
        UserError: when one is none; the message names it.
    """
    found = []
    for number, text in enumerate(_texts(path) if texts is None else texts, start=1):
        try:
            content = json.loads(text)
            data = content.get("data")
            kind, rest = content["type"], {key: value for key, value in content.items() if key != "type"}
            if not isinstance(kind, str):
                raise ValueError("its type is no text")
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            raise damaged_line_error(
                path, number, "JSON with a type" if isinstance(error, KeyError) else str(error)
            ) from error
        framed = isinstance(data, dict) and len(rest) == 1
        found.append(RecordLine(kind, data if framed else rest))
    return found


def assemble_record(path: Path, lines: Sequence[RecordLine], known: EventTypes) -> Record:
    """A record of its lines.

    Args:
        path: of the record, for messages.
        lines: as read_lines finds them, in this version's form.
        known: types of the system's events.

    Raises:
        UserError: when it is damaged; the message names file and line.
    """
    events: list[Event] = []
    types = {**known, **FRAME}
    for number, line in enumerate(lines, start=1):
        try:
            events.append(line.read(types))
        except ValidationError as error:
            problem = error.errors()[0]
            field = ".".join(map(str, problem["loc"]))
            raise damaged_line_error(
                path, number, f"{line.type}: {f'{field}: ' if field else ''}{problem['msg']}"
            ) from error
    first, last = (events[0], events[-1]) if len(events) > 1 else (None, None)
    inner = tuple(events[1:-1])
    several = any(isinstance(event, Header | Result) for event in inner)
    if not isinstance(first, Header) or not isinstance(last, Result) or several:
        raise UserError(f"{path}: has no beginning or no end, or several; delete the file to run the episode again")
    return Record(first, inner, last)


def damaged_line_error(path: Path, line: int, why: str) -> UserError:
    """What is said of a line that is none of a record's."""
    return UserError(f"{path}: line {line} is not a record's ({why}); delete the file to run it again")


def _texts(path: Path) -> Iterator[str]:
    try:
        # Only at line feeds: JSON texts may hold other letters at which splitlines breaks.
        return iter(read_bytes(path).decode("utf-8-sig").removesuffix("\n").split("\n"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error})") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is no text ({error}); delete the file to run the episode again") from error
