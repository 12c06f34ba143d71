"""What models learn from as files: one prompt with what belongs to it a line, in the columns that TRL's trainers take.

A prompt of messages makes TRL's conversational format: ``prompt`` and each reply are lists of messages, and the
assistant's turn has the prefix in it. A plain text to go on with makes its standard format, of texts. Files of earlier
versions, with plain replies behind a ``prefix``, are read as well.

TRL's trainers put the token that ends a turn behind every reply. For those that were cut at a limit (``cut``) that is
wrong: leave them out (``dataset.filter(lambda row: not row["cut"])``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from housewise.core.errors import UserError
from housewise.core.files import write_text
from housewise.core.text_files import numbered_lines, read_text
from housewise.language.base import Message, Role


class Prompted(BaseModel):
    """A prompt.

    Attributes:
        columns: Columns of files by name of the reply that they hold.
        added: Fields that earlier versions did not have, and that are false in all that these wrote.
        prompt: messages with ``role`` and ``content``; none where the prefix is a plain text to go on with.
        prefix: text that the assistant's turn began with.
    """

    columns: ClassVar[Mapping[str, str]] = {}
    added: ClassVar[frozenset[str]] = frozenset()
    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: tuple[dict[str, str], ...]
    prefix: str = ""

    @model_validator(mode="before")
    @classmethod
    def _from_columns(cls, data: Any) -> Any:
        """Take a line of a file apart; see to_columns."""
        if not isinstance(data, dict):
            return data
        fields = dict(data)
        if isinstance(data.get("prompt"), str):
            fields |= {"prompt": (), "prefix": data["prompt"]}
        for name, column in cls.columns.items():
            match fields.pop(column, None):
                case [{"role": "assistant", "content": str(turn)}]:
                    prefix = str(fields.get("prefix", ""))
                    if not turn.startswith(prefix):
                        raise ValueError(f"{column} does not begin with the prefix {prefix!r}")
                    fields[name] = turn.removeprefix(prefix)
                case None:
                    pass
                case text:
                    fields[name] = text
        return fields

    def to_columns(self) -> dict[str, Any]:
        """Return a line of a file."""
        line = self.model_dump()
        replies = {column: line.pop(name) for name, column in self.columns.items()}
        if not self.prompt:
            return line | {"prompt": line.pop("prefix")} | replies
        turns = {column: [{"role": "assistant", "content": self.prefix + reply}] for column, reply in replies.items()}
        return line | turns

    @field_validator("prompt")
    @classmethod
    def _of_messages(cls, prompt: tuple[dict[str, str], ...]) -> tuple[dict[str, str], ...]:
        for turn in prompt:
            if turn.keys() != {"role", "content"} or turn["role"] not in get_args(Role):
                raise ValueError(f"a message has a role, one of {', '.join(get_args(Role))}, and content")
        return prompt

    @property
    def messages(self) -> tuple[Message, ...]:
        """The prompt as a chat model takes it."""
        return tuple(Message(turn["role"], turn["content"]) for turn in self.prompt)  # type: ignore[arg-type]


Kind = TypeVar("Kind", bound=Prompted)


def write_dataset(path: Path, data: Iterable[Prompted]) -> None:
    """Write a data set; a crash leaves the old file or the new one.

    Raises:
        UserError: when the disk does not take it.
    """
    write_text(path, "".join(json.dumps(each.to_columns(), ensure_ascii=False) + "\n" for each in data))


def read_dataset(path: Path, kind: type[Kind]) -> list[Kind]:
    """A data set that write_dataset wrote.

    Raises:
        UserError: when it is damaged; the message names file and line.
    """
    data = []
    for number, line in numbered_lines(read_text(path)):
        try:
            data.append(kind.model_validate_json(line))
        except ValidationError as error:
            called, problem = kind.__name__.lower(), error.errors()[0]["msg"]
            raise UserError(f"{path}: line {number} is not a {called} ({problem}); correct or delete it") from error
    return data
