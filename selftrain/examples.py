"""Training examples and their files: one example a line, in the columns that TRL's trainers expect.

A prompt of messages is written in TRL's conversational format: ``prompt`` and each reply are lists of messages, and the
assistant's message includes the prefix. A plain text to continue is written in TRL's standard format. Files of earlier
versions, which have plain replies and a ``prefix`` column, are read as well.

TRL's trainers append the end-of-turn token to every reply. That is wrong for replies that were truncated (``cut``):
leave them out with ``dataset.filter(lambda row: not row["cut"])``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_args

from pydantic import field_validator, model_validator

from housewise.core.files import write_text
from housewise.core.text_files import numbered_lines, read_text
from housewise.core.validation import StrictModel, validate_json
from housewise.language.base import Message, Role


class Example(StrictModel):
    """A prompt with what a model should learn about it; see `Demonstration` and `Preference`.

    Attributes:
        noun: What one example is called in messages.
        columns: File column of each reply, by field.
        later_fields: Fields that earlier versions did not have. They are written last, and are false in old files.
        prompt: Messages with ``role`` and ``content``; empty where the prefix is a plain text to continue.
        prefix: Text that the assistant's turn begins with.
    """

    noun: ClassVar[str]
    columns: ClassVar[Mapping[str, str]] = {}
    later_fields: ClassVar[tuple[str, ...]] = ()
    prompt: tuple[dict[str, str], ...]
    prefix: str = ""

    @model_validator(mode="before")
    @classmethod
    def _parse_columns(cls, data: Any) -> Any:
        """Convert the columns of a file to fields; see to_columns."""
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

    @field_validator("prompt")
    @classmethod
    def _check_messages(cls, prompt: tuple[dict[str, str], ...]) -> tuple[dict[str, str], ...]:
        for turn in prompt:
            if turn.keys() != {"role", "content"} or turn["role"] not in get_args(Role):
                raise ValueError(f"a message has a role, one of {', '.join(get_args(Role))}, and content")
        return prompt

    def ordered_fields(self) -> dict[str, Any]:
        """Return all fields by name, in the order in which files and digests have them."""
        fields = self.model_dump()
        return fields | {name: fields.pop(name) for name in self.later_fields}

    def to_columns(self) -> dict[str, Any]:
        """Return the columns of this example's line in a file."""
        line = self.ordered_fields()
        replies = {column: line.pop(name) for name, column in self.columns.items()}
        if not self.prompt:
            return line | {"prompt": line.pop("prefix")} | replies
        turns = {column: [{"role": "assistant", "content": self.prefix + reply}] for column, reply in replies.items()}
        return line | turns

    @property
    def messages(self) -> tuple[Message, ...]:
        """The prompt as messages for a chat model."""
        return tuple(Message(turn["role"], turn["content"]) for turn in self.prompt)  # type: ignore[arg-type]


class Demonstration(Example):
    """A prompt with the reply that a model should give.

    Attributes:
        reply: Text after the prefix.
        given: Character spans (start, end) of the reply that are read but not learned.
        turns: Whether the assistant's messages in the prompt, each after the prefix, are learned as well.
        cut: Whether the reply was truncated at a limit, so that its end is not learned as the end of a turn.
    """

    noun: ClassVar[str] = "pair"
    columns: ClassVar[Mapping[str, str]] = {"reply": "completion"}
    later_fields: ClassVar[tuple[str, ...]] = ("cut",)
    reply: str
    given: tuple[tuple[int, int], ...] = ()
    turns: bool = False
    cut: bool = False


class EpisodeDemonstration(Demonstration):
    """A demonstration with the episode that it comes from, and what its plan achieved there.

    Attributes:
        reward: Sum over the plan's actions, by the preferences of the person whom the episode was played for.
        scene, episode, run, plan: The position of the reply in the records.
        moved: Objects that the plan moved.
        discovered: Number of objects that the plan discovered.
        mistaken: Number of judgements that relabelling changed; see selftrain.personalize.relabelling.
        complete: Whether the reply declares the task complete and was executed to that point.
    """

    reward: float = 0.0
    scene: str = ""
    episode: int = 0
    run: int = 0
    plan: int = 0
    moved: tuple[str, ...] = ()
    discovered: int = 0
    mistaken: int = 0
    complete: bool = False


class SessionDemonstration(Demonstration):
    """A demonstration of a turn of the assistant in a session of BASIS.

    Attributes:
        variant: Name of the variant that the session was about.
        seed: Seed of its scenario.
        attempt: Number of the attempt, from 1.
        turn: Number of the turn in its attempt, from 1.
    """

    variant: str = ""
    seed: int = 0
    attempt: int = 1
    turn: int = 1


class Preference(Example):
    """A prompt with two replies, of which a model should prefer one.

    Attributes:
        chosen: The better text after the prefix.
        rejected: The worse text after the prefix.
        source: Where the preference comes from, for readers.
    """

    noun: ClassVar[str] = "preference"
    columns: ClassVar[Mapping[str, str]] = {"chosen": "chosen", "rejected": "rejected"}
    chosen: str
    rejected: str
    source: str = ""


ExampleT = TypeVar("ExampleT", bound=Example)


def write_examples(path: Path, examples: Iterable[Example]) -> None:
    """Write examples to a JSON Lines file. A crash leaves either the old file or the new one.

    Raises:
        UserError: The file cannot be written.
    """
    write_text(path, "".join(json.dumps(each.to_columns(), ensure_ascii=False) + "\n" for each in examples))


def read_examples(path: Path, kind: type[ExampleT]) -> list[ExampleT]:
    """Read examples from a file of `write_examples`.

    Raises:
        UserError: A line is damaged; the message names file and line.
    """
    examples = []
    for number, line in numbered_lines(read_text(path)):
        source = f"{path}: line {number}"
        examples.append(validate_json(kind, line, source, "correct or delete it", f"a {kind.noun}"))
    return examples
