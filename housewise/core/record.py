"""Episode records: one JSON-lines file per episode, written as it happens, readable without this code.

Every line is ``{"type": ..., "data": {...}}``: first a ``header``, then events in the order in which they happened,
each of a type that the episode's system knows, and last a ``result``. While the episode is played the file's name ends
in ``.partial``; where it could not be played to its end, it ends in ``.failed``, and a ``failure`` is its last line.
Events of types that are not known are kept as they are.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Annotated, Any, ClassVar, Protocol, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from housewise.core.errors import UserError
from housewise.core.files import open_new, open_regular, read_bytes

VERSION = 2
"""Of records as they are written here."""

MOST = 10**12
"""More than anything that is counted here can be; sums of such numbers still are numbers."""

FINISHED, PARTIAL, FAILED = ".jsonl", ".jsonl.partial", ".jsonl.failed"
"""What the name of a record ends in."""

_NAME = re.compile(r"[^\w.-]+")
_LONGEST_NAME, _MOST_BYTES = 150, 200


def _replace_surrogates(text: Any) -> Any:
    """Text that UTF-8 can hold: a server's JSON may bring half of a surrogate pair."""
    return text.encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else text


def _clip_token_count(number: Any) -> Any:
    """A number of tokens; 0 for one that no model reads or writes, which says as little as none."""
    return 0 if isinstance(number, int | float) and not 0 <= number <= MOST else number


Words = Annotated[str, BeforeValidator(_replace_surrogates)]
"""What a model or a person wrote."""
Count = Annotated[int, Field(ge=0, le=MOST)]
Tokens = Annotated[Count, BeforeValidator(_clip_token_count)]
"""What a server says that a model has read or written."""
Figure = Annotated[float, Field(ge=-MOST, le=MOST, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=MOST, allow_inf_nan=False)]


class Frozen(BaseModel):
    """A part of a record: it does not change, and fields that this version does not know are left out."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Event(Frozen):
    """Something that happened in an episode; each system has types of its own.

    Attributes:
        type: what it is called in records.
    """

    type: ClassVar[str]


class UnknownEvent(Event):
    """An event of a type that nobody here knows, as it was read.

    Attributes:
        kind: its type.
        data: the rest of it.
    """

    type: ClassVar[str] = "unknown"
    kind: str
    data: dict[str, Any]


class Header(Event):
    """What was set: enough to play the episode again.

    Attributes:
        version: of the record's format.
        system: whose episode it is.
        task: what was to be done, by name; the same for all runs of it.
        group: what its figures are summed up with: a scene, a task set.
        run: how many times the task had been played before.
        attempt: how many times it had been begun before and not ended; only counted where a person had taken part.
        seed: of everything that was drawn.
        agent: who acted.
        person: for whom.
        models: names of the models that were asked, by role.
        settings: of the run, as in ``config.json``.
        memory: digest of what was remembered of the person at the start; None where nothing was to be.
        setting: what the episode began with; each system has a type of its own for it.
        software: versions by package.
        started: UTC, ISO 8601.
    """

    type: ClassVar[str] = "header"
    version: int = VERSION
    system: str
    task: str
    group: str = ""
    run: Count = 0
    attempt: Count = 0
    seed: int = 0
    agent: str = ""
    person: str = ""
    models: dict[str, str] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)
    memory: str | None = None
    setting: dict[str, Any] = Field(default_factory=dict)
    software: dict[str, str] = Field(default_factory=dict)
    started: str = ""

    @property
    def name(self) -> str:
        """Name of the record's file without its ending."""
        return record_name(self.task, self.run)


class Usage(Frozen):
    """What an episode took.

    Attributes:
        prompt_tokens, completion_tokens: read and written by models.
        model_seconds: spent waiting for them.
        seconds: in all.
        finish_reasons: how many of their replies ended by themselves (``stop``) or were cut at a limit (``length``).
    """

    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0
    model_seconds: Seconds = 0.0
    seconds: Seconds = 0.0
    finish_reasons: dict[str, Count] = Field(default_factory=dict)

    def plus(self, other: Usage) -> Usage:
        """The sum of both."""
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            model_seconds=self.model_seconds + other.model_seconds,
            seconds=self.seconds + other.seconds,
            finish_reasons=dict(Counter(self.finish_reasons) + Counter(other.finish_reasons)),
        )


class Result(Event):
    """How an episode ended.

    Attributes:
        ended: in a few words, the same for all episodes that end alike.
        scores: by name, as the system declares them, and whatever else was counted.
        usage: what it took.
        final: how things were in the end; each system has a type of its own for it.
    """

    type: ClassVar[str] = "result"
    ended: str
    scores: dict[str, Figure]
    usage: Usage = Usage()
    final: dict[str, Any] = Field(default_factory=dict)


class Failure(Event):
    """Why an episode could not be played to its end.

    Attributes:
        reason: the same for all episodes that fail alike.
        error: what happened to this one.
        traceback: where, if it is a defect.
    """

    type: ClassVar[str] = "failure"
    reason: Words
    error: Words
    traceback: Words = ""


Outcome = Result | Failure
"""What becomes of an episode."""

_E = TypeVar("_E", bound=Event)
EventTypes = Mapping[str, type[Event]]
"""Types of events by what they are called."""


@dataclass(frozen=True, repr=False)
class Record:
    """A finished record in memory.

    Attributes:
        header: what was set.
        events: what happened, in order.
        result: how it ended.
    """

    header: Header
    events: tuple[Event, ...]
    result: Result

    def __repr__(self) -> str:
        return f"<Record: {self.summary}>"

    @property
    def name(self) -> str:
        """Name of the file without its ending."""
        return self.header.name

    @property
    def summary(self) -> str:
        """Name, agent, number of events and end, in a line."""
        return f"{self.name}, agent {self.header.agent}, {len(self.events)} events, {self.result.ended}"

    def with_scores(self, scores: Mapping[str, float]) -> Record:
        """The same with further scores."""
        return replace(self, result=self.result.model_copy(update={"scores": {**self.result.scores, **scores}}))

    def of_type(self, kind: type[_E]) -> list[_E]:
        """The events of a type, in order."""
        return [event for event in self.events if isinstance(event, kind)]


class EventWriter(Protocol):
    """Takes the events of an episode."""

    def write(self, event: Event) -> None: ...


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


def record_name(task: str, run: int) -> str:
    """Name of a task's record, without its ending: one that every disk takes, and that leads out of no folder."""
    name = _NAME.sub("-", task)[:_LONGEST_NAME].encode()[:_MOST_BYTES].decode(errors="ignore")
    return f"{name.strip('.') or 'task'}-run{run}"


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
