"""Notes: what was learned of a person once, in words and as a value, and what it is about.

Notes are untrusted text. They are bounded and hold nothing but what can be seen. What looks like an instruction in them
is kept as it is: whoever puts notes into a prompt has to present them as data.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from housewise.core.errors import UserError, excerpt

Kind = Literal["reaction", "rule", "answer", "goal"]

MAX_TEXT_CHARACTERS = 2000
"""Characters of a note's text, of its situation and of its value."""
MAX_NAME_CHARACTERS = 200
"""Characters of a name: of a thing, a room, a receptacle, a task, a record."""
_LARGEST = 1e15
MAX_THINGS = 20
MAX_ORIGINS = 1000
PERSON_PATTERN = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,78}[A-Za-z0-9_-])?"
"""What a person is called, who has a folder of that name."""

_NAMED_BY = "use letters a to z, digits, - _ and dots within, at most 80"
_ID = r"[0-9a-f]{12}"
_MOST_READ = 20 * MAX_TEXT_CHARACTERS
"""Characters of a text that are looked at at all: what is cleaned away is bounded as well."""
_SPACES = re.compile(r"\s+")
# Fixed, not by what Python's Unicode tables say: ids must not depend on the version. Controls; then what is unseen
# (soft hyphen, zero width, direction, byte order, interlinear, tags) and halves of surrogate pairs.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_UNSEEN = re.compile(
    "[\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def _clean(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    if len(text) > _MOST_READ:
        raise ValueError(f"has {len(text)} characters; at most {MAX_TEXT_CHARACTERS} can be kept")
    return _SPACES.sub(" ", _UNSEEN.sub("", _CONTROLS.sub(" ", text))).strip()


def _name(text: Any) -> Any:
    text = _clean(text)
    return text.lower() or None if isinstance(text, str) else text


def _or_none(text: Any) -> Any:
    return _clean(text) or None if isinstance(text, str) else text


def _value(said: Any) -> Any:
    if isinstance(said, str):
        said = _clean(said) or None
    elif isinstance(said, int | float):
        # One zero: -0.0 says nothing else.
        said = float(said) + 0.0 if abs(said) <= _LARGEST else math.nan
    if said is not None and not (len(said) <= MAX_TEXT_CHARACTERS if isinstance(said, str) else isinstance(said, float)):
        raise ValueError(f"not a number, or a text of at most {MAX_TEXT_CHARACTERS} characters")
    if isinstance(said, float) and math.isnan(said):
        raise ValueError(f"not a number from -{_LARGEST:g} to {_LARGEST:g}")
    return said


Text = Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS), BeforeValidator(_clean)]
Name = Annotated[str, Field(max_length=MAX_NAME_CHARACTERS), BeforeValidator(_name)]
_Place = Annotated[Annotated[str, Field(max_length=MAX_NAME_CHARACTERS)] | None, BeforeValidator(_name)]


_TIME = TypeAdapter(datetime)
_AHEAD = timedelta(days=1)


class _Frozen(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, coerce_numbers_to_str=True, hide_input_in_errors=True
    )


class About(_Frozen):
    """What a note is about, or a question. What is left out is left open. Names are in lower case, without numbers.

    Attributes:
        things: kinds of things, in alphabetical order.
        room: kind of room.
        receptacle: kind of place.
        task: name of what was to be done.
        situation: in which this holds, in free words.
    """

    things: Annotated[tuple[Name, ...], Field(max_length=MAX_THINGS)] = ()
    room: _Place = None
    receptacle: _Place = None
    task: _Place = None
    situation: Annotated[Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)] | None, BeforeValidator(_or_none)] = None

    @field_validator("things", mode="before")
    @classmethod
    def _one(cls, things: Any) -> Any:
        return (things,) if isinstance(things, str) else things

    @field_validator("things")
    @classmethod
    def _ordered(cls, things: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(set(things)))

    def __bool__(self) -> bool:
        return bool(self.stated_fields)

    @property
    def stated_fields(self) -> dict[str, Any]:
        """What it says, by field."""
        return {field: value for field, value in self if value}

    @property
    def phrase(self) -> str:
        """In words, as in ``mug, kitchen, sink``."""
        return ", ".join([*self.things, *filter(None, (self.room, self.receptacle, self.task, self.situation))])

    def covers(self, other: About) -> bool:
        """Whether everything that this says is said by another as well."""
        return set(self.things) <= set(other.things) and all(
            getattr(other, field) == value for field, value in self.stated_fields.items() if field != "things"
        )


class Source(_Frozen):
    """Where a note comes from.

    Attributes:
        record: name of the episode's record.
        line: number of its line, from 1.
    """

    record: Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARACTERS), BeforeValidator(_clean)]
    line: Annotated[int, Field(ge=0, le=10**9)] | None = None


def current_time() -> str:
    """The time as notes write it."""
    return _written(datetime.now(timezone.utc))


def is_future(time: str) -> bool:
    """Whether a time, as notes write it, is later than any computer's clock can be by now."""
    return time > _written(datetime.now(timezone.utc) + _AHEAD)


def next_millisecond(time: str) -> str:
    """A time that is later than another by as little as notes can tell; now, where that one is in the future."""
    if is_future(time):
        return current_time()
    return _written(datetime.fromisoformat(time.replace("Z", "+00:00")) + timedelta(milliseconds=1))


def _written(time: datetime) -> str:
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Note(_Frozen):
    """What was learned of a person once.

    Attributes:
        person: letters, digits, - _ and dots.
        kind: a reaction to what was done, a rule they agreed to, an answer they gave, or a goal they confirmed.
        text: in words.
        about: what it is about.
        value: what it says of that: of a reaction how good (1.0) or bad (-1.0) it was, of an answer the option. Notes
            of one kind about the same that differ in their values contradict each other; those without values never do.
        source: where it was learned; None when it was told by hand.
        time: ISO 8601 in UTC, to the millisecond; now by default.
        derived_from: ids of the notes that it was concluded from; it is forgotten with any of them.
        version_of: id of the note as it was first written, where this is a corrected version of it.
        id: a hash of the rest, which need not be given.
    """

    person: Annotated[str, Field(pattern=f"^{PERSON_PATTERN}$")]
    kind: Kind
    text: Text = ""
    about: About = About()
    value: Annotated[float | str | None, BeforeValidator(_value)] = None
    source: Source | None = None
    time: str = Field(default_factory=current_time)
    derived_from: Annotated[tuple[Annotated[str, Field(pattern=f"^{_ID}$")], ...], Field(max_length=MAX_ORIGINS)] = ()
    version_of: Annotated[str, Field(pattern=f"^{_ID}$")] | None = None
    id: str = ""

    @field_validator("time", mode="before")
    @classmethod
    def _in_utc(cls, time: Any) -> str:
        try:
            said = _TIME.validate_python(time)
            said = said if said.tzinfo else said.replace(tzinfo=timezone.utc)
            if 1970 < said.year < 2200:
                return _written(said)
        except (ValueError, OverflowError):
            pass
        raise ValueError("not a time; write it as 2026-11-23T14:05:00Z")

    @model_validator(mode="after")
    def _says_something(self) -> Note:
        if not self.text and self.value is None:
            raise ValueError("says nothing; give it a text or a value")
        return self

    @model_validator(mode="after")
    def _named_by_content(self) -> Note:
        found = hashlib.sha256(self.canonical_json.encode()).hexdigest()[:12]
        if self.id not in ("", found):
            raise ValueError(f"its id is {excerpt(self.id)!r} and should be {found}: it was changed; leave out the id")
        self.__dict__["id"] = found
        return self

    @property
    def original_id(self) -> str:
        """The id that people know it by: that of its first version, which stays the same when it is corrected."""
        return self.version_of or self.id

    @property
    def canonical_json(self) -> str:
        """All but the id as one line of JSON, which is the same everywhere."""
        return json.dumps(self.fields(), sort_keys=True)

    @property
    def sort_key(self) -> tuple[str, str, int, str]:
        """By which notes are sorted: the oldest first. A time in the future is not believed, and overrules nothing."""
        source = self.source
        return (
            "" if is_future(self.time) else self.time,
            source.record if source else "",
            (source and source.line) or 0,
            self.id,
        )

    def fields(self) -> dict[str, Any]:
        """What it says, for JSON and YAML: all but the id, and without what is left open."""
        values = self.model_dump(mode="json", exclude={"id"}, exclude_none=True)
        values["about"] = {field: value for field, value in values["about"].items() if value}
        return {field: value for field, value in values.items() if value not in ({}, [], "")}


def is_person_name(name: str) -> bool:
    """Whether a folder can be made of a person's name."""
    return re.fullmatch(PERSON_PATTERN, name) is not None


def check_person_name(name: str) -> str:
    """A person's name, of which a folder can be made.

    Raises:
        UserError: when it is none.
    """
    if not is_person_name(name):
        raise UserError(f"{excerpt(name)!r} cannot be a person's name: {_NAMED_BY}")
    return name


def parse_note(fields: Mapping[str, Any], where: str) -> Note:
    """A note of somebody else's making.

    Raises:
        UserError: when it is none; the message begins with where.
    """
    try:
        return Note.model_validate(dict(fields))
    except ValidationError as error:
        raise UserError(f"{where}: {describe_error(error)}") from error


def parse_about(fields: Mapping[str, Any], where: str) -> About:
    """What somebody else says a note is about; see note_from."""
    try:
        return About.model_validate(dict(fields))
    except ValidationError as error:
        raise UserError(f"{where}: {describe_error(error)}") from error


def describe_error(error: ValidationError) -> str:
    """What is wrong first, in a few words."""
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(map(str, first["loc"]))
    words = str(first["msg"]).removeprefix("Value error, ")
    if first["loc"] and first["loc"][0] == "person":
        words = _NAMED_BY
    return excerpt(f"{field}: {words}" if field else words)
