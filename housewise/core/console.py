"""Prints to the terminal.

Names of files and models and messages of servers are untrusted: they cannot format or control the terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import Any

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.file_proxy import FileProxy
from rich.segment import Segment
from rich.text import Text

from housewise.core.printable_text import make_printable


class Console(rich.console.Console):
    """A rich console without markup and emoji that removes control characters.

    Args:
        **options: See ``rich.console.Console``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False, **options})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render without control characters; see ``rich.console.Console.render``."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=make_printable(segment.text))


def print_lines(console: rich.console.Console, *lines: str | Text) -> None:
    """Print lines with paths and names unchanged and unwrapped, so that they can be copied."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


class _Debugging:
    """Whether full tracebacks are printed, as the option ``--debug`` requests."""

    is_on = False


def enable_tracebacks(is_on: bool = True) -> None:
    """Print full tracebacks from now on. False changes nothing, so that several options may call this."""
    _Debugging.is_on = _Debugging.is_on or is_on


def print_traceback(text: str) -> None:
    """Print a traceback if tracebacks are enabled."""
    if _Debugging.is_on and text:
        _print_to_stderr(Text(text.rstrip()))


def print_error(words: str) -> None:
    """Print an error on one line to standard error."""
    line = Text.assemble(("error: ", "bold red"), " ".join(words.split()))
    # If standard error is not writable either, the exit code remains.
    with suppress(OSError):
        Console(stderr=True, soft_wrap=True).print(line, highlight=False)


def print_event(words: str) -> None:
    """Print a note about the progress of the work on one line to standard error."""
    _print_to_stderr(Text.assemble(("note: ", "bold"), words))


def _print_to_stderr(text: Text) -> None:
    """Print to standard error, above a progress bar if one is shown."""
    with suppress(OSError):
        if isinstance(sys.stderr, FileProxy):
            # A separate console would write into the progress bar.
            print(make_printable(text.plain), file=sys.stderr)
        else:
            Console(stderr=True, soft_wrap=True).print(text, highlight=False)


@cache
def print_note(words: str) -> None:
    """Print a note once per process, on one line to standard error."""
    print_event(words)


def prepare_streams() -> None:
    """Make the standard streams usable.

    Characters that the encoding of the terminal lacks, and undecodable input, are replaced. Streams that are closed or
    missing become empty.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            empty = open(os.devnull, "w" if number else "r", encoding="utf-8")  # noqa: SIM115, PTH123
            # If the stream's number was free, as after >&-, child processes inherit it.
            if empty.fileno() == number:
                os.set_inheritable(number, True)
            setattr(sys, name, empty)
    streams: tuple[Any, ...] = (sys.stdin, sys.stdout, sys.stderr)
    for stream in streams:
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="replace")
