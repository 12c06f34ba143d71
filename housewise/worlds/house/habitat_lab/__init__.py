"""The task for habitat-lab: importing this registers simulator, data set, task, actions, sensors and measures there.

``habitat.Env(habitat_lab.config())`` and ``habitat.gym.make_gym_from_config(habitat_lab.config())`` play it.
"""

from housewise.worlds.house.habitat_lab import installation

# The modules below need habitat-lab to be imported at all.
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
