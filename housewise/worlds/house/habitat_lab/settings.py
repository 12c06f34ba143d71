"""The task's settings for habitat-lab, and the bundled configurations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import habitat
import numpy as np
from habitat.config.default_structured_configs import DatasetConfig, SimulatorConfig, register_hydra_plugin
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig

from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import find_paths
from housewise.worlds.house.generator.room_space import ROBOT_RADIUS
from housewise.worlds.house.simulator.base import STEP, TURN, Camera

_CONFIGS = CONFIGS / "habitat"
_GROUP = "housewise"

ROBOT = {"height": Camera.above_floor, "radius": ROBOT_RADIUS}
"""Size of the robot in habitat-lab's settings of an agent, metres; see rearrange.yaml."""


@dataclass
class CameraConfig:
    """The robot's camera, which all sensors share; see housewise.worlds.house.simulator.base.Camera.

    Attributes:
        hfov: Horizontal field of view, degrees.
        look_down: Angle by which the camera looks down at the start, degrees, from -85 to 85.
    """

    width: int = Camera.width
    height: int = Camera.height
    hfov: float = 90.0
    above_floor: float = Camera.above_floor
    min_depth: float = Camera.min_depth
    max_depth: float = Camera.max_depth
    look_down: float = 30.0


@dataclass
class HousewiseSimulatorConfig(SimulatorConfig):  # type: ignore[misc]
    """The settings of ``habitat.simulator``.

    Attributes:
        backend: Name of the simulator, habitat or raycast; see housewise.worlds.house.simulator.open_simulator.
    """

    type: str = "HousewiseSim-v0"
    forward_step_size: float = STEP
    turn_angle: int = round(float(np.rad2deg(TURN)))
    backend: str = "habitat"
    camera: CameraConfig = field(default_factory=CameraConfig)


@dataclass
class HousewiseDatasetConfig(DatasetConfig):  # type: ignore[misc]
    """The settings of ``habitat.dataset``, which ``housewise settings personalize`` explains."""

    type: str = "HousewiseDataset-v0"
    data: str | None = None
    scenes: list[str] | None = None
    episodes: Any = None
    houses: int = 3
    seed: int = 0
    person: str = "majority"


class _SearchPath(SearchPathPlugin):  # type: ignore[misc]
    """Lets other configurations include ours, with ``/housewise: rearrange`` among their defaults."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        search_path.append(provider="housewise", path=f"file://{_CONFIGS}")


def config_file(name: str = "rearrange") -> str:
    """Return the path of a bundled configuration.

    Raises:
        UserError: If there is no configuration of this name.
    """
    folder = _CONFIGS / _GROUP
    file = folder / f"{name}.yaml"
    if not file.is_file():
        known = [path.stem for path in find_paths(folder, "*.yaml")]
        raise UserError(f"no habitat-lab configuration {name!r}; {suggest_names(name, known)}")
    return str(file)


def config(name: str = "rearrange", overrides: Sequence[str] = ()) -> DictConfig:
    """Load a bundled configuration for habitat.Env or habitat.gym.

    Args:
        name: ``rearrange`` for generated houses, ``housekeep`` for the Housekeep data.
        overrides: Settings such as ``habitat.dataset.houses=5``.

    Raises:
        UserError: If the name or a setting is unknown, or a value is invalid.
    """
    file = config_file(name)
    try:
        loaded: DictConfig = habitat.get_config(file, list(overrides))
    except HydraException as error:
        told = ": ".join(str(part).splitlines()[0].rstrip(".") for part in (error, error.__cause__) if part is not None)
        raise UserError(f"{told}; {file} says what can be set") from error
    return loaded


ConfigStore.instance().store(group="habitat/simulator", name="housewise", node=HousewiseSimulatorConfig)
ConfigStore.instance().store(group="habitat/dataset", name="housewise", node=HousewiseDatasetConfig)
register_hydra_plugin(_SearchPath)
