"""From the options of a command to settings; settings are what systems.personalize.settings and
selftrain.personalize.settings say."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from housewise.core.errors import UserError
from housewise.core.render_devices import ANY, GpuSetting, parse_gpu_setting

if TYPE_CHECKING:
    from housewise.systems.personalize.settings import PersonalizeSettings
    from housewise.worlds.house.simulator import SimulatorChoice


# So long, no more: Python refuses to read a number of thousands of digits.
_NUMBERS = re.compile(r"\s*[0-9]{1,18}\s*(?:,\s*(?:[0-9]{1,18}\s*)?)*")


def drop_unset(options: dict[str, Any]) -> dict[str, Any]:
    """Options without those that were not given."""
    nested = {key: drop_unset(value) if isinstance(value, dict) else value for key, value in options.items()}
    return {key: value for key, value in nested.items() if value is not None}


def configured_system(config: Path | None, overrides: list[str]) -> str:
    """The system that settings name.

    Raises:
        UserError: when they cannot be read.
    """
    from housewise.core.settings import user_values

    return str(["personalize", *user_values("system", config, overrides)][-1])


def data_folder(data: Path | None, houses: int | None, system: str = "personalize") -> str | None:
    """The data, where they are wanted: who asks for generated houses, or plays no houses, may have Housekeep's folder
    in the environment.

    Raises:
        UserError: when houses of both kinds are asked for.
    """
    from_environment = data is not None and str(data) == os.environ.get("HOUSEKEEP_DATA")
    if from_environment and system != "personalize":
        return None
    if data is None or houses is None:
        return str(data) if data else None
    if from_environment:
        return None
    raise UserError("--houses are generated, and --data is for houses of the Housekeep data; give one of them")


def check_settings(settings: PersonalizeSettings) -> None:
    """Find an adapter that there is not, and generated houses where others are meant, before a model is loaded.

    Raises:
        UserError: naming what there is.
    """
    tasks = settings.tasks
    if tasks.data is None and (tasks.scenes or tasks.episodes is not None):
        asked = f"scene {tasks.scenes[0]}" if tasks.scenes else f"episodes {tasks.episodes}"
        raise UserError(f"{asked}: of the Housekeep data; give its folder with --data or HOUSEKEEP_DATA")
    if settings.models.agent.adapter is not None:
        from housewise.language.adapters import check_adapter_exists

        check_adapter_exists(settings.models.agent.adapter)


def parse_episodes(text: str | None) -> list[int] | str | None:
    """Episode ids, or the name of a task set."""
    if text is None or not _NUMBERS.fullmatch(text):
        return text
    return [int(part) for part in text.split(",") if part.strip()]


def parse_gpu(gpu: str | None) -> GpuSetting:
    """The CUDA devices that an option names; as by default where it is not given. No settings are read for that.

    Raises:
        UserError: when these are no devices.
    """
    try:
        chosen: GpuSetting = ANY if gpu is None else parse_gpu_setting(gpu)
    except ValueError as error:
        raise UserError(f"--gpu {gpu}: {error}") from error
    return chosen


def simulator_choice(name: str | None, gpu: str | None = None) -> SimulatorChoice:
    """The simulator that options name, and where it renders; the defaults of a run where they are not given.

    Raises:
        UserError: when there is no such simulator, or these are no devices.
    """
    from housewise.systems.personalize.settings import house_settings
    from housewise.worlds.house.simulator import SimulatorChoice

    settings = house_settings(settings=drop_unset({"simulator": name}))
    return SimulatorChoice(settings.world.simulator, parse_gpu(gpu))
