"""The terminal, for words that nobody vouches for: names of files, of models and of houses, and what servers say."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from typing import Any

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.file_proxy import FileProxy
from rich.segment import Segment
from rich.text import Text

from housewise.core.error_origin import describe_error, user_frame
from housewise.core.errors import UserError, make_printable
from housewise.core.urls import redact_secrets
from housewise.core.user_folders import provide_cache_folders

# What typer makes of an interrupt.
_INTERRUPTED = 130
_REMEDIES = {
    errno.EMFILE: "raise the limit of open files (ulimit -n), or lower --workers",
    errno.ENFILE: "this machine has too many files open; end other programs, or lower --workers",
    errno.EAGAIN: "raise the limit of processes and threads (ulimit -u), or lower --workers",
    errno.ENOMEM: "memory does not suffice; end other programs, or lower --workers",
}


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
            yield segment if segment.control else segment._replace(text=make_printable(segment.text))


class _Debugging:
    """Whether whole tracebacks are printed, as the option ``--debug`` asks for."""

    is_on = False


def enable_tracebacks(is_on: bool = True) -> None:
    """Have whole tracebacks printed from now on; False changes nothing, so that options may stand in several places."""
    _Debugging.is_on = _Debugging.is_on or is_on


def print_traceback(text: str) -> None:
    """Print a traceback where debugging is on."""
    if _Debugging.is_on and text:
        _print_to_stderr(Text(text.rstrip()))


def print_error(words: str) -> None:
    """Say in one line what keeps a command from its work."""
    line = Text.assemble(("error: ", "bold red"), " ".join(words.split()))
    # Where this cannot be said either, the exit code tells.
    with suppress(OSError):
        Console(stderr=True, soft_wrap=True).print(line, highlight=False)


def print_event(words: str) -> None:
    """Say in one line what is happening."""
    _print_to_stderr(Text.assemble(("note: ", "bold"), words))


def _print_to_stderr(text: Text) -> None:
    """Print to standard error, above a progress display where one is shown."""
    with suppress(OSError):
        if isinstance(sys.stderr, FileProxy):
            # A console of its own would write into the display.
            print(make_printable(text.plain), file=sys.stderr)
        else:
            Console(stderr=True, soft_wrap=True).print(text, highlight=False)


@cache
def print_note(words: str) -> None:
    """Say once, in one line, that something is done in another way than usual."""
    print_event(words)


def prepare_streams() -> None:
    """Make the standard streams fit to write to, whatever the program was started with.

    Letters that the terminal's encoding lacks, and bytes of the input that are no text, are replaced by others where
    Python would refuse them. Streams that are closed, or that a program without a terminal never had, become empty.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            empty = open(os.devnull, "w" if number else "r", encoding="utf-8")  # noqa: SIM115, PTH123
            # It takes the stream's number where that was free, as after >&-, and programs that are started inherit it.
            if empty.fileno() == number:
                os.set_inheritable(number, True)
            setattr(sys, name, empty)
    streams: tuple[Any, ...] = (sys.stdin, sys.stdout, sys.stderr)
    for stream in streams:
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="replace")


def flush_output() -> None:
    """Write what is left to write; where the output takes nothing, leave it, or Python complains once more at its end.

    Raises:
        OSError: when it takes nothing.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def run_cli(command: Callable[[], Any]) -> None:
    """Run a command; a user's mistake ends in one line and exit code 2, an interrupt in one line and 130.

    The code is 3 where some episodes of a run failed, 4 where a run reached one of its limits, and 1 where nobody reads
    the output any more.
    """
    prepare_streams()
    provide_cache_folders()
    try:
        try:
            command()
        finally:
            flush_output()
    except SystemExit as ending:
        if ending.code != _INTERRUPTED:
            raise
        Console(stderr=True).print("interrupted; what is finished is kept")
        # Threads that wait for a server's reply would keep the user waiting.
        os._exit(_INTERRUPTED)
    except UserError as error:
        if not error.is_summary:
            _print_full_traceback(error)
        print_error(str(error))
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(1)
    except Exception as error:
        words = _describe_failure(error)
        if words is None:
            raise
        _print_full_traceback(error)
        print_error(words)
        sys.exit(2)


def _print_full_traceback(error: BaseException) -> None:
    print_traceback(redact_secrets("".join(traceback.format_exception(error))))


def _describe_failure(error: Exception) -> str | None:
    """What failed and the remedy; None for a defect of ours, of which the traceback is wanted."""
    # Python raises no error of its own where the system gives it no thread.
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return f"{error}; {_REMEDIES[errno.EAGAIN]}"
    if user_frame(error) is not None:
        return f"{redact_secrets(describe_error(error))}; mend it, or see the whole traceback with --debug"
    return _describe_os_error(error) if isinstance(error, OSError) else None


def _describe_os_error(error: OSError) -> str:
    """What failed and the remedy; an error that names no file is the output's, unless a limit of the system is met."""
    reason = error.strerror or str(error)
    if remedy := _REMEDIES.get(error.errno or 0):
        return f"{reason}; {remedy}"
    return f"{error.filename or 'the output'}: {reason}; give another path, or make room"
