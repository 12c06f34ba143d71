"""Play the robot yourself.

Examples:

  housewise play kitchen

  housewise play kitchen --task 2 --person nalini
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from housewise.cli.registration import given_options
from housewise.core.console import Console, print_note
from housewise.terminal.catalogue import find_people
from housewise.terminal.options import option


def kitchen(
    context: typer.Context,
    task: Annotated[int, option("N", "Number of the task, 1 to 8.", min=1)] = 1,
    person: Annotated[
        str,
        option(
            "NAME|FILE|FILE:NAME",
            "Person that you cook for (see housewise list people), or a file of people of your own.",
            autocompletion=lambda: list(find_people(system="adapt")),
        ),
    ] = "miranda",
    seed: Annotated[int, option("N", "Random seed of the kitchen.", min=0)] = 0,
    people: Annotated[Path | None, typer.Option(hidden=True, help="Former option, see --person.")] = None,
) -> None:
    """Prepare breakfast in the text kitchen, where a simulated person answers and judges.

    Examples:

      housewise play kitchen

      housewise play kitchen --task 2 --person nalini

      housewise play kitchen --person mine.yaml:zoe

    Type one action per line, for example: look in the fridge; take the milk; ask how you like your eggs. The person
    answers, and judges the breakfast at the end. Type help to see what else can be typed.
    """
    from housewise.cli.kitchen_game import cook
    from housewise.people.kitchen.profile_files import split_person

    file, name = split_person(person)
    if people is not None:
        print_note("--people is now --person: --person FILE or --person FILE:NAME")
        file, name = people, name if "--person" in given_options(context) else None
    cook(task, name, file, seed, Console(highlight=False), sys.stdin)


COMMANDS: dict[str, Callable[..., None]] = {"kitchen": kitchen}
