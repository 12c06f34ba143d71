"""A respondent who types answers at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

from housewise.core.printable_text import make_printable
from housewise.language.words import one_line
from housewise.people.respondent import Answer, Question, RespondentLeft

MAX_ANSWER_CHARACTERS = 2000
"""Characters that are read of an answer; the rest of the line is discarded."""


class TerminalRespondent:
    """A ``Respondent`` that prints questions to the terminal and reads typed answers.

    Args:
        read: Shows a text and returns the typed line. It raises EOFError at the end of the input.
        name: The person in whose memory the answers are stored.
        alternative: Setting with which somebody else answers, for messages.
    """

    def __init__(
        self,
        read: Callable[[str], str] | None = None,
        name: str = "terminal",
        alternative: str = "person=simulated",
    ) -> None:
        self.name, self._alternative = name, alternative
        self._read = read or prompt_terminal

    def answer(self, question: Question) -> Answer:
        """Return the typed answer. An option can be given by name, number or unambiguous beginning.

        A question with options is repeated until one of them is given.

        Raises:
            RespondentLeft: The input has ended.
        """
        if not question.options:
            return Answer(self._read_line(f"{question.text} "))
        asked = f"{question.text} ({'/'.join(question.options)}) "
        text = self._read_line(asked)
        while (option := match_option(text, question.options)) is None:
            text = self._read_line(f"Please answer {' or '.join(question.options)}. {asked}")
        return Answer(text, option)

    def _read_line(self, prompt: str) -> str:
        try:
            # Questions may contain model output or file content, so control characters are removed.
            return one_line(self._read(make_printable(prompt))[:MAX_ANSWER_CHARACTERS])
        except EOFError:
            raise RespondentLeft(
                "nobody answers at this terminal (its input has ended); run the same command again to continue, "
                f"or choose {self._alternative} in another folder"
            ) from None


def match_option(answer: str, options: tuple[str, ...]) -> int | None:
    """Return the index of the option that an answer means, from 0, or None if it means none or several."""
    word = answer.strip().rstrip(".!").strip().lower()
    names = [option.lower() for option in options]
    if word in names:
        return names.index(word)
    if word.isdecimal() and len(word) < 4 and 1 <= int(word) <= len(names):
        return int(word) - 1
    matches = [number for number, name in enumerate(names) if word and name.startswith(word)]
    return matches[0] if len(matches) == 1 else None


def prompt_terminal(text: str) -> str:
    """Print a text to the terminal and read a line of bounded length.

    Raises:
        EOFError: The input has ended.
    """
    if sys.stdin.isatty():
        return input(text)
    print(text, flush=True)
    line = read_bounded_line(sys.stdin, MAX_ANSWER_CHARACTERS + 1)
    if line is None:
        raise EOFError
    return line


def read_bounded_line(stream: TextIO, max_characters: int) -> str | None:
    """Read a line, discarding what exceeds ``max_characters``. Returns None at the end of the stream."""
    line = rest = stream.readline(max_characters)
    while rest and not rest.endswith("\n"):
        rest = stream.readline(1 << 16)
    return line or None
