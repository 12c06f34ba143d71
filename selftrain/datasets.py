"""What models learn from as files: one prompt with what belongs to it a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from housewise.core.errors import UserError
from housewise.core.files import write_text
from housewise.core.reading import read_text, text_lines
from housewise.language.base import Message, Role


class Prompted(BaseModel):
    """A prompt.

    Attributes:
        prompt: messages with ``role`` and ``content``.
        prefix: text that the assistant's turn began with.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: tuple[dict[str, str], ...]
    prefix: str = ""

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
    write_text(path, "".join(json.dumps(each.model_dump(), ensure_ascii=False) + "\n" for each in data))


def read_dataset(path: Path, kind: type[Kind]) -> list[Kind]:
    """A data set that write_dataset wrote.

    Raises:
        UserError: when it is damaged; the message names file and line.
    """
    data = []
    for number, line in text_lines(read_text(path)):
        try:
            data.append(kind.model_validate_json(line))
        except ValidationError as error:
            called, problem = kind.__name__.lower(), error.errors()[0]["msg"]
            raise UserError(f"{path}: line {number} is not a {called} ({problem}); correct or delete it") from error
    return data
