"""A conversation at the terminal: lines that are wrapped, and answers of bounded length."""

from __future__ import annotations

import textwrap
from typing import TextIO

from rich.console import Console

from housewise.core.errors import make_printable
from housewise.language.words import one_line
from housewise.people.terminal_respondent import MAX_ANSWER_CHARACTERS, read_bounded_line

_LEAST_WIDTH = 20


class InputEnded(Exception):
    """The person interrupts, or nobody is there."""


class Prompt:
    """Says something and reads answers.

    Args:
        stream: where answers come from.
        console: where everything is shown.
    """

    def __init__(self, stream: TextIO, console: Console) -> None:
        self._stream, self._console = stream, console

    def say(self, text: str, indent: str = "") -> None:
        """Print a text, its lines wrapped to the terminal.

        Args:
            text: any number of lines.
            indent: what begins the further lines of each that is wrapped.
        """
        for line in make_printable(text).split("\n"):
            for part in textwrap.wrap(line, self._width - 1, subsequent_indent=indent) or [""]:
                self._console.print(part, soft_wrap=True, highlight=False)

    def read(self) -> str:
        """A line that somebody types, without what cannot be seen.

        Raises:
            Leaving: they interrupt, or the input has ended.
        """
        while True:
            try:
                self._console.print("> ", end="")
                line = read_bounded_line(self._stream, MAX_ANSWER_CHARACTERS + 2)
            except KeyboardInterrupt:
                line = None
            said = one_line(line or "")
            if line is None or not self._stream.isatty():
                # What is not typed at a terminal does not show there, and nothing ends the line of the prompt.
                self._console.print(said[: self._width - 3], soft_wrap=True, highlight=False)
            if line is None:
                raise InputEnded
            if len(line.rstrip("\n")) <= MAX_ANSWER_CHARACTERS:
                return said
            self.say(
                f"That has more than {MAX_ANSWER_CHARACTERS} characters, and was not read. Say it in a sentence or two."
            )

    @property
    def _width(self) -> int:
        return max(self._console.width, _LEAST_WIDTH)
