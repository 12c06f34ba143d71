"""The application of ``housewise``: registers the commands, which import what they need when they are run."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from housewise.cli import memory, play, rules
from housewise.cli.compare import compare
from housewise.cli.copy import copy
from housewise.cli.demo import demo
from housewise.cli.doctor import doctor
from housewise.cli.experiment import experiment
from housewise.cli.export import export
from housewise.cli.learn import learn
from housewise.cli.list import list_
from housewise.cli.registration import DebugOption, format_help, register
from housewise.cli.replay import replay
from housewise.cli.report import report
from housewise.cli.run import run
from housewise.cli.selftrain import selftrain
from housewise.cli.settings import settings
from housewise.core.console import enable_tracebacks
from housewise.core.errors import UserError, suggest_names

# Typer bundles click since version 0.26, so the class has to be that of the installed typer.
_UsageError: Any = typer.BadParameter.__mro__[1]

_COMMANDS: dict[str, dict[str, Callable[..., None]]] = {
    "Try and check": {"demo": demo, "doctor": doctor},
    "Play and train": {"run": run, "selftrain": selftrain, "experiment": experiment, "replay": replay},
    "Look at runs": {"report": report, "compare": compare, "export": export},
    "Find names and settings": {"list": list_, "settings": settings, "copy": copy},
    "Teach the robot what people want": {"learn": learn},
}
_GROUPS = {
    "play": (play, "Play and train"),
    "memory": (memory, "Teach the robot what people want"),
    "rules": (rules, "Teach the robot what people want"),
}
"""Module and panel of each group of commands. The docstrings of the modules are the help texts."""


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


def _housewise(
    is_version_asked: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: DebugOption = False,
) -> None:
    """Simulate a household robot that learns what its people want.

    Examples:

      # see it work: one house, three robots, and a report with films
      housewise demo

      # play three houses, then look at them in the browser
      housewise run --houses 3 --planner scripted
      housewise report --open

      # tell a robot what you want, and let it tidy by that
      housewise learn me --topic house
      housewise run --memory me

    Each command explains itself: housewise run --help.
    """
    enable_tracebacks(debug)


app.callback(help=format_help(_housewise.__doc__ or ""))(_housewise)
for _panel, _commands in _COMMANDS.items():
    register(_commands, app, panel=_panel)
for _name, (_module, _panel) in _GROUPS.items():
    _group = typer.Typer(cls=_CommandGroup, no_args_is_help=True, help=format_help(_module.__doc__ or ""))
    register(_module.COMMANDS, _group, f"{_name} ")
    app.add_typer(_group, name=_name, rich_help_panel=_panel)


@cache
def build_command() -> Any:
    """Return the application as a command of click.

    Typer evaluates the annotations of all commands for it, which takes longer than a short command does. A process that
    runs several command lines builds it once.
    """
    return typer.main.get_command(app)


def run_app() -> None:
    """Run the command line.

    Raises:
        UserError: The command line cannot be understood.
        SystemExit: A command ends with an exit code.
    """
    try:
        sys.exit(build_command()(prog_name="housewise", standalone_mode=False))
    except typer.Abort:
        typer.echo("Aborted.", err=True)
        sys.exit(1)
    except _UsageError as error:
        # The help is printed already where a group is named without a command.
        if not error.format_message():
            sys.exit(2)
        raise UserError(_describe_usage_error(error)) from None


def _describe_usage_error(error: Any) -> str:
    """Describe on one line why a command line cannot be understood."""
    context = error.ctx
    path = context.command_path if context else "housewise"
    # Only the error about an unknown option has possibilities.
    if hasattr(error, "possibilities"):
        flags = [flag for each in context.command.params if not each.hidden for flag in each.opts]
        close = difflib.get_close_matches(error.option_name, flags, n=1)
        remedy = f"{path} --help lists all" if context.parent else "options of a command follow its name"
        return f"{path}: no option {error.option_name}; {f'did you mean {close[0]}?' if close else remedy}"
    message = error.format_message().rstrip(".")
    return f"{path}: {message[:1].lower()}{message[1:]}; see {path} --help"
