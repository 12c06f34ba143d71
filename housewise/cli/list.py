"""``housewise demo``, ``list`` and ``doctor``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from housewise.cli.catalogue import KINDS
from housewise.cli.option_values import parse_gpu
from housewise.cli.options import DataOption, GpuOption
from housewise.core.console import Console
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import check_writable_file


def demo(
    out: Annotated[Path, typer.Option(help="Where its runs and its report go.")] = Path("runs/demo"),
    houses: Annotated[int, typer.Option(help="How many generated houses.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of the first house.")] = 3,
) -> None:
    """Watch it work: a generated house, the local model and the scripted planner side by side, a report with films."""
    from housewise.cli.demo import run_demo

    run_demo(out, houses, seed, Console())


def doctor(
    data: DataOption = None,
    gpu: GpuOption = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Ask this chat server what it can; its key is in OPENAI_API_KEY.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The server's name of the model that is asked.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=1.0, max=3600.0, metavar="SECONDS", help="How long the server may take, in all.")
    ] = 60.0,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the findings there as well.")
    ] = None,
) -> None:
    """Say what is here of simulators, accelerators, models and data, what is missing, and the command that gets it.

    With --base-url, --model or both it asks a chat server as well: which models it has, how fast it writes, whether it
    gives log-probabilities, which grammars it follows (the setting grammar_dialect), and whether it sees pictures.

    It fails when the embedded simulator does not work, or a server that it asks cannot be used; everything else is
    optional.

    Examples:

      housewise doctor --base-url http://localhost:8000/v1 --model my-model
    """
    from housewise.doctor import run_doctor
    from housewise.doctor.chat_server import ServerChoice

    asked = None if base_url is None and model is None else ServerChoice(base_url, model, timeout)
    if not run_doctor(data, json_file, Console(), parse_gpu(gpu), asked):
        raise typer.Exit(1)


def list_(
    kind: Annotated[
        str | None,
        typer.Argument(help=f"One of {', '.join(KINDS)}; all by default.", autocompletion=lambda: list(KINDS)),
    ] = None,
    data: DataOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """List what options accept by name: planners, people, scenes, adapters, configurations and so on.

    Examples:

      housewise list people

      housewise list scenes --data ~/housekeep
    """
    from housewise.listing import show_choices

    if kind is not None and kind not in KINDS:
        raise UserError(f"no list of {kind}; {suggest_names(kind, KINDS)}")
    show_choices([kind] if kind else list(KINDS), data, as_json, Console())
