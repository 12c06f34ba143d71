"""Runs commands so that errors end in one line and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from housewise.core.console import Console, prepare_streams, print_error, print_traceback
from housewise.core.error_origin import describe_error, user_frame
from housewise.core.errors import UserError
from housewise.core.redaction import redact_secrets
from housewise.core.user_folders import provide_cache_folders

# Exit code that typer uses for an interrupt.
_INTERRUPTED = 130
_REMEDIES = {
    errno.EMFILE: "raise the limit of open files (ulimit -n), or lower --workers",
    errno.ENFILE: "this machine has too many files open; end other programs, or lower --workers",
    errno.EAGAIN: "raise the limit of processes and threads (ulimit -u), or lower --workers",
    errno.ENOMEM: "memory does not suffice; end other programs, or lower --workers",
}


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
