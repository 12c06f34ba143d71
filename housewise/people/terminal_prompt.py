"""Prompt at the terminal: prints wrapped lines, and reads answers of bounded length."""

from __future__ import annotations

import textwrap
from typing import TextIO

from rich.console import Console

from housewise.core.console import print_lines
from housewise.core.printable_text import make_printable
from housewise.language.words import one_line
from housewise.people.terminal_respondent import MAX_ANSWER_CHARACTERS, read_bounded_line

_MIN_WIDTH = 20


class InputEnded(Exception):
    """The input ended, or the user interrupted it."""


class Prompt:
    """Prints to a console and reads answers from a stream.

    Args:
        stream: Where answers are read from.
        console: Where everything is printed.
    """

    def __init__(self, stream: TextIO, console: Console) -> None:
        self._stream, self._console = stream, console

    def say(self, text: str, indent: str = "") -> None:
        """Print a text, its lines wrapped to the terminal.

        Args:
            text: Any number of lines.
            indent: Indentation of the continuation lines of a wrapped line.
        """
        for line in make_printable(text).split("\n"):
            for part in textwrap.wrap(line, self._width - 1, subsequent_indent=indent) or [""]:
                print_lines(self._console, part)

    def read(self) -> str:
        """Read a line, and return it without invisible characters.

        Raises:
            InputEnded: The input ended, or the user interrupted it.
        """
        while True:
            try:
                self._console.print("> ", end="")
                line = read_bounded_line(self._stream, MAX_ANSWER_CHARACTERS + 2)
            except KeyboardInterrupt:
                line = None
            said = one_line(line or "")
            if line is None or not self._stream.isatty():
                # Without a terminal there is no echo of the answer and of its line end.
                print_lines(self._console, said[: self._width - 3])
            if line is None:
                raise InputEnded
            if len(line.rstrip("\n")) <= MAX_ANSWER_CHARACTERS:
                return said
            self.say(
                f"That has more than {MAX_ANSWER_CHARACTERS} characters, and was ignored. Say it in a sentence or two."
            )

    @property
    def _width(self) -> int:
        return max(self._console.width, _MIN_WIDTH)
