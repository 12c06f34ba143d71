"""What a model learns from that is told which of two replies is the better one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from housewise.core.errors import UserError
from housewise.core.files import write_text
from housewise.language.base import Message


class Preference(BaseModel):
    """A prompt with two replies.

    Attributes:
        prompt: messages with ``role`` and ``content``.
        prefix: text that the assistant's turn began with.
        chosen: what should come after the prefix.
        rejected: what should not.
        source: where it is from.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: tuple[dict[str, str], ...]
    prefix: str = ""
    chosen: str
    rejected: str
    source: str = ""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The prompt as a chat model takes it."""
        return tuple(Message(turn["role"], turn["content"]) for turn in self.prompt)  # type: ignore[arg-type]


def write_preferences(path: Path, preferences: Iterable[Preference]) -> None:
    """Write a data set, one preference a line; a crash leaves the old file or the new one.

    Raises:
        UserError: when the disk does not take it.
    """
    write_text(path, "".join(json.dumps(each.model_dump(), ensure_ascii=False) + "\n" for each in preferences))


def read_preferences(path: Path) -> list[Preference]:
    """A data set that write_preferences wrote.

    Raises:
        UserError: when it is damaged; the message names file and line.
    """
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({error})") from error
    found = []
    for number, line in enumerate(filter(None, lines), start=1):
        try:
            found.append(Preference.model_validate_json(line))
        except ValidationError as error:
            told = error.errors()[0]["msg"]
            raise UserError(f"{path}: line {number} is not a preference ({told}); correct or delete it") from error
    return found
