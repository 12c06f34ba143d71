"""A person at this terminal, who is asked in words and types what they say."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

from housewise.core.errors import make_printable
from housewise.language.words import one_line
from housewise.people.respondent import Answer, RespondentLeft, Question

MAX_ANSWER_CHARACTERS = 2000
"""Characters of an answer; what is typed beyond is not read as part of it."""


class TerminalRespondent:
    """Answers at the terminal; see Person.

    Args:
        read: puts a text to the person and brings what they say; EOFError where nobody is there.
        name: whose memory the answers go into.
        patience: how often a question is put until an answer counts that is none of its options.
    """

    def __init__(self, read: Callable[[str], str] | None = None, name: str = "terminal", patience: int = 3) -> None:
        self.name = name
        self._read, self._patience = read or prompt_terminal, patience

    def answer(self, question: Question) -> Answer:
        """What the person types: one of the options, its number, or the beginning of one alone.

        Raises:
            PersonLeft: they have left, or nobody is there.
        """
        options = f" ({'/'.join(question.options)})" if question.options else ""
        said, asked = "", f"{question.text}{options} "
        for _ in range(self._patience):
            said = self._said(asked)
            option = match_option(said, question.options)
            if not question.options or option is not None:
                return Answer(said, option)
        return Answer(said)

    def _said(self, text: str) -> str:
        try:
            # What a model or a file says is put to the terminal: nothing in it may be more than letters.
            return one_line(self._read(make_printable(text))[:MAX_ANSWER_CHARACTERS])
        except EOFError:
            raise RespondentLeft(
                "nobody answers at this terminal (its input has ended); run the same command again to go on from here, "
                "or choose person=simulated in another folder"
            ) from None


def match_option(said: str, options: tuple[str, ...]) -> int | None:
    """The number of the option that an answer means, from 0; None where it means none, or several."""
    word = said.strip().rstrip(".!").strip().lower()
    names = [option.lower() for option in options]
    if word in names:
        return names.index(word)
    if word.isdecimal() and len(word) < 4 and 1 <= int(word) <= len(names):
        return int(word) - 1
    begun = [number for number, name in enumerate(names) if word and name.startswith(word)]
    return begun[0] if len(begun) == 1 else None


def prompt_terminal(text: str) -> str:
    """Put a text to who sits at this terminal, and read a line of bounded length.

    Raises:
        EOFError: when its input has ended.
    """
    if sys.stdin.isatty():
        return input(text)
    print(text, flush=True)
    line = read_bounded_line(sys.stdin, MAX_ANSWER_CHARACTERS + 1)
    if line is None:
        raise EOFError
    return line


def read_bounded_line(stream: TextIO, most: int) -> str | None:
    """A line of a stream, without what is beyond so many characters of it; None at the end of all."""
    line = rest = stream.readline(most)
    while rest and not rest.endswith("\n"):
        rest = stream.readline(1 << 16)
    return line or None
