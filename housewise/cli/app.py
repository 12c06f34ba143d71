"""The application of ``housewise``: registers the commands, which import what they need when they are run."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
import typer.core

from housewise.cli import memory, play, rules
from housewise.cli.compare import compare
from housewise.cli.copy import copy
from housewise.cli.demo import demo
from housewise.cli.doctor import doctor
from housewise.cli.experiment import experiment
from housewise.cli.export import export
from housewise.cli.learn import learn
from housewise.cli.list import list_
from housewise.cli.registration import DebugOption, register
from housewise.cli.replay import replay
from housewise.cli.report import report
from housewise.cli.run import run
from housewise.cli.selftrain import selftrain
from housewise.cli.settings import settings
from housewise.core.console import enable_tracebacks
from housewise.core.errors import UserError, suggest_names

# Typer bundles click since version 0.26, so the class has to be that of the installed typer.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

_COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo,
    "run": run,
    "report": report,
    "compare": compare,
    "experiment": experiment,
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


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        typer.echo(f"housewise {version('housewise')}")
        raise typer.Exit()


class _CommandGroup(typer.core.TyperGroup):
    """A group of commands that suggests a command in place of an unknown one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """See ``click.Group.resolve_command``."""
        if args[0] not in self.commands and not args[0].startswith("-"):
            raise UserError(f"{ctx.command_path}: no command {args[0]!r}; {suggest_names(args[0], self.commands)}")
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=_CommandGroup, no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def _housewise(
    is_version_asked: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: DebugOption = False,
) -> None:
    """Simulate a household robot that learns what its people want."""
    enable_tracebacks(debug)


register(_COMMANDS, app)
for _name, (_help, _commands) in _GROUPS.items():
    _group = typer.Typer(cls=_CommandGroup, no_args_is_help=True, help=_help)
    register(_commands, _group, f"{_name} ")
    app.add_typer(_group, name=_name)


def run_app() -> None:
    """Run the command line.

    Raises:
        UserError: The command line cannot be understood.
        SystemExit: A command ends with an exit code.
    """
    try:
        sys.exit(app(prog_name="housewise", standalone_mode=False))
    except typer.Abort:
        raise SystemExit(1) from None
    except _UsageError as error:
        raise UserError(_describe_usage_error(error)) from None


def _describe_usage_error(error: Any) -> str:
    """Describe on one line why a command line cannot be understood."""
    path = error.ctx.command_path
    if unknown := getattr(error, "option_name", None) if hasattr(error, "possibilities") else None:
        close = difflib.get_close_matches(
            unknown, [flag for each in error.ctx.command.params for flag in each.opts], n=1
        )
        return f"{path}: no option {unknown}; {f'did you mean {close[0]}? ' if close else ''}{path} --help lists all"
    message = error.format_message().rstrip(".")
    return f"{path}: {message[:1].lower()}{message[1:]}; see {path} --help"
