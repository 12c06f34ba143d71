"""The simulator and the sensors of the task for habitat-lab, on top of RearrangementEnv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import quaternion
from gym import spaces
from gymnasium.spaces import Discrete
from habitat import registry
from habitat.config.default import get_agent_config
from habitat.core.dataset import Episode
from habitat.core.simulator import AgentState, Observations, SensorSuite, SensorTypes, Simulator
from habitat.core.simulator import Sensor as LabSensor
from numpy.typing import ArrayLike, NDArray
from omegaconf import DictConfig

from housewise.core.errors import UserError, suggest_names
from housewise.worlds.house.env import RearrangementEnv
from housewise.worlds.house.geometry import yaw_rotation
from housewise.worlds.house.habitat_lab.dataset import load_task
from housewise.worlds.house.habitat_lab.settings_checks import check_simulator
from housewise.worlds.house.simulator import open_simulator
from housewise.worlds.house.simulator.base import SENSORS, Camera, LowLevelAction

_TYPES = {
    "rgb": SensorTypes.COLOR,
    "depth": SensorTypes.DEPTH,
    "instance": SensorTypes.SEMANTIC,
    "semantic": SensorTypes.SEMANTIC,
    "holding": SensorTypes.SEMANTIC,
    "pose": SensorTypes.POSITION,
}


@registry.register_sensor(name="HousewiseSensor")
class HousewiseSensor(LabSensor):  # type: ignore[misc]
    """A sensor that returns one entry of RearrangementEnv's observations, chosen by its name.

    The entry is returned as an array. Images have a third axis. ``normalize_depth: true`` scales metres to 0 to 1.

    Raises:
        UserError: If there is no entry of this name.
    """

    def __init__(self, sim: HousewiseSim, config: DictConfig, name: str, **_: Any) -> None:
        if name not in _TYPES:
            raise UserError(f"no sensor {name!r} in this task; {suggest_names(name, _TYPES)}")
        seen: Any = sim.household.observation_space
        self._sim, self._name, self._seen = sim, name, seen[name]
        self._normalized = name == "depth" and bool(config.get("normalize_depth"))
        super().__init__(config=config)

    def _get_uuid(self, *_: Any, **__: Any) -> str:
        return self._name

    def _get_sensor_type(self, *_: Any, **__: Any) -> SensorTypes:
        return _TYPES[self._name]

    def _get_observation_space(self, *_: Any, **__: Any) -> spaces.Box:
        seen = self._seen
        if isinstance(seen, Discrete):
            return spaces.Box(0, int(seen.n) - 1, (1,), np.int64)
        if self._normalized:
            return spaces.Box(0.0, 1.0, (*seen.shape, 1), np.float32)
        dtype = np.float32 if seen.dtype == np.float64 else seen.dtype
        shape = (*seen.shape, 1) if len(seen.shape) == 2 else seen.shape
        return spaces.Box(seen.low.min(), seen.high.max(), shape, dtype)

    def get_observation(self, *_: Any, **__: Any) -> NDArray[Any]:
        """Return the current observation."""
        value = self._sim.seen[self._name]
        if self._normalized:
            value = (value - self._seen.low) / (self._seen.high - self._seen.low)
        array: NDArray[Any] = np.asarray(value, self.observation_space.dtype).reshape(self.observation_space.shape)
        return array


@registry.register_simulator(name="HousewiseSim-v0")
class HousewiseSim(Simulator):  # type: ignore[misc]
    """A house with the rules of the task.

    Args:
        config: ``habitat.simulator``; see housewise.worlds.house.habitat_lab.settings.HousewiseSimulatorConfig.

    Attributes:
        household: The environment. Its ``world`` has the true state, with the keys of all objects and receptacles.
        seen: The last observation of the environment.
        reward: Reward of the last step.
        over: Whether the robot has stopped.

    Raises:
        UserError: If the backend is not installed, or a setting is invalid.
    """

    def __init__(self, config: DictConfig, **_: Any) -> None:
        self.habitat_config = config
        shown = get_agent_config(config).sim_sensors
        check_simulator(config)
        images = [sensor for sensor in SENSORS if sensor in shown or sensor == "instance"]
        simulator = open_simulator(config.backend, images, _camera(config.camera), config.habitat_sim_v0.gpu_device_id)
        self.household = RearrangementEnv(simulator, [], look_down=float(np.deg2rad(config.camera.look_down)))
        self._suite = SensorSuite([HousewiseSensor(self, settings, name) for name, settings in shown.items()])
        self.seen: dict[str, Any] = {}
        self.reward, self.over = 0.0, False

    @property
    def sensor_suite(self) -> SensorSuite:
        """The sensors of the agent in the config."""
        return self._suite

    @property
    def previous_step_collided(self) -> bool:
        """Whether the robot bumped into something in the last step."""
        return self.household.collided

    @property
    def action_space(self) -> spaces.Discrete:
        """One number for each ``LowLevelAction``."""
        return spaces.Discrete(len(LowLevelAction))

    def reconfigure(self, config: DictConfig, episode: Episode | None = None) -> None:
        """Load the task of an episode, which the next reset starts."""
        self.habitat_config = config
        if episode is not None:
            self.household.tasks = [load_task(episode)]

    def reset(self) -> Observations:
        """Start the episode."""
        self.seen, _ = self.household.reset(options={"task": 0})
        self.reward, self.over = 0.0, False
        return self._suite.get_observations()

    def step(self, action: int, *_: Any, **__: Any) -> Observations:
        """Carry out one low-level action."""
        self.seen, self.reward, self.over, _cut, _info = self.household.step(action)
        return self._suite.get_observations()

    def step_physics(self, seconds: float) -> None:
        """Do nothing, since the task has no physics."""

    def seed(self, seed: int) -> None:
        """Do nothing, since the simulator is deterministic."""

    def get_agent_state(self, agent_id: int = 0) -> AgentState:
        """Return the position and rotation of the robot."""
        body = self.household.simulator.body
        x, y, z, w = yaw_rotation(body.yaw)
        return AgentState(self._world(body.point), quaternion.quaternion(w, x, y, z))

    def is_navigable(self, point: Sequence[float]) -> bool:
        """Whether the robot can be at a point (x, y, z)."""
        return self.household.simulator.navmesh.contains(_floor(point))

    def geodesic_distance(self, position_a: ArrayLike, position_b: ArrayLike, episode: Any = None) -> float:
        """Return the geodesic distance in metres to a point or to the nearest of several; inf without a path."""
        ends = np.atleast_2d(np.asarray(position_b, dtype=np.float64))
        return min(self.household.simulator.navmesh.distance(_floor(position_a), _floor(end)) for end in ends)

    def get_straight_shortest_path_points(
        self, position_a: ArrayLike, position_b: ArrayLike
    ) -> list[NDArray[np.float32]]:
        """Return the corners of the shortest path with both ends; empty without a path."""
        return list(map(self._world, self.household.simulator.navmesh.path(_floor(position_a), _floor(position_b))))

    @property
    def up_vector(self) -> NDArray[np.float64]:
        """Unit vector (3,) that points up in the world frame."""
        return np.array([0.0, 1.0, 0.0])

    @property
    def forward_vector(self) -> NDArray[np.float64]:
        """Unit vector (3,) along which the robot looks without a rotation."""
        return np.array([0.0, 0.0, -1.0])

    def render(self, mode: str = "rgb") -> NDArray[np.uint8]:
        """Return the camera image."""
        return self.household.render()

    def close(self, destroy: bool = True) -> None:
        """Close the environment and its simulator."""
        self.household.close()

    def _world(self, point: NDArray[np.float64]) -> NDArray[np.float32]:
        return np.array([point[0], self.household.simulator.navmesh.height, point[1]], dtype=np.float32)


def _floor(point: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(point, dtype=np.float64)[[0, 2]]


def _camera(config: DictConfig) -> Camera:
    if (
        min(config.width, config.height) < 1
        or not 0 < config.hfov < 180
        or not 0 <= config.min_depth < config.max_depth
    ):
        raise UserError(
            "habitat.simulator.camera: width and height have to be 1 or more, hfov between 0 and 180 degrees, "
            "min_depth 0 or more and less than max_depth"
        )
    angle = float(np.deg2rad(config.hfov))
    return Camera(config.width, config.height, angle, config.above_floor, config.min_depth, config.max_depth)
