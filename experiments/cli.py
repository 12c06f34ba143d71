"""The command line: ``housewise demo | run | report | replay | selftrain | doctor``; see experiments.commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import typer

from experiments.commands.learning import selftrain
from experiments.commands.looking import demo, doctor, report
from experiments.commands.playing import replay, run
from experiments.console import Console, complain, give_up_output, let_write_anything
from household.errors import UserError

# What typer makes of an interrupt.
_INTERRUPTED = 130

app = typer.Typer(
    help="A household robot in simulation that learns what its people want.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for _command in (demo, run, report, replay, selftrain, doctor):
    app.command()(_command)


def main() -> None:
    """Entry point."""
    # Threads of torch that do not spin while they wait: two programs on two cores write three times as fast, one alone
    # about a tenth slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    guarded(app)


def guarded(command: Callable[[], Any]) -> None:
    """Run a command; a user's mistake ends in one line and exit code 2, an interrupt in one line and 130.

    The code is 3 where some episodes of a run failed, and 1 where nobody reads the output any more.
    """
    let_write_anything()
    try:
        command()
        sys.stdout.flush()
    except SystemExit as ending:
        _end(ending)
    except UserError as error:
        complain(str(error))
        sys.exit(error.exit_code)
    except BrokenPipeError:
        give_up_output()
        sys.exit(1)
    except OSError as error:
        _refuse(error)


def _end(ending: SystemExit) -> None:
    """End as typer wants it."""
    if ending.code == _INTERRUPTED:
        Console(stderr=True).print("interrupted; what is finished is kept")
    try:
        sys.stdout.flush()
    except OSError as error:
        _refuse(error)
    if ending.code == _INTERRUPTED:
        # Threads that wait for a server's reply would keep the user waiting.
        os._exit(_INTERRUPTED)
    raise ending


def _refuse(error: OSError) -> None:
    """Say what the system refuses: a file that is named, or else the output."""
    give_up_output()
    complain(f"{error.filename or 'the output'}: {error.strerror or error}; give another path, or make room")
    sys.exit(2)


if __name__ == "__main__":
    main()
