"""Writes and reads the files of episode records; ``core.record`` describes their content."""

from __future__ import annotations

import contextlib
import json
import os
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from housewise.core.errors import UserCodeError, UserError
from housewise.core.files import open_new, open_regular
from housewise.core.record import Event, EventTypes, Failure, Header, Record, Result, UnknownEvent
from housewise.core.text_files import read_text
from housewise.core.validation import describe_validation_error

FINISHED, PARTIAL, FAILED = ".jsonl", ".jsonl.partial", ".jsonl.failed"
"""Suffixes of record files: of a finished, a running and a failed episode."""


class RecordWriter:
    """Writes the events of an episode as they happen.

    The file gets its final name with the result or the failure. If a person took part in an interrupted attempt, its
    file is kept as ``<name>.jsonl.interrupted-<n>``, since the person cannot be asked the same questions again.

    Args:
        folder: Folder of the records; it is created if it is missing.
        name: Name of the record.
        interactive: Whether a user at the terminal plays the episode, who takes part with its first event.

    Attributes:
        attempt: Number of interrupted attempts in which a person took part.

    Raises:
        UserError: If the file cannot be created.
    """

    def __init__(self, folder: Path, name: str, interactive: bool = False) -> None:
        self._interactive = interactive
        self._final, self._failed = folder / f"{name}{FINISHED}", folder / f"{name}{FAILED}"
        self._partial, self._interrupted = folder / f"{name}{PARTIAL}", folder / f"{name}{FINISHED}.interrupted-"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.attempt = _keep_interrupted(self._partial, self._interrupted, interactive)
            self._partial.unlink(missing_ok=True)
            self._stream: IO[str] = open_new(self._partial, "w", encoding="utf-8")
        except OSError as error:
            raise UserError(f"{self._partial}: cannot be written ({error.strerror}); choose another folder") from error

    def write(self, event: Event) -> None:
        """Append an event.

        Raises:
            UserError: If the disk refuses it.
        """
        try:
            self._stream.write(format_event(event) + "\n")
            self._stream.flush()
            if isinstance(event, Result | Failure):
                os.fsync(self._stream.fileno())
                self._stream.close()
                _keep_interrupted(self._failed, self._interrupted, self._interactive)
                self._partial.replace(self._final if isinstance(event, Result) else self._failed)
            if isinstance(event, Result):
                self._failed.unlink(missing_ok=True)
        except OSError as error:
            raise UserError(
                f"{self._partial}: cannot be written ({error.strerror}); make room and run the same command again: "
                "finished episodes are kept"
            ) from error

    def close(self) -> None:
        """Close the file of an unfinished record; errors of a full disk have been reported by ``write``."""
        with contextlib.suppress(OSError):
            self._stream.close()


def _keep_interrupted(left: Path, interrupted: Path, interactive: bool) -> int:
    """Rename the file of an attempt if a person took part in it; return the number of such attempts."""
    earlier = len(list(left.parent.glob(f"{interrupted.name}*")))
    if not left.is_file() or left.is_symlink() or not _has_answers(left, interactive):
        return earlier
    left.replace(interrupted.with_name(f"{interrupted.name}{earlier + 1}"))
    return earlier + 1


def _has_answers(left: Path, interactive: bool) -> bool:
    """Whether a file has an answer or, of an interactive attempt, any event after its header."""
    with open_regular(left) as stream:
        next(stream, None)
        return any(interactive or line.startswith(b'{"type":"answer"') for line in stream)


def file_key(name: str) -> str:
    """Return a key that is equal for file names that some file systems do not distinguish.

    Some ignore case, some the difference between composed and decomposed letters.
    """
    return unicodedata.normalize("NFC", name).casefold()


def format_event(event: Event) -> str:
    """Return an event as a line of a record, without a line feed.

    Raises:
        UserCodeError: It has a value that JSON cannot express.
    """
    try:
        kind, data = event.type, event.model_dump_json()
    except PydanticSerializationError as error:
        raise UserCodeError(
            f"event {event.type}: a value is not one of JSON ({error}); convert it, numpy's with .item() or .tolist()"
        ) from error
    if isinstance(event, UnknownEvent):
        kind, data = event.kind, json.dumps(event.data, ensure_ascii=False, separators=(",", ":"))
    return f'{{"type":{json.dumps(kind)},"data":{data}}}'


@dataclass(frozen=True)
class RecordLine:
    """A line of a record whose type is not yet interpreted.

    Attributes:
        type: Name of the event's type.
        data: The event's other fields.
    """

    type: str
    data: dict[str, Any]

    def read(self, known: EventTypes) -> Event:
        """Return the line as an event.

        Args:
            known: Classes of events by type.

        Raises:
            ValidationError: If the data does not fit the type.
        """
        kind = known.get(self.type)
        return UnknownEvent(kind=self.type, data=self.data) if kind is None else kind.model_validate(self.data)


FRAME: EventTypes = {kind.type: kind for kind in (Header, Result, Failure)}
"""Types that every record has, whatever the system."""


def read_lines(path: Path, texts: Iterable[str | bytes] | None = None) -> list[RecordLine]:
    """Read the lines of a record of any version.

    In version 1 the fields of an event stand beside its type.

    Args:
        path: Path of the record, also for messages.
        texts: Lines of the record; None reads them from the path.

    Raises:
        UserError: If a line is damaged; the message names it.
    """
    found = []
    if texts is None:
        if not path.is_file():
            raise UserError(f"{path}: no such record; name a file of a run's folder episodes")
        # JSON texts may contain other characters at which splitlines would break.
        texts = read_text(path, "delete the file to run the episode again").removesuffix("\n").split("\n")
    for number, text in enumerate(texts, start=1):
        try:
            content = json.loads(text)
            data = content.get("data")
            kind, rest = content["type"], {key: value for key, value in content.items() if key != "type"}
            if not isinstance(kind, str):
                raise ValueError("its type is not a text")
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            raise damaged_line_error(
                path, number, "JSON with a type" if isinstance(error, KeyError) else str(error)
            ) from error
        framed = isinstance(data, dict) and len(rest) == 1
        found.append(RecordLine(kind, data if framed else rest))
    return found


def assemble_record(path: Path, lines: Sequence[RecordLine], known: EventTypes) -> Record:
    """Build a record from its lines.

    Args:
        path: Path of the record, for messages.
        lines: Lines in the form of the current version.
        known: Classes of the system's events by type.

    Raises:
        UserError: If the record is damaged; the message names file and line.
    """
    events: list[Event] = []
    types = {**known, **FRAME}
    for number, line in enumerate(lines, start=1):
        try:
            events.append(line.read(types))
        except ValidationError as error:
            raise _misfit_error(path, number, types[line.type], error) from error
    first, last = (events[0], events[-1]) if len(events) > 1 else (None, None)
    inner = tuple(events[1:-1])
    several = any(isinstance(event, Header | Result) for event in inner)
    if not isinstance(first, Header) or not isinstance(last, Result) or several:
        raise UserError(f"{path}: has no beginning or no end, or several; delete the file to run the episode again")
    return Record(first, inner, last)


def damaged_line_error(path: Path, line: int, why: str) -> UserError:
    """Return the error for a damaged line."""
    return UserError(f"{path}: line {line} is not a record's ({why}); delete the file to run it again")


def _misfit_error(path: Path, line: int, kind: type[Event], error: ValidationError) -> UserError:
    """Return the error for an event that its class refuses, which for a class of a plugin has probably changed."""
    problem = describe_validation_error(error, in_yaml=False)
    if kind.__module__.partition(".")[0] == __name__.partition(".")[0]:
        return damaged_line_error(path, line, f"{kind.type}: {problem}")
    return UserError(
        f"{path}: line {line}: event {kind.type} does not fit its class {kind.__module__}.{kind.__qualname__} "
        f"({problem}); if the class has changed since, let it read the former fields, as by a default for a new one"
    )
