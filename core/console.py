"""The terminal, for words that nobody vouches for: names of files, of models and of houses, and what servers say."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from housewise.core.errors import UserError, printable

# What typer makes of an interrupt.
_INTERRUPTED = 130


class Console(rich.console.Console):
    """A console that takes no word for an instruction, neither of rich (``[bold]``, ``:smile:``) nor of the terminal.

    Args:
        **options: see rich.console.Console.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False, **options})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See rich.console.Console.render."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def complain(words: str) -> None:
    """Say in one line what keeps a command from its work."""
    line = Text.assemble(("error: ", "bold red"), " ".join(words.split()))
    # Where this cannot be said either, the exit code tells.
    with suppress(OSError):
        Console(stderr=True, soft_wrap=True).print(line, highlight=False)


def accept_any_text() -> None:
    """Replace what the terminal's encoding lacks, and bytes of the input that are no text, where Python would raise."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def settle_output() -> None:
    """Write what is left to write; where the output takes nothing, leave it, or Python complains once more at its end.

    Raises:
        OSError: when it takes nothing.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def guarded(command: Callable[[], Any]) -> None:
    """Run a command; a user's mistake ends in one line and exit code 2, an interrupt in one line and 130.

    The code is 3 where some episodes of a run failed, and 1 where nobody reads the output any more.
    """
    accept_any_text()
    try:
        try:
            command()
        finally:
            settle_output()
    except SystemExit as ending:
        if ending.code != _INTERRUPTED:
            raise
        Console(stderr=True).print("interrupted; what is finished is kept")
        # Threads that wait for a server's reply would keep the user waiting.
        os._exit(_INTERRUPTED)
    except UserError as error:
        complain(str(error))
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:
        complain(f"{error.filename or 'the output'}: {error.strerror or error}; give another path, or make room")
        sys.exit(2)
