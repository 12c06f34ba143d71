"""Turn functions into commands: groups of options become options, and former options and ``--debug`` are added."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
import typer.core
from typer.models import OptionInfo

from housewise.core.console import enable_tracebacks, print_note
from housewise.core.errors import UserError
from housewise.core.migrations.options import FORMER_OPTIONS
from housewise.terminal.options import option

DebugOption = Annotated[bool, option(None, "Print the whole traceback of an error.", "--debug")]


class _Command(typer.core.TyperCommand):
    """A command that refuses an option with a single value that is given twice; click drops the first in silence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See ``click.Command.parse_args``."""
        given: list[Any] = self.make_parser(ctx).parse_args(args=list(args))[2]
        options = [each for each in given if each.param_type_name == "option" and not (each.multiple or each.is_flag)]
        for each in options:
            if options.count(each) > 1 and not ctx.resilient_parsing:
                raise UserError(f"{ctx.command_path}: {each.opts[0]} is given twice; leave one of them out")
        return super().parse_args(ctx, args)


def register(
    commands: Mapping[str, Callable[..., None]], group: typer.Typer, prefix: str = "", panel: str | None = None
) -> None:
    """Add commands to a group.

    A parameter of a command whose type is a dataclass is a group of options: its fields become options, and the command
    receives an instance of it. A parameter ``context`` receives the context of typer.

    Args:
        commands: Functions by name. Their docstrings are the help texts.
        group: Group that they are added to.
        prefix: Name of the group, with a space, as in ``memory ``.
        panel: Heading of the commands in the help text of the group.
    """
    for name, command in commands.items():
        text = format_help(command.__doc__ or "")
        group.command(name, cls=_Command, help=text, rich_help_panel=panel)(_build_command(command, prefix + name))


def given_options(context: typer.Context) -> set[str]:
    """Return the options that stand on the command line, by their first spelling."""
    options = (parameter for parameter in context.command.params if parameter.param_type_name == "option")
    return {option.opts[0] for option in options if _is_given(context, option.name or "")}


def check_options(context: typer.Context, allowed: Collection[str], problem: str) -> None:
    """Check that no option stands on the command line that a command would ignore.

    Args:
        context: The context of the command.
        allowed: Options that the command follows.
        problem: What is wrong with any other option, and what to do.

    Raises:
        UserError: There is another option.
    """
    if ignored := given_options(context) - {"--debug", *allowed}:
        raise UserError(f"{min(ignored)}: {problem}")


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _build_command(command: Callable[..., None], name: str) -> Callable[..., None]:
    """Return a command that accepts the options of groups, former options, and ``--debug`` after its own options."""
    # Typer does not evaluate the annotations of a signature that is set.
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        each.name: each.annotation for each in signature.parameters.values() if is_dataclass(each.annotation)
    }
    options = {each.name: each for own in signature.parameters.values() for each in _expand_group(own)}
    current = {flag: each.name for each in options.values() for flag in _find_flags(each)}
    # A command that declares a former option itself handles it itself.
    former = {old: current[new] for old, new in FORMER_OPTIONS.get(name, {}).items() if old not in current}
    hidden = {old: _hide_option(options[new], old) for old, new in former.items()}

    @functools.wraps(command)
    def run_command(*, context: typer.Context, debug: bool, **values: Any) -> None:
        enable_tracebacks(debug)
        for old, new in former.items():
            value = values.pop(hidden[old].name)
            if not _is_given(context, hidden[old].name):
                continue
            flag = FORMER_OPTIONS[name][old]
            if _is_given(context, new):
                raise UserError(f"{old} is now {flag}, and both are given; leave out {old}")
            print_note(f"{old} is now {flag}")
            values[new] = value
        for parameter, group in groups.items():
            values[parameter] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        command(**values, **({"context": context} if "context" in signature.parameters else {}))

    options.pop("context", None)
    added = (
        Parameter("debug", Parameter.KEYWORD_ONLY, default=False, annotation=DebugOption),
        Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context),
    )
    vars(run_command)["__signature__"] = signature.replace(
        parameters=[each.replace(kind=Parameter.KEYWORD_ONLY) for each in (*options.values(), *hidden.values(), *added)]
    )
    return run_command


def _expand_group(parameter: Parameter) -> Iterator[Parameter]:
    """Yield a parameter for each field of a group of options, or the parameter itself if it is no group."""
    if not is_dataclass(parameter.annotation):
        yield parameter
        return
    hints = get_type_hints(parameter.annotation, include_extras=True)
    for field in fields(parameter.annotation):
        default = Parameter.empty if field.default is MISSING else field.default
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name])


def _find_flags(parameter: Parameter) -> tuple[str, ...]:
    """Return the spellings of an option. An argument has none."""
    info = get_args(parameter.annotation)[-1] if get_origin(parameter.annotation) is Annotated else None
    if not isinstance(info, OptionInfo):
        return ()
    return tuple(info.param_decls or [f"--{parameter.name.replace('_', '-')}"])


def _hide_option(option: Parameter, flag: str) -> Parameter:
    """Return an option like another one that has another spelling and is not shown in the help."""
    type_, info = get_args(option.annotation)
    info = copy.copy(info)
    info.param_decls, info.hidden = (flag,), True
    name = f"former_{flag.strip('-').replace('-', '_')}"
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[type_ | None, info])


def format_help(docstring: str) -> str:
    """Return a docstring as help text: lines are joined unless they are indented, and brackets are escaped."""
    parts = inspect.cleandoc(docstring).replace("[", r"\[").split("\n\n")
    return "\n\n".join(part if part.startswith(" ") else " ".join(part.splitlines()) for part in parts)
