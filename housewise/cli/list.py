"""``housewise list``: the names that options accept."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from housewise.core.console import Console, print_lines
from housewise.core.errors import UserError, suggest_names
from housewise.terminal.catalogue import NAME_KINDS
from housewise.terminal.options import DataOption, option


def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND",
            help=f"One of {', '.join(NAME_KINDS)}. By default, all are listed.",
            autocompletion=lambda: list(NAME_KINDS),
        ),
    ] = None,
    data: DataOption = None,
    as_json: Annotated[bool, option(None, "Print JSON.", "--json")] = False,
) -> None:
    """List the names that options accept: planners, people, scenes, adapters, configurations and more.

    Examples:

      housewise list people

      housewise list scenes --data ~/housekeep
    """
    if kind is not None and kind not in NAME_KINDS:
        raise UserError(f"no list of {kind}; {suggest_names(kind, list(NAME_KINDS))}")
    console = Console()
    found = {each: NAME_KINDS[each].find(data) for each in ([kind] if kind else NAME_KINDS)}
    if as_json:
        print_lines(console, json.dumps(found, indent=1))
        return
    for number, (each, names) in enumerate(found.items()):
        if number:
            console.print()
        console.print(Text.assemble((each, "bold"), f", for {NAME_KINDS[each].option}"))
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column()
        for name, about in names.items():
            grid.add_row(Text(f"  {name}", "cyan"), Text(about))
        console.print(grid if names else "  only in the Housekeep data: give its folder with --data or HOUSEKEEP_DATA")
