"""``housewise play kitchen``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer


def kitchen(
    task: Annotated[int, typer.Option(min=1, help="Number of the task, 1 to 8.")] = 1,
    person: Annotated[str | None, typer.Option(help="For whom; one of ADAPT's sixteen, or of --people.")] = None,
    people: Annotated[Path | None, typer.Option(help="File or folder of people.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the scene.")] = 0,
) -> None:
    """Prepare breakfast in the text kitchen yourself.

    Say an action a line, as in: Search fridge_0. Ask "..." puts a question to the person, who judges the breakfast in
    the end.

    Examples:

      housewise play kitchen --task 2 --person nalini
    """
    from housewise.cooking import cook
    from housewise.core.console import Console

    console = Console(highlight=False)
    cook(task, person, people, seed, console, lambda: console.input("> "))


COMMANDS: dict[str, Callable[..., None]] = {"kitchen": kitchen}
