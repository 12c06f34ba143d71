"""The rearrangement task for habitat-lab.

Importing this package registers its simulator, data set, task, actions, sensors and measures with habitat-lab. Then
``habitat.Env(habitat_lab.config())`` and ``habitat.gym.make_gym_from_config(habitat_lab.config())`` make environments.
"""

from housewise.worlds.house.habitat_lab import installation

# The modules below import habitat-lab.
installation.check_habitat_lab()

from housewise.worlds.house.habitat_lab.dataset import HousewiseDataset  # noqa: E402
from housewise.worlds.house.habitat_lab.settings import config, config_file  # noqa: E402
from housewise.worlds.house.habitat_lab.simulator import HousewiseSim  # noqa: E402
from housewise.worlds.house.habitat_lab.task import HousewiseAction, HousewiseMeasure, HousewiseRearrange  # noqa: E402

__all__ = [
    "HousewiseAction",
    "HousewiseDataset",
    "HousewiseMeasure",
    "HousewiseRearrange",
    "HousewiseSim",
    "config",
    "config_file",
]
