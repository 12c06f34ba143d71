"""``housewise list`` on the terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from housewise.cli.catalogue import KINDS


def show_choices(kinds: Sequence[str], data: Path | None, as_json: bool, console: Console) -> None:
    """Print what there is of some kinds, each name with a line about it.

    Args:
        kinds: keys of KINDS.
        data: the Housekeep folder, None for generated houses.
        as_json: print an object of kinds, each an object of names, instead.
        console: where it goes.

    Raises:
        UserError: when the Housekeep folder is none.
    """
    found = {kind: KINDS[kind].find(data) for kind in kinds}
    if as_json:
        console.print(json.dumps(found, indent=1), markup=False, highlight=False, soft_wrap=True)
        return
    for number, (kind, choices) in enumerate(found.items()):
        if number:
            console.print()
        console.print(Text.assemble((kind, "bold"), f", for {KINDS[kind].option}"))
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column()
        for name, about in choices.items():
            grid.add_row(Text(f"  {name}", "cyan"), Text(about))
        console.print(grid if choices else "  of the Housekeep data: name its folder with --data or HOUSEKEEP_DATA")
