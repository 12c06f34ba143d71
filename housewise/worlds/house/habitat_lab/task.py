"""The task, its actions and its measures for habitat-lab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from habitat import EmbodiedTask, Measure, registry
from habitat.core.embodied_task import SimulatorTaskAction
from habitat.core.simulator import Observations
from omegaconf import DictConfig

from housewise.core.errors import UserError, suggest_names
from housewise.worlds.house.habitat_lab.simulator import HousewiseSim
from housewise.worlds.house.simulator.base import LowLevelAction

MEASURES: dict[str, Callable[[HousewiseSim], float]] = {
    "success_rate": lambda sim: sim.household.world.success_rate,
    "success": lambda sim: float(all(sim.household.world.correct_by_object.values())),
    "correct_placements": lambda sim: float(sum(sim.household.world.correct_by_object.values())),
    "placement_reward": lambda sim: sim.reward,
    "steps": lambda sim: float(sim.household.steps),
}
"""Measures after each step: HouseState.success_rate, whether all objects are placed correctly, how many are, the reward
of the last step, and the number of low-level steps."""


@registry.register_task(name="HousewiseRearrange-v0")
class HousewiseRearrange(EmbodiedTask):  # type: ignore[misc]
    """The rearrangement task, which ends when the robot stops; see housewise.worlds.house.env.RearrangementEnv."""

    def _check_episode_is_active(self, *_: Any, **__: Any) -> bool:
        return not self._sim.over


@registry.register_task_action(name="HousewiseAction")
class HousewiseAction(SimulatorTaskAction):  # type: ignore[misc]
    """A low-level action of Housekeep, chosen by its name.

    Raises:
        UserError: If there is no action of this name.
    """

    def __init__(self, config: DictConfig, sim: HousewiseSim, name: str, **_: Any) -> None:
        super().__init__(config=config, sim=sim)
        try:
            self._action = LowLevelAction[name.upper()]
        except KeyError as error:
            known = [action.name.lower() for action in LowLevelAction]
            raise UserError(f"no action {name!r} in this task; {suggest_names(name, known)}") from error

    def step(self, target: str | None = None, **_: Any) -> Observations:
        """Carry out the action.

        Args:
            target: Key of the target of grab_release, or None for the target at the image centre.
        """
        if target is not None:
            self._sim.household.aim(target)
        return self._sim.step(self._action)


@registry.register_measure(name="HousewiseMeasure")
class HousewiseMeasure(Measure):  # type: ignore[misc]
    """A measure of MEASURES, chosen by its name.

    Raises:
        UserError: If there is no measure of this name.
    """

    def __init__(self, sim: HousewiseSim, name: str, **_: Any) -> None:
        if name not in MEASURES:
            raise UserError(f"no measure {name!r} in this task; {suggest_names(name, MEASURES)}")
        self._sim, self._name = sim, name
        super().__init__()

    def _get_uuid(self, *_: Any, **__: Any) -> str:
        return self._name

    def reset_metric(self, *_: Any, **__: Any) -> None:
        """Compute the measure at the start of the episode."""
        self._metric = MEASURES[self._name](self._sim)

    def update_metric(self, *_: Any, **__: Any) -> None:
        """Compute the measure after a step."""
        self._metric = MEASURES[self._name](self._sim)
