"""Options that several commands share, with their help texts. Nothing heavy is imported, so that help stays quick."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.cli.catalogue import complete_from
from housewise.core.files import check_writable_file

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
ModelOption = Annotated[
    str | None,
    _model_option(
        "NAME", "Chat model: local (the default, bundled), local:FOLDER, or the name of a model at --base-url."
    ),
]
BaseUrlOption = Annotated[
    str | None, _model_option("URL", "Address of an OpenAI-compatible server. Its key is read from OPENAI_API_KEY.")
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
JsonFileOption = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", callback=check_writable_file, help="Also write the figures to this file."),
]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


SceneOption = Annotated[
    list[str] | None,
    _task_option("NAME", "Scene of the Housekeep data. May be given several times.", "--scene", names="scenes"),
]
PersonOption = Annotated[
    str | None,
    _task_option(
        "NAME|FILE",
        "Person whose preferences count, or who answers (see housewise list people). Default: majority in houses.",
        names="people",
    ),
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
WorkersOption = Annotated[int | None, _execution_option("N", "Number of episodes played in parallel. Default: 1.")]
RayOption = Annotated[
    str | None, _execution_option("ADDRESS", "Play on a Ray cluster at HOST:PORT, or auto for the one of this machine.")
]
TrainedModelOption = Annotated[
    str | None,
    _model_option(
        "NAME",
        "Model to train: local (the default, bundled), local:FOLDER, local:HUB-NAME, or a model of a fine-tuning API.",
        "--model",
    ),
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


@dataclass(frozen=True)
class HouseOptions:
    """Options that choose houses and the person who lives there. Fields are named like the settings that they set."""

    data: DataOption = None
    scenes: SceneOption = None
    person: PersonOption = None


@dataclass(frozen=True)
class SimulatorOptions:
    """Options that choose a simulator. Fields are named like the settings that they set."""

    simulator: SimulatorOption = None
    gpu: GpuOption = None


@dataclass(frozen=True)
class ExecutionOptions(SimulatorOptions):
    """Options of how episodes are played. Fields are named like the settings that they set."""

    workers: WorkersOption = None
    ray: RayOption = None
    fail_fast: FailFastOption = None


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
