"""The Gymnasium environment of household rearrangement (Housekeep, Kant et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from housewise.core.errors import UserError
from housewise.worlds.argument_checks import check_limit, check_task_number
from housewise.worlds.house.episode import HouseObject, RearrangementEpisode
from housewise.worlds.house.geometry import yaw_from_rotation
from housewise.worlds.house.grab_rules import REACH, GrabResult, grab_or_release
from housewise.worlds.house.preferences import Preferences
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator.base import LOOK_LIMIT, BodyPose, LowLevelAction, Observation, Simulator
from housewise.worlds.house.state import HouseSnapshot, HouseState

MAX_STEPS = 1000

_MAX_THINGS = 1 << 15
_THINGS_STEP = 128
_FARTHEST = 1e4


@dataclass(frozen=True, eq=False)
class RearrangementTask:
    """A house and an episode in it."""

    scene: Scene
    episode: RearrangementEpisode

    def for_person(self, person: Preferences) -> RearrangementTask:
        """Return the same task with the correct receptacles of a person."""
        rooms = {room.name: room.kind for room in self.scene.rooms}
        places = [place for place in self.scene.usable_receptacles if place.key in self.episode.receptacles]

        def correct(thing: HouseObject) -> frozenset[str]:
            return frozenset(
                place.key for place in places if person.wants(thing.category, rooms[place.room or ""], place.kind)
            )

        objects = tuple(replace(thing, correct=correct(thing)) for thing in self.episode.objects)
        return RearrangementTask(self.scene, replace(self.episode, objects=objects))


@dataclass(frozen=True)
class EnvState:
    """A copy of the environment's state, to which ``RearrangementEnv.restore`` returns.

    Attributes:
        world: Placements of all objects.
        body: Pose of the robot.
        steps: Number of low-level steps so far.
        observation: The last picture.
        observed_from: Pose in which it was taken. A controller may have turned the robot since.
        visible: Keys of what is in it.
    """

    world: HouseSnapshot
    body: BodyPose
    steps: int
    observation: Observation
    observed_from: BodyPose
    visible: frozenset[str]


class RearrangementEnv(gymnasium.Env[dict[str, Any], int]):
    """Tidy a house through a camera and seven low-level actions.

    Description:
        The rearrangement task of Housekeep (Kant et al. 2022). An environment with the embedded simulator can be
        copied and pickled in the middle of an episode.

    Mission space:
        Put every object where the house's person wants it. Most objects are there already.

    Action space:
        ``Discrete(7)``, the members of ``worlds.house.simulator.base.LowLevelAction``: move forward 0.25 m, turn left
        or right 10 degrees, look up or down 10 degrees, grab or release, stop.

    Observation space:
        A dictionary: ``rgb``, ``depth`` (metres), ``instance`` and ``semantic``, each (height, width[, 3]);
        ``holding``, the instance number of the object in the hand (0 for none); ``pose``, (x, z, yaw, pitch) in metres
        and radians. ``holding`` has room for the objects of the largest house, in steps of 128, so that houses of
        similar size have equal spaces, as vectors of environments need them.

    Rewards:
        +1 for placing an object on a correct receptacle, -1 for taking one away from a correct receptacle.

    Starting state:
        ``reset(options={"task": n})`` chooses a task; with a seed it is drawn, otherwise the tasks follow one another.

    Termination:
        The stop action. The episode is truncated after ``max_steps`` actions.

    ``info`` says what happened (``event``), what is in view (``visible``) and what stands on what there
    (``relations``).

    Args:
        simulator: A simulator with all four sensors.
        tasks: Tasks, played one after another. ``reset(options={"task": n})`` chooses one; a seed draws one at random.
        max_steps: Number of low-level steps after which the episode is truncated.
        look_down: Angle in radians by which the camera looks down at the start; negative looks up. At most LOOK_LIMIT.
        render_mode: See gymnasium.Env.

    Attributes:
        collided: Whether the robot bumped into something in the last step.

    Raises:
        UserError: If ``max_steps`` is less than 1 or ``look_down`` exceeds LOOK_LIMIT.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 - Gymnasium's own form

    def __init__(
        self,
        simulator: Simulator,
        tasks: Sequence[RearrangementTask],
        max_steps: int = MAX_STEPS,
        look_down: float = float(np.deg2rad(30.0)),
        render_mode: str | None = "rgb_array",
    ) -> None:
        if not abs(look_down) <= LOOK_LIMIT:
            raise UserError(f"look_down must be from -85 to 85 degrees, not {np.rad2deg(look_down):g}")
        self.simulator = simulator
        self.tasks = tasks
        self.max_steps = check_limit("max_steps", max_steps)
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(len(LowLevelAction))  # type: ignore[assignment]
        self.observation_space = _observation_space(simulator, tasks)
        self._look_down = look_down
        self.last_grab: GrabResult | None = None
        self._next = 0
        self.aim_target: str | None = None
        self.collided = False
        self._closed = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode; see gymnasium.Env.reset.

        Raises:
            UserError: If the environment is closed, or there is no such task.
        """
        self.check_open()
        number = (options or {}).get("task")
        if number is not None:
            number = check_task_number(number, len(self.tasks))
        super().reset(seed=seed)
        if number is None:
            number = int(self.np_random.integers(len(self.tasks))) if seed is not None else self._next
        self._next = (number + 1) % len(self.tasks)
        task = self.tasks[number]
        episode = task.episode
        x, _, z = episode.start.position
        body = BodyPose(x, z, yaw_from_rotation(episode.start.rotation), -self._look_down)
        self.simulator.reset(task.scene, episode.receptacles, episode.objects, body)
        self.world = HouseState(task.scene, episode, self.simulator)
        self.steps, self.aim_target, self.last_grab, self.collided = 0, None, None, False
        self._update_observation()
        return self._observe(), self._info(None, False)

    @property
    def state(self) -> EnvState:
        """A copy of the current state for ``restore``."""
        picture = self._observation.copy(), self._observed_from, self.visible
        return EnvState(self.world.snapshot, self.simulator.body, self.steps, *picture)

    def restore(self, state: EnvState) -> None:
        """Return to an earlier state of this episode."""
        self.world.restore(state.world)
        self.simulator.stand(state.body)
        self.steps, self.aim_target, self.last_grab, self.collided = state.steps, None, None, False
        self._observation = state.observation.copy()
        self._observed_from, self.visible = state.observed_from, state.visible

    def aim(self, key: str) -> None:
        """Set the target of the next GRAB_RELEASE by its key. By default the ray through the image centre decides.

        The target (or, for an object, its receptacle) has to be in view and within 1.5 m.
        """
        self.aim_target = key

    def step(self, action: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carry out one low-level action; see gymnasium.Env.step. STOP ends the episode.

        Raises:
            UserError: If the environment is closed.
        """
        self.check_open()
        result, collided = None, False
        if action == LowLevelAction.GRAB_RELEASE:
            if self.simulator.body != self._observed_from:
                self._update_observation()
            target = self.aim_target or self.simulator.aimed_at(REACH)
            result = grab_or_release(self.world, target, self.visible)
            self.last_grab = result
        else:
            collided = self.simulator.act(LowLevelAction(action))
        self.aim_target = None
        self.collided = collided
        self.steps += 1
        self._update_observation()
        reward = float(result.reward) if result else 0.0
        # bool() because comparing numpy numbers returns numpy.bool.
        ended, cut = bool(action == LowLevelAction.STOP), bool(self.steps >= self.max_steps)
        return self._observe(), reward, ended, cut, self._info(result, collided)

    def render(self) -> np.ndarray:
        """Return the camera image, (height, width, 3) uint8."""
        return np.array(self._observation.rgb)

    def close(self) -> None:
        """Close the simulator."""
        self._closed = True
        self.simulator.close()

    def check_open(self) -> None:
        """Raise a UserError if the environment is closed."""
        if self._closed:
            raise UserError("the environment is closed; make a new one to play on")

    def _update_observation(self) -> None:
        self._observation = self.simulator.observe()
        self._observed_from = self.simulator.body
        numbers = np.flatnonzero(np.bincount(self._observation.instance.ravel()))
        self.visible = frozenset(self.simulator.keys[number] for number in numbers if number)

    def _observe(self) -> dict[str, Any]:
        body, holding = self.simulator.body, self.world.holding
        # Copies, because render() and saved states go by the environment's own picture.
        picture = self._observation.copy()
        return {
            "rgb": picture.rgb,
            "depth": picture.depth,
            "instance": picture.instance,
            "semantic": picture.semantic,
            "holding": self.simulator.keys.index(holding) if holding else 0,
            "pose": np.array([body.x, body.z, np.angle(np.exp(1j * body.yaw)), body.pitch], dtype=np.float64),
        }

    def _info(self, result: GrabResult | None, collided: bool) -> dict[str, Any]:
        return {
            "event": _describe_event(result, collided),
            "grab": result,
            "visible": self.visible,
            "relations": self.world.visible_placements(self.visible),
            "holding": self.world.holding,
            "success_rate": self.world.success_rate,
            "steps": self.steps,
        }


def _observation_space(simulator: Simulator, tasks: Sequence[RearrangementTask]) -> spaces.Dict:
    camera = simulator.camera
    size = (camera.height, camera.width)
    farthest = np.array([_FARTHEST, _FARTHEST, np.pi, np.pi / 2])
    return spaces.Dict(
        {
            "rgb": spaces.Box(0, 255, (*size, 3), np.uint8),
            "depth": spaces.Box(camera.min_depth, camera.max_depth, size, np.float32),
            "instance": spaces.Box(0, _MAX_THINGS, size, np.int32),
            "semantic": spaces.Box(0, _MAX_THINGS, size, np.int32),
            "holding": spaces.Discrete(_instance_count_bound(tasks)),
            "pose": spaces.Box(-farthest, farthest, dtype=np.float64),
        }
    )


def _instance_count_bound(tasks: Sequence[RearrangementTask]) -> int:
    """Return an upper bound for the instance numbers (0 included) of the tasks, or the overall bound without tasks."""
    counts = [1 + len(task.scene.receptacles) + len(task.episode.objects) for task in tasks]
    return -(-max(counts) // _THINGS_STEP) * _THINGS_STEP if counts else _MAX_THINGS


def _describe_event(result: GrabResult | None, collided: bool) -> str:
    if result is None:
        return "bumped into something" if collided else ""
    if result.moved is None:
        return f"grab failed: {result.reason}"
    return f"placed {result.moved} on {result.target}" if result.target else f"picked up {result.moved}"
