"""Options that several commands share, with their help texts. Nothing heavy is imported, so that help stays quick."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from housewise.core.files import check_writable_file
from housewise.terminal.catalogue import complete_from

if TYPE_CHECKING:
    from housewise.people.memory import Memory, MemoryFolder


def panel_option(
    panel: str | None, metavar: str | None, help: str, *flags: str, names: str | None = None, **more: Any
) -> Any:
    """Return a ``typer.Option`` that stands in a panel of the help text.

    Args:
        panel: Heading of the panel, or None for the first one.
        metavar: What stands for the value in the help text, or None for a switch.
        help: What the option does, with its default.
        flags: Spellings of the option. By default the name of the parameter.
        names: Kind of names (a key of ``NAME_KINDS``) that the shell completes.
        more: Further arguments of ``typer.Option``.
    """
    if names is not None:
        more["autocompletion"] = complete_from(names)
    return typer.Option(*flags, metavar=metavar, help=help, rich_help_panel=panel, **more)


option = partial(panel_option, None)
task_option, model_option = partial(panel_option, "Task"), partial(panel_option, "Model")
execution_option = partial(panel_option, "Execution")

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
    option(
        "NAME|FILE",
        "Settings: a bundled configuration (see housewise list configs), of the system first, or a YAML file.",
        names="configs",
    ),
]

DataOption = Annotated[
    Path | None,
    task_option("FOLDER", "Folder of the Housekeep data. By default, houses are generated.", envvar="HOUSEKEEP_DATA"),
]
ModelOption = Annotated[
    str | None,
    model_option(
        "NAME", "Chat model: local (the default, bundled), local:FOLDER, or the name of a model at --base-url."
    ),
]
BaseUrlOption = Annotated[
    str | None, model_option("URL", "Address of an OpenAI-compatible server. Its key is read from OPENAI_API_KEY.")
]
FailFastOption = Annotated[
    bool | None,
    execution_option(None, "Stop at the first episode that fails. The same command resumes the run.", "--fail-fast"),
]
LogToOption = Annotated[
    list[str] | None,
    execution_option("NAME", "Log curves to tensorboard or wandb. May be given several times.", names="trackers"),
]
OutOption = Annotated[
    Path | None,
    execution_option("FOLDER", "Folder of the run. An existing run is resumed. Default: a new folder in runs/."),
]
JsonFileOption = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", callback=check_writable_file, help="Also write the figures to this file."),
]
YesOption = Annotated[bool, option(None, "Do not ask for confirmation.", "--yes")]


SceneOption = Annotated[
    list[str] | None,
    task_option("NAME", "Scene of the Housekeep data. May be given several times.", "--scene", names="scenes"),
]
PersonOption = Annotated[
    str | None,
    task_option(
        "NAME|FILE",
        "Person whose preferences count, or who answers (see housewise list people). Default: majority in houses.",
        names="people",
    ),
]
SimulatorOption = Annotated[
    str | None,
    execution_option(
        "NAME", "raycast (the default, runs anywhere) or habitat (needs habitat-sim).", names="simulators"
    ),
]
GpuOption = Annotated[
    str | None,
    execution_option(
        "N|N,M|auto",
        "CUDA devices that habitat renders on, used in turn. Default: -1, any device, also software rendering.",
    ),
]
WorkersOption = Annotated[int | None, execution_option("N", "Number of episodes played in parallel. Default: 1.")]
RayOption = Annotated[
    str | None, execution_option("ADDRESS", "Play on a Ray cluster at HOST:PORT, or auto for the one of this machine.")
]
TrainedModelOption = Annotated[
    str | None,
    model_option(
        "NAME",
        "Model to train: local (the default, bundled), local:FOLDER, local:HUB-NAME, or a model of a fine-tuning API.",
        "--model",
    ),
]
TrainingUrlOption = Annotated[
    str | None, model_option("URL", "Address of a server with a fine-tuning API.", "--base-url")
]
AdapterOption = Annotated[
    str | None,
    model_option(
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


def person_argument(help: str = "Name of the person.") -> Any:
    """Return an argument for a person with a memory."""
    return typer.Argument(metavar="PERSON", help=help, autocompletion=_complete_person)


MemoriesOption = Annotated[
    Path | None,
    option("FOLDER", "Folder of all memories. Default: ~/.local/share/housewise/memory.", envvar="HOUSEWISE_MEMORY"),
]


@dataclass(frozen=True)
class MemoryOptions:
    """The memory of a person that a command is about."""

    person: Annotated[str, person_argument()]
    memories: MemoriesOption = None

    @property
    def folder(self) -> MemoryFolder:
        """The folder of all memories."""
        from housewise.people.memory import MemoryFolder

        return MemoryFolder.default(self.memories)

    def load(self) -> Memory:
        """Load the memory.

        Raises:
            UserError: There is none, or it cannot be read.
        """
        return self.folder.load(self.person)

    def edit(self, missing_ok: bool = False) -> AbstractContextManager[Memory]:
        """Open the memory for changes, which are saved at the end of a with statement.

        Args:
            missing_ok: Whether a missing memory is created.
        """
        return self.folder.edit_memory(self.person, missing_ok=missing_ok)


NewestRunArgument = Annotated[
    Path | None, typer.Argument(metavar="FOLDER", help="Folder of a run. Default: the newest one in runs/.")
]
