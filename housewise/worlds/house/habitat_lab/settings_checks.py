"""Checks habitat-lab's settings: a setting that the task would ignore is an error."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from habitat.config.default import get_agent_config
from habitat.config.default_structured_configs import AgentConfig
from omegaconf import DictConfig, OmegaConf

from housewise.core.errors import UserError, suggest_names
from housewise.core.plugins import SIMULATORS, plugin_names
from housewise.worlds.house.habitat_lab.settings import ROBOT, HousewiseDatasetConfig, HousewiseSimulatorConfig
from housewise.worlds.house.simulator.base import SENSORS

_SIMULATOR, _DATASET = "habitat.simulator", "habitat.dataset"
# Settings that are used or do not affect the task. Agents and their sensors are checked separately.
_FREE = frozenset(
    {
        *("type", "backend", "camera", "seed", "scene", "scene_dataset", "agents", "agents_order"),
        "habitat_sim_v0.gpu_device_id",
        *("create_renderer", "requires_textures", "auto_sleep", "concur_render"),
        *("habitat_sim_v0.frustum_culling", "habitat_sim_v0.leave_context_with_background_renderer"),
    }
)
_CAMERA = ("width", "height", "hfov", "min_depth", "max_depth")
_FREE_OF_DATA = frozenset({"type", "data", "scenes", "episodes", "houses", "seed", "person", "content_scenes"})


def check_simulator(config: DictConfig) -> None:
    """Check ``habitat.simulator`` without its scene, for which see check_scene.

    Raises:
        UserError: If the task would ignore a setting; the message names the setting and its only value.
    """
    backends = plugin_names(SIMULATORS)
    if config.backend not in backends:
        raise UserError(f"{_SIMULATOR}.backend={config.backend}: use {' or '.join(backends)}")
    _compare(config, OmegaConf.structured(HousewiseSimulatorConfig), _SIMULATOR, _FREE)
    if len(config.agents) != 1:
        raise UserError(f"{_SIMULATOR}.agents: there is one robot in this task, not {', '.join(config.agents)}")
    agent, name = get_agent_config(config), f"{_SIMULATOR}.agents.{next(iter(config.agents))}"
    _compare(agent, OmegaConf.structured(AgentConfig(**ROBOT)), name, {"sim_sensors"})
    for sensor, settings in agent.sim_sensors.items():
        if sensor not in SENSORS:
            raise UserError(f"no camera sensor {sensor!r} in this task; {suggest_names(sensor, SENSORS)}")
        free = {"normalize_depth"} if sensor == "depth" else set()
        _compare(settings, _sensor(config.camera), f"{name}.sim_sensors.{sensor}", free)


def check_dataset(config: DictConfig) -> None:
    """Check ``habitat.dataset``.

    Raises:
        UserError: If the task would ignore a setting; the message names the setting and its only value.
    """
    free = _FREE_OF_DATA if config.data is None else _FREE_OF_DATA - {"houses", "seed"}
    _compare(config, OmegaConf.structured(HousewiseDatasetConfig), _DATASET, free)


def check_scene(config: DictConfig, scenes: Collection[str]) -> None:
    """Check the scene of ``habitat.simulator``, which habitat-lab replaces by that of the first episode.

    Args:
        config: ``habitat.simulator``.
        scenes: The scenes of the episodes.

    Raises:
        UserError: If no episode is in the scene.
    """
    usual = HousewiseSimulatorConfig()
    allowed = {"scene": {usual.scene, *scenes}, "scene_dataset": {usual.scene_dataset}}
    for key, values in allowed.items():
        if config[key] not in values:
            raise UserError(
                f"{_SIMULATOR}.{key}={config[key]} is not played; {_DATASET} says what is: leave {key} out, and set "
                "houses, scenes or content_scenes there"
            )


def _sensor(camera: DictConfig) -> dict[str, Any]:
    """Return the settings of a sensor that agree with the camera, which all sensors share."""
    tilt = -float(np.deg2rad(camera.look_down))
    seen = {"position": [0.0, camera.above_floor, 0.0], "orientation": [tilt, 0.0, 0.0]}
    return {"type": "HousewiseSensor", **{key: camera[key] for key in _CAMERA}, **seen}


def _compare(config: DictConfig, played: Any, name: str, free: Collection[str]) -> None:
    """Compare settings with the only possible values.

    Args:
        config: The settings.
        played: The only possible value of each key; other keys are unknown.
        name: Name of the settings, for messages.
        free: Dotted keys that may have any value, including all keys below them.
    """
    known = dict(_leaves(OmegaConf.to_container(played) if isinstance(played, DictConfig) else played, free))
    for key, value in _leaves(OmegaConf.to_container(config), free):
        if key not in known:
            raise UserError(f"{name}.{key} is unknown in this task; leave it out")
        if value != known[key]:
            raise UserError(f"{name}.{key}={value} is not played in this task; leave it at {known[key]}{_hint(key)}")


def _hint(key: str) -> str:
    if key in _CAMERA:
        return f", or set {_SIMULATOR}.camera.{key} for all sensors"
    if key in ("split", "data_path", "scenes_dir"):
        return "; data, scenes, episodes, houses and seed say what is played"
    return ""


def _leaves(settings: Any, free: Collection[str], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted key and the value of each setting that is not free."""
    for key, value in settings.items():
        if f"{before}{key}" in free:
            continue
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, free, f"{before}{key}.")
        else:
            yield f"{before}{key}", value
