"""The command line, ``housewise``: puts the commands of housewise.commands together."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from typing import Annotated, Any

import typer

from housewise.cli.list import demo, doctor, list_
from housewise.cli.memory import COMMANDS as MEMORY_COMMANDS
from housewise.cli.play import COMMANDS as PLAY_COMMANDS
from housewise.cli.report import compare, export, report
from housewise.cli.rules import COMMANDS as RULE_COMMANDS
from housewise.cli.rules import learn
from housewise.cli.run import replay, run
from housewise.cli.selftrain import selftrain
from housewise.core.console import enable_tracebacks, run_cli


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"housewise {version('housewise')}")
        raise typer.Exit()


def _paragraphs(text: str) -> str:
    """A help text whose lines may be broken anew, but for those that are indented, and in which brackets are text."""
    parts = inspect.cleandoc(text).replace("[", r"\[").split("\n\n")
    return "\n\n".join(part if part.startswith(" ") else " ".join(part.splitlines()) for part in parts)


_DebugOption = Annotated[bool, typer.Option("--debug", help="Show the whole traceback of what fails.")]


def _with_debug(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the option ``--debug`` behind its own; the option may stand before the command as well."""

    @functools.wraps(command)
    def run(*, debug: bool, **options: Any) -> None:
        enable_tracebacks(debug)
        command(**options)

    # Typer evaluates no annotations of a signature that is set.
    signature = inspect.signature(command, eval_str=True)
    debug = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_DebugOption)
    vars(run)["__signature__"] = signature.replace(parameters=[*signature.parameters.values(), debug])
    return run


app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def _housewise(
    asked: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: _DebugOption = False,
) -> None:
    """A household robot in simulation that learns what its people want."""
    enable_tracebacks(debug)


_COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo,
    "run": run,
    "report": report,
    "compare": compare,
    "export": export,
    "replay": replay,
    "selftrain": selftrain,
    "learn": learn,
    "list": list_,
    "doctor": doctor,
}


def _register(commands: dict[str, Callable[..., None]], place: typer.Typer) -> None:
    for name, command in commands.items():
        place.command(name, help=_paragraphs(command.__doc__ or ""))(_with_debug(command))


_memory = typer.Typer(no_args_is_help=True, help="See, correct, forget and take along what is remembered of people.")
_register(MEMORY_COMMANDS, _memory)
_rules = typer.Typer(no_args_is_help=True, help="See and correct the rules that people have agreed to.")
_register(RULE_COMMANDS, _rules)
_play = typer.Typer(no_args_is_help=True, help="Be the robot yourself.")
_register(PLAY_COMMANDS, _play)
_register(_COMMANDS, app)
app.add_typer(_play, name="play")
app.add_typer(_memory, name="memory")
app.add_typer(_rules, name="rules")


def main() -> None:
    """Entry point."""
    # Threads of torch that do not spin while they wait: two programs on two cores write three times as fast, one alone
    # about a tenth slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    run_cli(app)


if __name__ == "__main__":
    main()
