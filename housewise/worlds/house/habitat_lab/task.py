"""The task, its actions and its measures, for habitat-lab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from habitat import EmbodiedTask, Measure, registry
from habitat.core.embodied_task import SimulatorTaskAction
from habitat.core.simulator import Observations
from omegaconf import DictConfig

from housewise.core.errors import UserError
from housewise.worlds.house.habitat_lab.simulator import HousewiseSim
from housewise.worlds.house.simulator.base import LowLevelAction

MEASURES: dict[str, Callable[[HousewiseSim], float]] = {
    "success_rate": lambda sim: sim.household.world.success_rate,
    "success": lambda sim: float(all(sim.household.world.correct_by_object.values())),
    "correct_placements": lambda sim: float(sum(sim.household.world.correct_by_object.values())),
    "placement_reward": lambda sim: sim.reward,
    "steps": lambda sim: float(sim.household.steps),
}
"""What can be measured after each step: World.success_rate, whether every object stands where people want it, how many
do, what the last step earned, and how many low-level steps there were."""


@registry.register_task(name="HousewiseRearrange-v0")
class HousewiseRearrange(EmbodiedTask):  # type: ignore[misc]
    """Tidy a house until the robot stops; see housewise.worlds.house.env.RearrangementEnv."""

    def _check_episode_is_active(self, *_: Any, **__: Any) -> bool:
        return not self._sim.over


@registry.register_task_action(name="HousewiseAction")
class HousewiseAction(SimulatorTaskAction):  # type: ignore[misc]
    """One of Housekeep's low-level actions, called by its name.

    Raises:
        UserError: when no action is called so.
    """

    def __init__(self, config: DictConfig, sim: HousewiseSim, name: str, **_: Any) -> None:
        super().__init__(config=config, sim=sim)
        try:
            self._action = LowLevelAction[name.upper()]
        except KeyError as error:
            there = ", ".join(action.name.lower() for action in LowLevelAction)
            raise UserError(f"no action {name!r} in this task; there are {there}") from error

    def step(self, target: str | None = None, **_: Any) -> Observations:
        """Act.

        Args:
            target: key of what grab_release refers to; None leaves it to the middle of the picture.
        """
        if target is not None:
            self._sim.household.aim(target)
        return self._sim.step(self._action)


@registry.register_measure(name="HousewiseMeasure")
class HousewiseMeasure(Measure):  # type: ignore[misc]
    """One of MEASURES, called by its name.

    Raises:
        UserError: when none is called so.
    """

    def __init__(self, sim: HousewiseSim, name: str, **_: Any) -> None:
        if name not in MEASURES:
            raise UserError(f"no measure {name!r} in this task; there are {', '.join(MEASURES)}")
        self._sim, self._name = sim, name
        super().__init__()

    def _get_uuid(self, *_: Any, **__: Any) -> str:
        return self._name

    def reset_metric(self, *_: Any, **__: Any) -> None:
        """Measure at the start."""
        self._metric = MEASURES[self._name](self._sim)

    def update_metric(self, *_: Any, **__: Any) -> None:
        """Measure after a step."""
        self._metric = MEASURES[self._name](self._sim)
