"""Options that several commands share, with the words of their help. Nothing heavy is imported: help is to be quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from housewise.cli.catalogue import complete_from

TASK, MODEL, EXECUTION = "Task", "Model", "Execution"
"""Headings of the help's panels."""

Overrides = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", help="Further settings, as in sampling.temperature=0.7.", show_default=False),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        metavar="NAME|FILE",
        help="Settings: one of housewise list configs, or a YAML file.",
        autocompletion=complete_from("configs"),
    ),
]

DataOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Housekeep folder; without it, houses are generated.",
        envvar="HOUSEKEEP_DATA",
        rich_help_panel=TASK,
    ),
]
SceneOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Scene of the data; may be given several times.",
        autocompletion=complete_from("scenes"),
        rich_help_panel=TASK,
    ),
]
EpisodesOption = Annotated[
    str | None,
    typer.Option(
        metavar="IDS|SET",
        help="Episode ids (3,17,40) or a task set (test, train) of the data.",
        autocompletion=complete_from("task-sets"),
        rich_help_panel=TASK,
    ),
]
HousesOption = Annotated[int | None, typer.Option(metavar="N", help="How many generated houses.", rich_help_panel=TASK)]
SeedOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="Seed; the first generated house has this number.", rich_help_panel=TASK),
]
SystemOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What is played: one of housewise list systems; personalize by default.",
        autocompletion=complete_from("systems"),
        rich_help_panel=TASK,
    ),
]
MemoryOption = Annotated[
    str | None,
    typer.Option(metavar="PERSON", help="Whose memory to start from, and to add to.", rich_help_panel=TASK),
]
PersonOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE",
        help="Whose preferences: majority (the default), ada, ..., or annotator-3 of the data; stars: terminal.",
        autocompletion=complete_from("people"),
        rich_help_panel=TASK,
    ),
]

PlannerOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE:CLASS",
        help="llm (the default), sayplan, saycan, scripted, store, nearest, demonstrator, replay, or ./FILE.py:CLASS.",
        autocompletion=complete_from("planners"),
        rich_help_panel=MODEL,
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="local (the default), local:<folder>, or a model's name at --base-url.",
        rich_help_panel=MODEL,
    ),
]
TrainedModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="local, local:<folder or name>, or a fine-tuning API's.",
        rich_help_panel=MODEL,
    ),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="An OpenAI-compatible server; its key is in OPENAI_API_KEY.",
        rich_help_panel=MODEL,
    ),
]
TrainingUrlOption = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="A server with a fine-tuning API.", rich_help_panel=MODEL),
]
AdapterOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FOLDER",
        help="PEFT adapter of a local model: auto (the bundled one where it fits), none, a name or a folder.",
        autocompletion=complete_from("adapters"),
        rich_help_panel=MODEL,
    ),
]
RecordsOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Records whose replies the replay planner plays.", rich_help_panel=MODEL),
]

SimulatorOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="raycast, which runs anywhere, or habitat, which takes habitat-sim.",
        autocompletion=complete_from("simulators"),
        rich_help_panel=EXECUTION,
    ),
]
GpuOption = Annotated[
    str | None,
    typer.Option(
        metavar="N|N,M|auto",
        help="CUDA devices that habitat renders on, taken in turn; -1, the default, takes any, software as well.",
        rich_help_panel=EXECUTION,
    ),
]
RunsOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="How often each episode is played; once by default.", rich_help_panel=EXECUTION),
]
WorkersOption = Annotated[
    int | None, typer.Option(metavar="N", help="Episodes played at the same time.", rich_help_panel=EXECUTION)
]
RayOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Play on a Ray cluster: HOST:PORT, or auto for this machine's.",
        rich_help_panel=EXECUTION,
    ),
]
FailFastOption = Annotated[
    bool | None,
    typer.Option(
        "--fail-fast", help="End at the first episode that fails; the same command goes on.", rich_help_panel=EXECUTION
    ),
]
LogToOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Follow the curves in tensorboard or wandb; may be given several times.",
        autocompletion=complete_from("trackers"),
        rich_help_panel=EXECUTION,
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Folder of the run; one that is there is resumed. A new one in runs/ by default.",
        rich_help_panel=EXECUTION,
    ),
]
