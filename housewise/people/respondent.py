"""What is asked of a person: answers to questions, and a judgement of what was done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from housewise.core.errors import UserError
from housewise.people.memory.note import About


class RespondentLeft(UserError):
    """Who is asked has left, or nobody is there; what they said before is kept."""


@dataclass(frozen=True)
class Question:
    """What a robot asks.

    Attributes:
        text: in words.
        options: answers to choose from; none where any answer will do.
        about: what it is about, so that the answer can be remembered.
    """

    text: str
    options: tuple[str, ...] = ()
    about: About = field(default_factory=About)


@dataclass(frozen=True)
class Answer:
    """What a person says.

    Attributes:
        text: in words.
        option: number of the option that was chosen, from 0; None where none was.
    """

    text: str
    option: int | None = None


class Respondent(Protocol):
    """Somebody who lives in the house. Answering may take as long as a person takes.

    Attributes:
        name: whose memory the answers go into.
    """

    name: str

    def answer(self, question: Question) -> Answer:
        """What the person says to a question; "" where they say nothing.

        Raises:
            PersonLeft: they say nothing any more.
        """
        ...
