"""Turn values of command-line options into settings."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from housewise.core.errors import UserError
from housewise.core.render_devices import ANY, GpuSetting, parse_gpu_setting

if TYPE_CHECKING:
    from housewise.systems.personalize.settings import PersonalizeSettings
    from housewise.worlds.house.simulator import SimulatorChoice


# Bounded, because Python refuses to parse numbers of thousands of digits.
_NUMBERS = re.compile(r"\s*[0-9]{1,18}\s*(?:,\s*(?:[0-9]{1,18}\s*)?)*")


def drop_unset(options: dict[str, Any]) -> dict[str, Any]:
    """Return options without those that were not given (None or an empty list), also in nested sections."""
    nested = {key: drop_unset(value) if isinstance(value, dict) else value for key, value in options.items()}
    return {key: value for key, value in nested.items() if value not in (None, [], {})}


def configured_system(config: Path | None, overrides: list[str]) -> str:
    """Return the name of the system in a file of settings or in overrides, by default ``personalize``.

    Args:
        config: The file, or the name of a bundled configuration, first of those of ``personalize``.
        overrides: Texts ``key=value``.

    Raises:
        UserError: The settings cannot be read.
    """
    from housewise.core.settings_loading import configured_systems

    return ["personalize", *configured_systems(config, overrides, "personalize")][-1]


def is_from_environment(data: Path | None) -> bool:
    """Return whether the folder of the Housekeep data is the one of the environment variable HOUSEKEEP_DATA."""
    named = os.environ.get("HOUSEKEEP_DATA")
    return bool(named and data == Path(named))


def data_folder(data: Path | None, houses: int | None, config: Path | None, base: Mapping[str, Any]) -> str | None:
    """Return the folder of the Housekeep data that is a setting, or None to leave it to the configuration.

    A folder from the environment variable HOUSEKEEP_DATA is ignored with ``houses``, where the configuration sets the
    folder, and by systems without houses.

    Args:
        data: Folder from the option or the environment variable.
        houses: Number of generated houses, or None if it was not given.
        config: The configuration.
        base: Defaults of the system or the training, with every existing key.

    Raises:
        UserError: Both options were given.
    """
    from housewise.core.settings_loading import sets_key

    if data is None:
        return None
    if is_from_environment(data):
        path = "run.tasks.data" if "run" in base else "tasks.data"
        is_ignored = houses is not None or base.get("system", "personalize") != "personalize"
        return None if is_ignored or (config is not None and sets_key(config, base, path)) else str(data)
    if houses is not None:
        raise UserError(
            "--houses plays generated houses, and --data plays houses of the Housekeep data; give one of them"
        )
    return str(data)


def check_options_of_system(options: Mapping[str, Any], system: str, base: Mapping[str, Any]) -> None:
    """Check that a system has the settings that options stand for.

    Args:
        options: Values of the options that were given, by the name of the setting.
        system: Name of the system.
        base: Defaults of the system, with every existing key.

    Raises:
        UserError: It has not; the message names the option.
    """
    from housewise.core.settings import setting_paths

    names = {path.rpartition(".")[2] for path in setting_paths(base)}
    for key in options:
        if key not in names:
            option = "--scene" if key == "scenes" else f"--{key.replace('_', '-')}"
            raise UserError(
                f"{option}: unknown setting {key!r} of --system {system}; leave the option out (housewise settings "
                f"{system} lists its settings)"
            )


def person_settings(person: str | None, system: str) -> dict[str, str | None]:
    """Return the settings that ``--person`` stands for in a system. Only kitchens have people in files of several."""
    if person is None or system != "adapt":
        return {"person": person}
    from housewise.people.kitchen.profile_files import split_person

    file, name = split_person(person)
    return {"people": None if file is None else str(file), "person": name}


def check_settings(settings: PersonalizeSettings, houses: int | None = None) -> None:
    """Check, before a model is loaded, that the adapter exists and that options have what they need.

    Args:
        settings: The settings of a run.
        houses: Number of generated houses, or None if it was not given.

    Raises:
        UserError: There is no such adapter, or scenes are named without the Housekeep data, or records without the
            planner that replays them, or generated houses where the settings name that data.
    """
    tasks = settings.tasks
    if houses is not None and tasks.data is not None:
        raise UserError(
            f"--houses plays generated houses, and the settings name the Housekeep data in {tasks.data}; "
            "add data=null, or leave --houses out"
        )
    if tasks.data is None and (tasks.scenes or tasks.episodes is not None):
        asked = f"scene {tasks.scenes[0]}" if tasks.scenes else f"episodes {tasks.episodes}"
        raise UserError(f"{asked}: needs the Housekeep data; give its folder with --data or HOUSEKEEP_DATA")
    agent = settings.agent
    if agent.records is not None and agent.planner != "replay":
        raise UserError(f"--records: only --planner replay repeats replies, not {agent.planner}; leave one of them out")
    if settings.models.agent.adapter is not None:
        from housewise.language.adapters import check_adapter_exists

        check_adapter_exists(settings.models.agent.adapter)


def parse_episodes(text: str | None) -> list[int] | str | None:
    """Parse comma-separated episode ids. Any other text is returned as the name of a task set."""
    if text is None or not _NUMBERS.fullmatch(text):
        return text
    return [int(part) for part in text.split(",") if part.strip()]


def parse_gpu(gpu: str | None) -> GpuSetting:
    """Parse the option ``--gpu``, without reading any settings. None means the default, any device.

    Raises:
        UserError: The value names no devices.
    """
    try:
        chosen: GpuSetting = ANY if gpu is None else parse_gpu_setting(gpu)
    except ValueError as error:
        raise UserError(f"--gpu {gpu}: {error}") from error
    return chosen


def simulator_choice(simulator: str | None, gpu: str | None = None) -> SimulatorChoice:
    """Return the simulator and its devices from options, with the defaults of a run for options that were not given.

    Raises:
        UserError: The simulator does not exist, or the value of ``--gpu`` names no devices.
    """
    from housewise.systems.personalize.settings import house_settings
    from housewise.worlds.house.simulator import SimulatorChoice

    settings = house_settings(settings=drop_unset({"simulator": simulator}))
    return SimulatorChoice(settings.world.simulator, parse_gpu(gpu))
