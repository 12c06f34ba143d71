"""Prints to the terminal, and runs commands so that errors end in one line.

Names of files and models and messages of servers are untrusted: they cannot format or control the terminal.
"""

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

# Exit code that typer uses for an interrupt.
_INTERRUPTED = 130
_REMEDIES = {
    errno.EMFILE: "raise the limit of open files (ulimit -n), or lower --workers",
    errno.ENFILE: "this machine has too many files open; end other programs, or lower --workers",
    errno.EAGAIN: "raise the limit of processes and threads (ulimit -u), or lower --workers",
    errno.ENOMEM: "memory does not suffice; end other programs, or lower --workers",
}


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


def flush_output() -> None:
    """Flush standard output.

    If this fails, the rest of the output is discarded; Python would otherwise report the error again at its end.

    Raises:
        OSError: If the output cannot be written.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def run_cli(command: Callable[[], Any]) -> None:
    """Run a command and turn errors into one line and an exit code.

    Exit codes: 1 if nobody reads the output any more, 2 for an error that the user can fix, 3 if episodes of a run
    failed, 4 if a run reached one of its limits, and 130 for an interrupt.
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
        # Do not wait for threads that wait for a server's reply.
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
    """Return the cause and the remedy of an error, or None for a defect, whose traceback should be shown."""
    # Python has no error class for a thread that cannot start.
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return f"{error}; {_REMEDIES[errno.EAGAIN]}"
    if user_frame(error) is not None:
        return f"{redact_secrets(describe_error(error))}; mend it, or see the whole traceback with --debug"
    return _describe_os_error(error) if isinstance(error, OSError) else None


def _describe_os_error(error: OSError) -> str:
    """Return the cause and the remedy of an operating system error.

    An error without a file name is attributed to the output, unless a limit of the system was reached.
    """
    reason = error.strerror or str(error)
    if remedy := _REMEDIES.get(error.errno or 0):
        return f"{reason}; {remedy}"
    return f"{error.filename or 'the output'}: {reason}; give another path, or make room"
