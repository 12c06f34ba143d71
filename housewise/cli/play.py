"""``housewise play``: be the robot yourself."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from housewise.core.console import Console


def kitchen(
    task: Annotated[int, typer.Option(min=1, metavar="N", help="Number of the task, 1 to 8.")] = 1,
    person: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Person that you cook for: one of ADAPT's sixteen, or of --people.",
            show_default="miranda",
        ),
    ] = None,
    people: Annotated[Path | None, typer.Option(help="File or folder of people. Default: ADAPT's sixteen.")] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the kitchen.")] = 0,
) -> None:
    """Prepare breakfast in the text kitchen yourself.

    Examples:

      housewise play kitchen

      housewise play kitchen --task 2 --person nalini

    Type one action per line, for example: look in the fridge; take the milk; ask how you like your eggs. The person
    answers, and judges the breakfast at the end. Type help to see what else can be typed.
    """
    from housewise.cli.kitchen_game import cook

    cook(task, person, people, seed, Console(highlight=False), sys.stdin)


COMMANDS: dict[str, Callable[..., None]] = {"kitchen": kitchen}
