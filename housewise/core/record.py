"""Records of episodes: what was set, what happened, and how it ended.

A record is a JSON-lines file that can be read without this code. Every line is ``{"type": ..., "data": {...}}``: first
a ``header``, then events in their order, last a ``result``. Each system defines its own types of events; events of
unknown types are kept as they are. ``core.record_files`` writes and reads the files.

While the episode runs, the file's name ends in ``.partial``. If the episode fails, the name ends in ``.failed`` and the
last line is a ``failure``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from housewise.core.migrations.code_names import find_former_attribute
from housewise.core.migrations.record_fields import FRAME_FIELDS

VERSION = 3
"""Version of the format that is written."""

MAX_NUMBER = 10**12
"""Upper bound of counts and figures, so that sums of them remain finite."""

_NAME = re.compile(r"[^\w.-]+")
_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST_NAME, _MAX_BYTES = 150, 200


def _replace_surrogates(text: Any) -> Any:
    """Replace unpaired surrogates, which a server's JSON may contain and UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else text


def _clip_token_count(number: Any) -> Any:
    """Return 0 for an impossible number of tokens, as for an unknown one."""
    return 0 if isinstance(number, int | float) and not 0 <= number <= MAX_NUMBER else number


Words = Annotated[str, BeforeValidator(_replace_surrogates)]
"""Text that a model or a person wrote."""
Count = Annotated[int, Field(ge=0, le=MAX_NUMBER)]
Tokens = Annotated[Count, BeforeValidator(_clip_token_count)]
"""Number of tokens that a server reports."""
Figure = Annotated[float, Field(ge=-MAX_NUMBER, le=MAX_NUMBER, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=MAX_NUMBER, allow_inf_nan=False)]


def snake_case(name: str) -> str:
    """Return the name of a class in lower case, with underscores between its words."""
    return _WORD_STARTS.sub("_", name).lower()


class Frozen(BaseModel):
    """Part of a record: immutable, and unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Event(Frozen):
    """Something that happened in an episode; each system defines its own types.

    Attributes:
        type: Name of the type in records. Defaults to the name of the class, ``put_away`` of ``PutAway``.
    """

    type: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "type" not in vars(cls):
            cls.type = snake_case(cls.__name__)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            former = FRAME_FIELDS.get(getattr(type(self), "type", ""), {})
            return find_former_attribute(self, former, name) if name in former else super().__getattr__(name)


class UnknownEvent(Event):
    """Event of an unknown type, kept as it was read.

    Attributes:
        kind: Name of its type.
        data: Its other fields.
    """

    type: ClassVar[str] = "unknown"
    kind: str
    data: dict[str, Any]


class Header(Event):
    """Everything that is needed to play the episode again.

    Attributes:
        version: Version of the record's format.
        system: Name of the system.
        task: Name of the task, equal for all repetitions of it.
        group: What scores are averaged by, such as a scene or a task set.
        repetition: Number of the repetition, from 0.
        attempt: How many earlier attempts were interrupted; counted only if a person took part.
        seed: Seed of the random number generator.
        agent: Name of the agent.
        person: Name of the person.
        models: Names of the models by role.
        settings: Settings of the run, as in ``config.json``.
        memory: Digest of the person's memory at the start; None without a memory.
        initial_state: Initial state of the episode, as defined by the system.
        software: Versions by package.
        commit: Commit of the checkout that played the episode; None if there is none, or in older records.
        changed: Whether the code differed from the commit; None without a commit.
        started: Start time, UTC, ISO 8601.
    """

    type: ClassVar[str] = "header"
    version: int = VERSION
    system: str
    task: str
    group: str = ""
    repetition: Count = 0
    attempt: Count = 0
    seed: int = 0
    agent: str = ""
    person: str = ""
    models: dict[str, str] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)
    memory: str | None = None
    initial_state: dict[str, Any] = Field(default_factory=dict)
    software: dict[str, str] = Field(default_factory=dict)
    commit: str | None = None
    changed: bool | None = None
    started: str = ""

    @property
    def name(self) -> str:
        """Name of the record's file without its suffix."""
        return record_name(self.task, self.repetition)


class Usage(Frozen):
    """Tokens and time that an episode took.

    Attributes:
        prompt_tokens, completion_tokens: Tokens that models read and wrote.
        model_seconds: Seconds spent waiting for models.
        seconds: Seconds in total. Of an interrupted episode, those of the last attempt only.
        finish_reasons: Number of replies by the reason for their end: ``stop`` or ``length`` (cut at a limit).
    """

    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0
    model_seconds: Seconds = 0.0
    seconds: Seconds = 0.0
    finish_reasons: dict[str, Count] = Field(default_factory=dict)

    def plus(self, other: Usage) -> Usage:
        """Return the sum of both."""
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
        end_reason: Short reason, equal for all episodes that end in the same way.
        scores: Scores by name, as the system declares them, and further counts.
        usage: Tokens and time that the episode took.
        final: Final state, as defined by the system.
    """

    type: ClassVar[str] = "result"
    end_reason: str
    scores: dict[str, Figure]
    usage: Usage = Usage()
    final: dict[str, Any] = Field(default_factory=dict)


class Failure(Event):
    """Why an episode failed.

    Attributes:
        reason: Short reason, equal for all episodes that fail in the same way.
        error: What happened in this episode.
        traceback: Traceback, if the cause is a defect.
    """

    type: ClassVar[str] = "failure"
    reason: Words
    error: Words
    traceback: Words = ""


Outcome = Result | Failure
"""How an episode ended, or why it failed."""

_E = TypeVar("_E", bound=Event)
EventTypes = Mapping[str, type[Event]]
"""Classes of events by the name of their type."""


@dataclass(frozen=True, repr=False)
class Record:
    """A finished record in memory.

    Attributes:
        header: What was set.
        events: What happened, in order.
        result: How it ended.
    """

    header: Header
    events: tuple[Event, ...]
    result: Result

    def __repr__(self) -> str:
        return f"<Record: {self.summary}>"

    @property
    def name(self) -> str:
        """Name of the record's file without its suffix."""
        return self.header.name

    @property
    def summary(self) -> str:
        """Name, agent, number of events and end on one line."""
        return f"{self.name}, agent {self.header.agent}, {len(self.events)} events, {self.result.end_reason}"

    def with_scores(self, scores: Mapping[str, float]) -> Record:
        """Return a copy with additional scores."""
        return replace(self, result=self.result.model_copy(update={"scores": {**self.result.scores, **scores}}))

    def of_type(self, kind: type[_E]) -> list[_E]:
        """Return the events of a class, in order."""
        return [event for event in self.events if isinstance(event, kind)]


class EventWriter(Protocol):
    """Receives the events of an episode."""

    def write(self, event: Event) -> None:
        """Receive the next event."""


def record_name(task: str, run: int) -> str:
    """Return the file name of a task's record without its suffix.

    The name is valid on every file system and does not lead out of a folder.
    """
    name = _NAME.sub("-", task)[:_LONGEST_NAME].encode()[:_MAX_BYTES].decode(errors="ignore")
    return f"{name.strip('.') or 'task'}-run{run}"
