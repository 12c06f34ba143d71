"""``--quick`` of experiments: minutes in place of hours, to see that all of it works."""

from __future__ import annotations

from typing import Annotated

import typer

from housewise.core.console import print_note

QuickOption = Annotated[bool, typer.Option("--quick", help="A few minutes' worth: shows the way, not the figures.")]


def say_left_out(quick: bool, words: str) -> None:
    """Say what a quick experiment leaves out, in a line.

    Args:
        quick: whether it is one; nothing is said otherwise.
        words: what is played, and what is not.
    """
    if quick:
        print_note(f"quick: {words}; it shows the way, and its figures say nothing")
