"""``housewise play kitchen``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer


def kitchen(
    task: Annotated[int, typer.Option(min=1, help="Number of the task, 1 to 8.")] = 1,
    person: Annotated[
        str | None, typer.Option(help="For whom; one of ADAPT's sixteen, or of --people.", show_default="miranda")
    ] = None,
    people: Annotated[Path | None, typer.Option(help="File or folder of people.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the scene.")] = 0,
) -> None:
    """Prepare breakfast in the text kitchen yourself.

    Type what you do, a line each, as in: look in the fridge; take the milk; ask how you like your eggs. The person
    answers, and judges the breakfast in the end. help shows what else can be typed.

    Examples:

      housewise play kitchen

      housewise play kitchen --task 2 --person nalini
    """
    from housewise.cli.kitchen_game import cook
    from housewise.core.console import Console

    cook(task, person, people, seed, Console(highlight=False), sys.stdin)


COMMANDS: dict[str, Callable[..., None]] = {"kitchen": kitchen}
