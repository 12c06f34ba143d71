"""The interface of everybody who can be asked: ``Respondent``, ``Question`` and ``Answer``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from housewise.core.errors import UserError
from housewise.people.memory.note import About


class RespondentLeft(UserError):
    """The respondent is absent or has left. Earlier answers are kept."""


@dataclass(frozen=True)
class Question:
    """A question that a robot asks.

    Attributes:
        text: The question in words.
        options: Answers to choose from; empty for a free answer.
        about: The subject of the question, so that the answer can be remembered.
    """

    text: str
    options: tuple[str, ...] = ()
    about: About = field(default_factory=About)


@dataclass(frozen=True)
class Answer:
    """The answer to a question.

    Attributes:
        text: The answer in words.
        option: Index of the chosen option, from 0, or None.
    """

    text: str
    option: int | None = None


class Respondent(Protocol):
    """A person who answers questions: simulated, played by a chat model, or at a terminal.

    Attributes:
        name: Name of the person, whose memory stores the answers.
    """

    name: str

    def answer(self, question: Question) -> Answer:
        """Answer a question. The call blocks until the person answers.

        Returns:
            The answer; its text is empty if the person says nothing.

        Raises:
            RespondentLeft: The person does not answer any more.
        """
        ...
