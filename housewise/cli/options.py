"""Options that several commands share, with their help texts. Nothing heavy is imported, so that help stays quick."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.cli.catalogue import complete_from

TASK, MODEL, EXECUTION = "Task", "Model", "Execution"
"""Headings of the panels in help texts."""


def panel_option(panel: str, metavar: str | None, help: str, *flags: str, names: str | None = None, **more: Any) -> Any:
    """Return a ``typer.Option`` that stands in a panel of the help text.

    Args:
        panel: Heading of the panel.
        metavar: What stands for the value in the help text, or None for a switch.
        help: What the option does, with its default.
        flags: Spellings of the option. By default the name of the parameter.
        names: Kind of names (a key of ``NAME_KINDS``) that the shell completes.
        more: Further arguments of ``typer.Option``.
    """
    if names is not None:
        more["autocompletion"] = complete_from(names)
    return typer.Option(*flags, metavar=metavar, help=help, rich_help_panel=panel, **more)


_task_option, _model_option, _execution_option = (partial(panel_option, each) for each in (TASK, MODEL, EXECUTION))

Overrides = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY=VALUE",
        help="Further settings, for example sampling.temperature=0.7; housewise settings lists them.",
        show_default=False,
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        metavar="NAME|FILE",
        help="Settings: a bundled configuration (see housewise list configs) or a YAML file.",
        autocompletion=complete_from("configs"),
    ),
]

DataOption = Annotated[
    Path | None,
    _task_option("FOLDER", "Folder of the Housekeep data. By default, houses are generated.", envvar="HOUSEKEEP_DATA"),
]
SceneOption = Annotated[
    list[str] | None, _task_option("NAME", "Scene of the Housekeep data. May be given several times.", names="scenes")
]
EpisodesOption = Annotated[
    str | None,
    _task_option(
        "IDS|SET", "Episode ids (3,17,40) or a task set (test, train) of the Housekeep data.", names="task-sets"
    ),
]
HousesOption = Annotated[int | None, _task_option("N", "Number of generated houses.")]
SeedOption = Annotated[
    int | None, _task_option("N", "Random seed. The first generated house has this number. Default: 0.")
]
SystemOption = Annotated[
    str | None,
    _task_option("NAME", "System to play (see housewise list systems). Default: personalize.", names="systems"),
]
MemoryOption = Annotated[str | None, _task_option("PERSON", "Person whose memory the run starts from and adds to.")]
PersonOption = Annotated[
    str | None,
    _task_option(
        "NAME|FILE",
        "Person whose preferences count (see housewise list people). Default: majority. With --system stars, terminal "
        "lets you answer.",
        names="people",
    ),
]

PlannerOption = Annotated[
    str | None,
    _model_option(
        "NAME|FILE:CLASS",
        "Planner (see housewise list planners), or a class of your own as ./FILE.py:CLASS. Default: llm.",
        names="planners",
    ),
]
ModelOption = Annotated[
    str | None,
    _model_option(
        "NAME", "Chat model: local (the default, bundled), local:FOLDER, or the name of a model at --base-url."
    ),
]
TrainedModelOption = Annotated[
    str | None,
    _model_option(
        "NAME",
        "Model to train: local (the default, bundled), local:FOLDER, local:HUB-NAME, or a model of a fine-tuning API.",
        "--model",
    ),
]
BaseUrlOption = Annotated[
    str | None, _model_option("URL", "Address of an OpenAI-compatible server. Its key is read from OPENAI_API_KEY.")
]
TrainingUrlOption = Annotated[
    str | None, _model_option("URL", "Address of a server with a fine-tuning API.", "--base-url")
]
AdapterOption = Annotated[
    str | None,
    _model_option(
        "NAME|FOLDER",
        "PEFT adapter of a local model: auto (the default: the bundled adapter where it fits), none, a name (see "
        "housewise list adapters) or a folder.",
        names="adapters",
    ),
]
RecordsOption = Annotated[
    Path | None, _model_option("FOLDER", "Folder of records whose replies the planner replay repeats.")
]

SimulatorOption = Annotated[
    str | None,
    _execution_option(
        "NAME", "raycast (the default, runs anywhere) or habitat (needs habitat-sim).", names="simulators"
    ),
]
GpuOption = Annotated[
    str | None,
    _execution_option(
        "N|N,M|auto",
        "CUDA devices that habitat renders on, used in turn. Default: -1, any device, also software rendering.",
    ),
]
RunsOption = Annotated[int | None, _execution_option("N", "Number of repeats of each episode. Default: 1.")]
WorkersOption = Annotated[int | None, _execution_option("N", "Number of episodes played in parallel.")]
RayOption = Annotated[
    str | None, _execution_option("ADDRESS", "Play on a Ray cluster at HOST:PORT, or auto for the one of this machine.")
]
FailFastOption = Annotated[
    bool | None,
    _execution_option(None, "Stop at the first episode that fails. The same command resumes the run.", "--fail-fast"),
]
LogToOption = Annotated[
    list[str] | None,
    _execution_option("NAME", "Log curves to tensorboard or wandb. May be given several times.", names="trackers"),
]
OutOption = Annotated[
    Path | None,
    _execution_option("FOLDER", "Folder of the run. An existing run is resumed. Default: a new folder in runs/."),
]


def _complete_person(incomplete: str) -> list[str]:
    """Return the people that have a memory and whose names begin with a text."""
    from housewise.people.memory import MemoryFolder

    return [name for name in MemoryFolder.default().people() if name.startswith(incomplete)]


PersonArgument = Annotated[
    str, typer.Argument(metavar="PERSON", help="Name of the person.", autocompletion=_complete_person)
]
OptionalPersonArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="PERSON",
        help="Name of the person. By default, everybody with a memory is listed.",
        autocompletion=_complete_person,
    ),
]
MemoriesOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Folder of all memories. Default: ~/.local/share/housewise/memory.",
        envvar="HOUSEWISE_MEMORY",
    ),
]
