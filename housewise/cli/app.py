"""The application of ``housewise``: registers the commands, which import what they need when they are run."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from housewise.cli import memory, play, rules
from housewise.cli.compare import compare
from housewise.cli.copy import copy
from housewise.cli.demo import demo
from housewise.cli.doctor import doctor
from housewise.cli.export import export
from housewise.cli.learn import learn
from housewise.cli.list import list_
from housewise.cli.replay import replay
from housewise.cli.report import report
from housewise.cli.run import run
from housewise.cli.selftrain import selftrain
from housewise.cli.settings import settings
from housewise.core.console import enable_tracebacks

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
    "settings": settings,
    "copy": copy,
    "doctor": doctor,
}
_GROUPS = {
    "play": ("Play the robot yourself.", play.COMMANDS),
    "memory": ("Show, correct, forget, export and import what is remembered of people.", memory.COMMANDS),
    "rules": ("Show, add, edit and forget the rules that people agreed to.", rules.COMMANDS),
}

_DebugOption = Annotated[bool, typer.Option("--debug", help="Print the whole traceback of an error.")]


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        typer.echo(f"housewise {version('housewise')}")
        raise typer.Exit()


def _format_help(docstring: str) -> str:
    """Return a docstring as help text: lines are joined unless they are indented, and brackets are escaped."""
    parts = inspect.cleandoc(docstring).replace("[", r"\[").split("\n\n")
    return "\n\n".join(part if part.startswith(" ") else " ".join(part.splitlines()) for part in parts)


def _add_debug_option(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that accepts ``--debug`` after its own options; the option may also precede the command."""

    @functools.wraps(command)
    def run_command(*, debug: bool, **options: Any) -> None:
        enable_tracebacks(debug)
        command(**options)

    # Typer does not evaluate the annotations of a signature that is set.
    signature = inspect.signature(command, eval_str=True)
    debug = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_DebugOption)
    vars(run_command)["__signature__"] = signature.replace(parameters=[*signature.parameters.values(), debug])
    return run_command


def _register(commands: dict[str, Callable[..., None]], group: typer.Typer) -> None:
    for name, command in commands.items():
        group.command(name, help=_format_help(command.__doc__ or ""))(_add_debug_option(command))


app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def _housewise(
    is_version_asked: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: _DebugOption = False,
) -> None:
    """Simulate a household robot that learns what its people want."""
    enable_tracebacks(debug)


_register(_COMMANDS, app)
for _name, (_help, _commands) in _GROUPS.items():
    _group = typer.Typer(no_args_is_help=True, help=_help)
    _register(_commands, _group)
    app.add_typer(_group, name=_name)
