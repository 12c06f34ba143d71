"""The command line, ``housewise``: puts the commands of housewise.commands together."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from housewise.commands.learning import selftrain
from housewise.commands.looking import demo, doctor, list_
from housewise.commands.playing import replay, run
from housewise.commands.reporting import compare, report
from housewise.core.console import Console, complain, let_write_anything, settle_output
from housewise.core.errors import UserError

# What typer makes of an interrupt.
_INTERRUPTED = 130


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"housewise {version('housewise')}")
        raise typer.Exit()


def _paragraphs(text: str) -> str:
    """A help text whose lines may be broken anew, but for those that are indented."""
    parts = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(part if part.startswith(" ") else " ".join(part.splitlines()) for part in parts)


app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def _housewise(
    asked: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """A household robot in simulation that learns what its people want."""


_COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo,
    "run": run,
    "report": report,
    "compare": compare,
    "replay": replay,
    "selftrain": selftrain,
    "list": list_,
    "doctor": doctor,
}
for _name, _command in _COMMANDS.items():
    app.command(_name, help=_paragraphs(_command.__doc__ or ""))(_command)


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


if __name__ == "__main__":
    main()
