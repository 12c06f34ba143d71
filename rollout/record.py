"""Episode records: one JSON-lines file per episode, written as it happens, readable without this code.

A file holds one ``episode`` line, a ``plan`` line for each plan with an ``action`` line for each of its steps after
it, and one ``result`` line. While the episode runs the file's name ends in ``.partial``; where it could not be played
to its end, it ends in ``.failed``, and a ``failure`` line is its last.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Annotated, Any, Literal, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from housewise.core.errors import UserError
from housewise.core.files import open_new

Placements = dict[str, str]
"""Spoken name of the receptacle by spoken name of the object; ``robot`` is the hand."""


def _writable(text: Any) -> Any:
    """Text that UTF-8 can hold: a server's JSON may bring half of a surrogate pair."""
    return text.encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else text


Words = Annotated[str, BeforeValidator(_writable)]
"""What a model wrote."""

MOST = 10**12
"""More than anything that is counted here can be; sums of such numbers still are numbers."""


def _counted(number: Any) -> Any:
    """A number of tokens; 0 for one that no model reads or writes, which says as little as none."""
    return 0 if isinstance(number, int | float) and not 0 <= number <= MOST else number


Count = Annotated[int, Field(ge=0, le=MOST)]
Tokens = Annotated[Count, BeforeValidator(_counted)]
"""What a server says that a model has read or written."""
Seconds = Annotated[float, Field(ge=0, le=MOST, allow_inf_nan=False)]


# Far beyond any house, and any turn that a robot makes.
_Near = Annotated[float, Field(ge=-1e4, le=1e4)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class EpisodeLine(_Line):
    """What was set: enough to play the episode again."""

    type: Literal["episode"] = "episode"
    version: int = 1
    scene: str
    episode: Count
    run: Count
    task_set: str = ""
    seed: int
    planner: str
    model: str | None = None
    simulator: str
    rooms: list[str]
    placements: Placements
    correct: dict[str, list[str]]
    config: dict[str, Any] = Field(default_factory=dict)
    software: dict[str, str] = Field(default_factory=dict)
    started: str = ""

    @property
    def task(self) -> tuple[str, int]:
        """What was to be done, whichever run this is."""
        return self.scene, self.episode


class ExchangeLine(_Line):
    """What a model was asked and what it answered on the way to a plan."""

    prompt: list[dict[str, Words]]
    reply: Words
    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0


class TriedLine(_Line):
    """Another reply to the same prompt, and what it would have done: it was tried, and then taken back."""

    reply: Words
    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0
    complete: bool = False
    reward: float = 0.0
    done: list[Words] = Field(default_factory=list)
    """Its steps that succeeded, as written."""
    moved: list[str] = Field(default_factory=list)
    discovered: Count = 0


class PlanLine(_Line):
    """A plan: what the model was asked and what it answered."""

    type: Literal["plan"] = "plan"
    plan: Count
    step: Count
    prompt: list[dict[str, Words]] = Field(default_factory=list)
    reply: Words
    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0
    model_seconds: Seconds = 0.0
    complete: bool = False
    known: Mapping[str, Mapping[str, Sequence[str]]] = Field(default_factory=dict)
    """What the robot knew: objects by receptacle by room."""
    earlier: list[ExchangeLine] = Field(default_factory=list)
    """What was asked before, where a planner asks more than once or takes a second look; the tokens of all are counted
    above."""
    scores: dict[str, float] = Field(default_factory=dict)
    """Log-probability of each action that the planner could choose."""
    tried: list[TriedLine] = Field(default_factory=list)
    """Other replies to the same prompt, where several were asked for."""

    @property
    def known_things(self) -> set[str]:
        """Objects that the robot knew of."""
        return {thing for places in self.known.values() for things in places.values() for thing in things}

    @property
    def second_look(self) -> bool:
        """Whether the model had taken the task as done, and the robot looked where it had not been."""
        return bool(self.earlier) and not self.prompt


class ActionLine(_Line):
    """A step of a plan, and what came of it."""

    type: Literal["action"] = "action"
    plan: Count
    raw: Words
    action: str | None = None
    kind: str | None = None
    target: str | None = None
    destination: str | None = None
    status: Literal["succeeded", "failed", "skipped"]
    reason: str = ""
    start: Count
    end: Count
    low_level: str = ""
    """One letter per low-level action: f forward, l and r turn, u and d look, g grab or release."""
    aimed: list[str] = Field(default_factory=list)
    """Key that each ``g`` referred to."""
    path: list[tuple[_Near, _Near, _Near]] = Field(default_factory=list)
    """(x, z, yaw) after each low-level action, metres and radians."""
    discovered: list[str] = Field(default_factory=list)
    moved: dict[str, tuple[str, str]] = Field(default_factory=dict)
    reward: float = 0.0
    seconds: Seconds = 0.0


class ResultLine(_Line):
    """How the episode ended."""

    type: Literal["result"] = "result"
    ended: Literal["complete", "out of steps", "out of plans"]
    success_rate: float
    correct_start: Count
    correct_end: Count
    misplaced_start: Count
    objects: Count
    placements: Placements
    plans: Count
    steps: Count
    actions: Count
    succeeded: Count
    failed: Count
    skipped: Count
    unique_placements: Count
    prompt_tokens: Tokens
    completion_tokens: Tokens
    model_seconds: Seconds
    seconds: Seconds


class FailureLine(_Line):
    """Why an episode could not be played to its end.

    Attributes:
        reason: the same for all episodes that fail alike.
        error: what happened to this one.
        traceback: where, if it is a defect.
    """

    type: Literal["failure"] = "failure"
    reason: Words
    error: Words
    traceback: Words = ""


Outcome = ResultLine | FailureLine
"""What becomes of an episode."""

FAILED = ".failed"
"""What the name of a failed episode's record ends in."""

Line = Annotated[EpisodeLine | PlanLine | ActionLine | ResultLine, Field(discriminator="type")]


class Writer(Protocol):
    """Takes the lines of an episode."""

    def write(self, line: EpisodeLine | PlanLine | ActionLine | ResultLine) -> None: ...


def moved_by(actions: Sequence[ActionLine]) -> list[str]:
    """Objects that stand elsewhere after some actions than before them, in the order in which they were taken."""
    first: dict[str, str] = {}
    last: dict[str, str] = {}
    for action in actions:
        for thing, (before, after) in action.moved.items():
            first.setdefault(thing, before)
            last[thing] = after
    return [thing for thing in first if first[thing] != last[thing]]


_LINE: TypeAdapter[EpisodeLine | PlanLine | ActionLine | ResultLine] = TypeAdapter(Line)


class EpisodeRecord(BaseModel):
    """A finished record in memory."""

    episode: EpisodeLine
    plans: list[PlanLine]
    actions: list[ActionLine]
    result: ResultLine

    @property
    def known_things(self) -> set[str]:
        """Objects that the robot discovered, or knew of when it was asked for a plan."""
        discovered = {thing for action in self.actions for thing in action.discovered}
        return discovered.union(*(plan.known_things for plan in self.plans))

    @property
    def name(self) -> str:
        """Name of the file without its ending."""
        return record_name(self.episode.scene, self.episode.episode, self.episode.run)


class RecordWriter:
    """Writes the lines of one episode as they happen; the file gets its final name with the result or the failure.

    Args:
        folder: where records live; made when it is missing.
        name: of the record.

    Raises:
        UserError: when there can be no such file.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._final = folder / f"{name}.jsonl"
        self._partial = folder / f"{name}.jsonl.partial"
        self._failed = folder / f"{name}.jsonl{FAILED}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._partial.unlink(missing_ok=True)
            self._stream: IO[str] = open_new(self._partial, "w", encoding="utf-8")
        except OSError as error:
            raise UserError(f"{self._partial}: cannot be written ({error.strerror}); choose another folder") from error

    def write(self, line: EpisodeLine | PlanLine | ActionLine | Outcome) -> None:
        """Append a line.

        Raises:
            UserError: when the disk does not take it.
        """
        try:
            self._stream.write(line.model_dump_json() + "\n")
            self._stream.flush()
            if isinstance(line, ResultLine | FailureLine):
                os.fsync(self._stream.fileno())
                self._stream.close()
                self._partial.replace(self._final if isinstance(line, ResultLine) else self._failed)
            if isinstance(line, ResultLine):
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


def record_name(scene: str, episode: int, run: int) -> str:
    """What an episode's record is called."""
    return f"{scene}-{episode:04d}-run{run}"


def read_record(path: Path) -> EpisodeRecord:
    """A finished record.

    Raises:
        UserError: when it is damaged; the message names file and line.
    """
    lines: dict[str, list[Any]] = {"episode": [], "plan": [], "action": [], "result": []}
    for number, text in enumerate(_lines(path), start=1):
        try:
            line = _LINE.validate_json(text)
        except ValidationError as error:
            raise UserError(
                f"{path}: line {number} is not a record's ({error.errors()[0]['msg']}); delete the file to run it again"
            ) from error
        lines[line.type].append(line)
    if len(lines["episode"]) != 1 or len(lines["result"]) != 1:
        raise UserError(f"{path}: has no beginning or no end; delete the file to run the episode again")
    return EpisodeRecord(
        episode=lines["episode"][0], plans=lines["plan"], actions=lines["action"], result=lines["result"][0]
    )


def read_records(folder: Path) -> Iterator[EpisodeRecord]:
    """Every finished record of a folder, by name."""
    return (read_record(path) for path in sorted(folder.glob("*.jsonl")))


def _lines(path: Path) -> list[str]:
    try:
        # Only at line feeds: JSON texts may hold other letters at which splitlines breaks.
        return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({error})") from error
