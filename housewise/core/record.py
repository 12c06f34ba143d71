"""Episode records: one JSON-lines file per episode, written as it happens, readable without this code.

Every line is ``{"type": ..., "data": {...}}``: first a ``header``, then events in the order in which they happened,
each of a type that the episode's system knows, and last a ``result``. While the episode is played the file's name ends
in ``.partial``; where it could not be played to its end, it ends in ``.failed``, and a ``failure`` is its last line.
Events of types that are not known are kept as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Protocol, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

VERSION = 2
"""Of records as they are written here."""

MOST = 10**12
"""More than anything that is counted here can be; sums of such numbers still are numbers."""

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


def record_name(task: str, run: int) -> str:
    """Name of a task's record, without its ending: one that every disk takes, and that leads out of no folder."""
    name = _NAME.sub("-", task)[:_LONGEST_NAME].encode()[:_MOST_BYTES].decode(errors="ignore")
    return f"{name.strip('.') or 'task'}-run{run}"
