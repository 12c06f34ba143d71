"""``housewise doctor``: what is installed here, and what is missing."""

from __future__ import annotations

from typing import Annotated

import typer

from housewise.core.console import Console
from housewise.terminal.option_values import parse_gpu
from housewise.terminal.options import DataOption, GpuOption, JsonFileOption, option


def doctor(
    data: DataOption = None,
    gpu: GpuOption = None,
    base_url: Annotated[
        str | None, option("URL", "Also test this chat server. Its key is read from OPENAI_API_KEY.")
    ] = None,
    model: Annotated[
        str | None,
        option("NAME", "Name of the model that the chat server is tested with, or local:NAME to estimate its memory."),
    ] = None,
    timeout: Annotated[
        float, option("SECONDS", "Time limit of all requests to the server.", min=1.0, max=3600.0)
    ] = 60.0,
    json_file: JsonFileOption = None,
) -> None:
    """Check which simulators, accelerators, models and data are installed, and print how to get what is missing.

    Examples:

      housewise doctor

      housewise doctor --base-url http://localhost:8000/v1 --model my-model

      housewise doctor --model local:Qwen/Qwen2.5-7B-Instruct

    With --base-url or --model a chat server is tested as well: which models it serves, how fast it writes, whether it
    returns log-probabilities, which grammars it follows (the setting grammar_dialect), and whether it sees pictures.

    With --model local:NAME it is computed how much memory of a GPU training and serving that model need. With
    --base-url as well, the server is tested with the model NAME if it lists it, or else with its only one.

    The exit code is 1 if the embedded simulator does not work or the tested server cannot be used. Everything else is
    optional.
    """
    from housewise.doctor import run_doctor
    from housewise.doctor.chat_server import ServerChoice

    server = None if base_url is None and model is None else ServerChoice(base_url, model, timeout)
    if not run_doctor(data, json_file, Console(), parse_gpu(gpu), server):
        raise typer.Exit(1)
