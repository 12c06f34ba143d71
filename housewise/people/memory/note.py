"""Notes: what was learned about a person, in words and as a value, and what it is about.

Notes are untrusted text. Their length is bounded, and invisible characters are removed. Text that looks like an
instruction is kept, so a prompt has to present notes as data.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any, Literal, TypeVar

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

from housewise.core.errors import UserError
from housewise.core.printable_text import excerpt
from housewise.core.validation import describe_validation_error
from housewise.people.memory.note_migrations import join_situation, split_situation

Kind = Literal["reaction", "rule", "answer", "goal"]

MAX_TEXT_CHARACTERS = 2000
"""Greatest length of a note's text, of its situation and of its value."""
MAX_NAME_CHARACTERS = 200
"""Greatest length of the name of a thing, room, receptacle, task or record."""
_LARGEST = 1e15
MAX_THINGS = 20
MAX_ORIGINS = 1000
PERSON_PATTERN = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,78}[A-Za-z0-9_-])?"
"""Regular expression of names of people, which are names of folders too."""

_NAME_RULE = "use letters a to z, digits, - _ and dots within, at most 80"
_ID = r"[0-9a-f]{12}"
_MAX_INPUT_CHARACTERS = 20 * MAX_TEXT_CHARACTERS
"""Greatest length of a text before invisible characters are removed."""
_SPACES = re.compile(r"\s+")
# Listed here instead of taken from Python's Unicode tables, because ids must not depend on the version: control
# characters; then invisible ones (soft hyphen, zero width, direction, byte order, interlinear, tags) and surrogates.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def _clean(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    if len(text) > _MAX_INPUT_CHARACTERS:
        raise ValueError(f"has {len(text)} characters; at most {MAX_TEXT_CHARACTERS} are allowed")
    return _SPACES.sub(" ", _INVISIBLE.sub("", _CONTROLS.sub(" ", text))).strip()


def _clean_name(text: Any) -> Any:
    text = _clean(text)
    return text.lower() or None if isinstance(text, str) else text


def _clean_or_none(text: Any) -> Any:
    return _clean(text) or None if isinstance(text, str) else text


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        value = _clean(value) or None
    elif isinstance(value, int | float):
        # Adding 0.0 turns -0.0 into 0.0, so that both have the same id.
        value = float(value) + 0.0 if abs(value) <= _LARGEST else math.nan
    is_short_text = isinstance(value, str) and len(value) <= MAX_TEXT_CHARACTERS
    if not (value is None or is_short_text or isinstance(value, float)):
        raise ValueError(f"not a number, or a text of at most {MAX_TEXT_CHARACTERS} characters")
    if isinstance(value, float) and math.isnan(value):
        raise ValueError(f"not a number from -{_LARGEST:g} to {_LARGEST:g}")
    return value


Text = Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS), BeforeValidator(_clean)]
Name = Annotated[str, Field(max_length=MAX_NAME_CHARACTERS), BeforeValidator(_clean_name)]
_Place = Annotated[Annotated[str, Field(max_length=MAX_NAME_CHARACTERS)] | None, BeforeValidator(_clean_name)]
_Situation = Annotated[Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)] | None, BeforeValidator(_clean_or_none)]


_Model = TypeVar("_Model", bound=BaseModel)
_TIME = TypeAdapter(datetime)
_AHEAD = timedelta(days=1)


class _Frozen(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, coerce_numbers_to_str=True, hide_input_in_errors=True
    )


class About(_Frozen):
    """The subject of a note or a question. Fields without a value are open. Names are in lower case, without numbers.

    Attributes:
        things: Kinds of things, in alphabetical order.
        room: Kind of room.
        receptacle: Kind of receptacle.
        task: Name of the task.
        subtask: Part of the task.
        situation: When it holds, in free words.
        question: The question that was answered.
    """

    things: Annotated[tuple[Name, ...], Field(max_length=MAX_THINGS)] = ()
    room: _Place = None
    receptacle: _Place = None
    task: _Place = None
    subtask: _Situation = None
    situation: _Situation = None
    question: _Situation = None

    @field_validator("things", mode="before")
    @classmethod
    def _single_thing_as_tuple(cls, things: Any) -> Any:
        return (things,) if isinstance(things, str) else things

    @field_validator("things")
    @classmethod
    def _sort_things(cls, things: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(set(things)))

    def __bool__(self) -> bool:
        return bool(self.stated_fields)

    @property
    def stated_fields(self) -> dict[str, Any]:
        """The fields with a value."""
        return {field: value for field, value in self.__dict__.items() if value}

    @property
    def phrase(self) -> str:
        """All values in one line, such as ``mug, kitchen, sink``."""
        names = (self.room, self.receptacle, self.task, self.subtask, self.situation, self.question)
        return ", ".join([*self.things, *filter(None, names)])

    def covers(self, other: About) -> bool:
        """Whether another subject states at least the fields of this one, with the same values."""
        return set(self.things) <= set(other.things) and all(
            getattr(other, field) == value for field, value in self.stated_fields.items() if field != "things"
        )


class Source(_Frozen):
    """The origin of a note.

    Attributes:
        record: Name of the episode record.
        line: Number of the line in the record, from 1.
    """

    record: Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARACTERS), BeforeValidator(_clean)]
    line: Annotated[int, Field(ge=0, le=10**9)] | None = None


def current_time() -> str:
    """Return the current time in the format of notes."""
    return _format_time(datetime.now(timezone.utc))


def is_future(time: str) -> bool:
    """Whether a time is more than a day ahead, so that no clock error explains it."""
    return time > _format_time(datetime.now(timezone.utc) + _AHEAD)


def next_millisecond(time: str) -> str:
    """Return the time a millisecond after another one, or the current time if that one is in the future."""
    if is_future(time):
        return current_time()
    return _format_time(datetime.fromisoformat(time.replace("Z", "+00:00")) + timedelta(milliseconds=1))


def later_time(earlier: str | None) -> str:
    """Return the current time, or the millisecond after an earlier note: notes of one millisecond have no order.

    Args:
        earlier: Time of the earlier note, if there is one.
    """
    return max(current_time(), next_millisecond(earlier)) if earlier else current_time()


def _format_time(time: datetime) -> str:
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Note(_Frozen):
    """One thing that was learned about a person.

    Attributes:
        person: Name of the person.
        kind: A reaction to an action, a rule that the person agreed to, an answer, or a goal that they confirmed.
        text: The note in words.
        about: Its subject.
        value: For a reaction how good (1.0) or bad (-1.0) it was, for an answer the option. Notes of one kind about the
            same subject contradict each other if their values differ. Notes without a value never do.
        source: The origin, or None for a note that was entered by hand.
        time: ISO 8601 in UTC, with milliseconds; the current time by default.
        derived_from: Ids of the notes from which it was concluded. It is forgotten with any of them.
        version_of: Id of the first version, if this is a corrected one.
        id: Hash of the other fields. It is computed if it is not given.
    """

    person: Annotated[str, Field(pattern=f"^{PERSON_PATTERN}$")]
    kind: Kind
    text: Text = ""
    about: About = About()
    value: Annotated[float | str | None, BeforeValidator(_clean_value)] = None
    source: Source | None = None
    time: str = Field(default_factory=current_time)
    derived_from: Annotated[tuple[Annotated[str, Field(pattern=f"^{_ID}$")], ...], Field(max_length=MAX_ORIGINS)] = ()
    version_of: Annotated[str, Field(pattern=f"^{_ID}$")] | None = None
    id: str = ""

    @field_validator("time", mode="before")
    @classmethod
    def _in_utc(cls, time: Any) -> str:
        try:
            moment = _TIME.validate_python(time)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
            if 1970 < moment.year < 2200:
                return _format_time(moment)
        except (ValueError, OverflowError):
            pass
        raise ValueError("not a time; write it as 2026-11-23T14:05:00Z")

    @model_validator(mode="after")
    def _check_not_empty(self) -> Note:
        if not self.text and self.value is None:
            raise ValueError("says nothing; give it a text or a value")
        return self

    @model_validator(mode="after")
    def _split_situation(self) -> Note:
        stated = self.about.stated_fields
        if (split := split_situation(self.kind, stated)) != stated:
            self.__dict__["about"] = About(**split)
        return self

    @model_validator(mode="after")
    def _set_id(self) -> Note:
        found = hashlib.sha256(self.canonical_json.encode()).hexdigest()[:12]
        if self.id not in ("", found):
            raise ValueError(f"its id is {excerpt(self.id)!r} and should be {found}: it was changed; leave out the id")
        self.__dict__["id"] = found
        return self

    @property
    def original_id(self) -> str:
        """The id of the first version, which does not change when the note is corrected."""
        return self.version_of or self.id

    @property
    def canonical_json(self) -> str:
        """All fields except the id, in the form of which ids are hashes, as one line of JSON with sorted keys."""
        fields = self.fields()
        if "about" in fields:
            fields["about"] = join_situation(self.kind, fields["about"])
        return json.dumps(fields, sort_keys=True)

    @property
    def sort_key(self) -> tuple[str, str, int, str]:
        """Sorts notes, oldest first. Notes from the future count as oldest, so that they overrule nothing."""
        source = self.source
        return (
            "" if is_future(self.time) else self.time,
            source.record if source else "",
            (source and source.line) or 0,
            self.id,
        )

    def fields(self) -> dict[str, Any]:
        """Return the fields for JSON and YAML, without the id and without open fields."""
        values = self.model_dump(mode="json", exclude={"id"}, exclude_none=True)
        values["about"] = {field: value for field, value in values["about"].items() if value}
        return {field: value for field, value in values.items() if value not in ({}, [], "")}


def is_person_name(name: str) -> bool:
    """Whether a name is valid for a person, and thus for a folder."""
    return re.fullmatch(PERSON_PATTERN, name) is not None


def check_person_name(name: str, where: str = "") -> str:
    """Return a valid name of a person.

    Args:
        name: The name.
        where: File and field of the name, for the message.

    Raises:
        UserError: The name is invalid.
    """
    if not is_person_name(name):
        raise UserError(f"{where}{where and ': '}{excerpt(name)!r} cannot be a person's name: {_NAME_RULE}")
    return name


def parse_note(fields: Mapping[str, Any], where: str) -> Note:
    """Validate a note from a file or user.

    Args:
        fields: The fields.
        where: Where they are from, for the message.

    Raises:
        UserError: The fields are no valid note.
    """
    return _validate(Note, fields, where)


def parse_about(fields: Mapping[str, Any], where: str) -> About:
    """Validate a subject from a file or user; see ``parse_note``."""
    return _validate(About, fields, where)


def _validate(model: type[_Model], fields: Mapping[str, Any], where: str) -> _Model:
    try:
        return model.model_validate(dict(fields))
    except ValidationError as error:
        is_name = error.errors()[0]["loc"][:1] == ("person",)
        problem = f"person: {_NAME_RULE}" if is_name else describe_validation_error(error, model)
        raise UserError(f"{where}: {problem}") from error
