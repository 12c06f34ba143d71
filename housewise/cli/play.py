"""Play the robot in a kitchen yourself, or the person in a lab.

Examples:

  housewise play kitchen

  housewise play lab

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
from housewise.terminal.catalogue import complete_from, find_people
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


def lab(
    variant: Annotated[
        str,
        typer.Argument(
            metavar="VARIANT",
            help="Task, such as fire_laser, or one of its variants (see housewise list variants).",
            autocompletion=complete_from("variants"),
        ),
    ] = "make_carrot",
    seed: Annotated[int, option("N", "Random seed of the lab.", min=0)] = 0,
    split: Annotated[str, option("NAME", "Labs for training or for tests: training or test.")] = "training",
    wording: Annotated[
        str, option("NAME|FILE", "Wording of the assistant: training, held_out, or a YAML file.")
    ] = "training",
    no_assistant: Annotated[bool, option(None, "Play without an assistant.", "--no-assistant")] = False,
    out: Annotated[Path | None, option("FOLDER", "Folder of the record. Default: a new folder in runs/.")] = None,
) -> None:
    """Do a task in a lab of strange devices, where a simulated assistant guides you by speech.

    Examples:

      housewise play lab

      housewise play lab fire_laser --seed 3

      housewise play lab fire_laser__none__assemble_laser --no-assistant

    You see what a stranger sees: "machine" and "computer" with their looks. The assistant knows the lab but not your
    task, so begin by telling it: say I want to turn a banana into a carrot. Then type one action per line, for example:
    go to the warehouse; take the banana; put it on 4; use the red computer; where is the laser? Type help to see what
    else can be typed. The session is recorded as those of housewise run --system basis are, and housewise report shows
    it.
    """
    from housewise.cli.lab_game import play_lab

    play_lab(variant, seed, split, wording, not no_assistant, out, Console(highlight=False))


COMMANDS: dict[str, Callable[..., None]] = {"kitchen": kitchen, "lab": lab}
