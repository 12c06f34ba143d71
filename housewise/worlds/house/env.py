"""The Gymnasium environment of household rearrangement (Housekeep, Kant et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from housewise.core.errors import UserError
from housewise.worlds.house.episode import Episode, HouseObject
from housewise.worlds.house.geometry import yaw_of
from housewise.worlds.house.preferences import Preferences
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator.base import Action, BodyPose, Observation, Simulator
from housewise.worlds.house.state import REACH, GrabResult, World, WorldState

MAX_STEPS = 1000

_MOST_THINGS = 1 << 15
_THINGS_STEP = 128
_FARTHEST = 1e4


@dataclass(frozen=True, eq=False)
class Task:
    """An episode in its house."""

    scene: Scene
    episode: Episode

    def for_person(self, person: Preferences) -> Task:
        """The same task as somebody else would want it done."""
        rooms = {room.name: room.kind for room in self.scene.rooms}
        places = [self.scene.by_key[key] for key in self.episode.receptacles]
        places = [place for place in places if place.usable and place.room is not None]

        def correct(thing: HouseObject) -> frozenset[str]:
            return frozenset(
                place.key for place in places if person.wants(thing.category, rooms[place.room or ""], place.kind)
            )

        objects = tuple(replace(thing, correct=correct(thing)) for thing in self.episode.objects)
        return Task(self.scene, replace(self.episode, objects=objects))


@dataclass(frozen=True)
class EnvState:
    """A moment of an episode, to come back to.

    Attributes:
        world: what stands where.
        body: where the robot is.
        steps: low-level steps so far.
    """

    world: WorldState
    body: BodyPose
    steps: int


class RearrangementEnv(gymnasium.Env[dict[str, Any], int]):
    """Tidy a house through a camera and seven low-level actions.

    Description:
        The rearrangement task of Housekeep (Kant et al. 2022). An environment with the embedded simulator can be
        copied and pickled in the middle of an episode.

    Mission space:
        Put every object where the house's person wants it. Most objects are there already.

    Action space:
        ``Discrete(7)``, the members of ``worlds.house.simulator.base.Action``: move forward 0.25 m, turn left or right
        10 degrees, look up or down 10 degrees, grab or release, stop.

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
        simulator: with all four sensors.
        tasks: played in turn; ``reset(options={"task": n})`` picks one, a seed picks one at random.
        max_steps: low-level steps until the episode is cut.
        look_down: radians by which the camera looks down at the start.

    Attributes:
        collided: whether something was in the way of the last step.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 - Gymnasium's own form

    def __init__(
        self,
        simulator: Simulator,
        tasks: Sequence[Task],
        max_steps: int = MAX_STEPS,
        look_down: float = float(np.deg2rad(30.0)),
        render_mode: str | None = "rgb_array",
    ) -> None:
        self.simulator = simulator
        self.tasks = tasks
        self.max_steps = max_steps
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(len(Action))  # type: ignore[assignment]
        self.observation_space = _observation_space(simulator, tasks)
        self._look_down = look_down
        self.last_grab: GrabResult | None = None
        self._next = 0
        self.aimed: str | None = None
        self.collided = False
        self._closed = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode; see gymnasium.Env.reset.

        Raises:
            UserError: when the environment is closed.
        """
        self._check_open()
        super().reset(seed=seed)
        number = (options or {}).get("task")
        if number is None:
            number = int(self.np_random.integers(len(self.tasks))) if seed is not None else self._next
        self._next = (number + 1) % len(self.tasks)
        task = self.tasks[number]
        episode = task.episode
        x, _, z = episode.start.position
        body = BodyPose(x, z, yaw_of(episode.start.rotation), -self._look_down)
        self.simulator.reset(task.scene, episode.receptacles, episode.objects, body)
        self.world = World(task.scene, episode, self.simulator)
        self.steps = 0
        self.aimed, self.collided = None, False
        self._look()
        return self._observe(), self._info(None, False)

    @property
    def state(self) -> EnvState:
        """This moment of the episode."""
        return EnvState(self.world.state, self.simulator.body, self.steps)

    def restore(self, state: EnvState) -> None:
        """Go back to a moment of this episode."""
        self.world.restore(state.world)
        self.simulator.stand(state.body)
        self.steps, self.aimed, self.last_grab, self.collided = state.steps, None, None, False
        self._look()

    def aim(self, key: str) -> None:
        """Say what the next GRAB_RELEASE refers to, by key; otherwise the ray through the image centre decides.

        The target has to be in view (an object, or what it stands on) and within 1.5 m all the same.
        """
        self.aimed = key

    def step(self, action: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Act once; see gymnasium.Env.step. STOP ends the episode.

        Raises:
            UserError: when the environment is closed.
        """
        self._check_open()
        result, collided = None, False
        if action == Action.GRAB_RELEASE:
            if self.simulator.body != self._seen_from:
                self._look()
            target = self.aimed or self.simulator.aimed_at(REACH)
            result = self.world.grab_or_release(target, self.visible)
            self.last_grab = result
        else:
            collided = self.simulator.act(Action(action))
        self.aimed = None
        self.collided = collided
        self.steps += 1
        self._look()
        reward = float(result.reward) if result else 0.0
        # Comparisons with numbers of numpy are numpy's as well.
        ended, cut = bool(action == Action.STOP), bool(self.steps >= self.max_steps)
        return self._observe(), reward, ended, cut, self._info(result, collided)

    def render(self) -> np.ndarray:
        """The camera's picture, (height, width, 3) uint8."""
        return self._seen.rgb

    def close(self) -> None:
        """Release the simulator."""
        self._closed = True
        self.simulator.close()

    def _check_open(self) -> None:
        if self._closed:
            raise UserError("the environment is closed; make a new one to play on")

    def _look(self) -> None:
        self._seen: Observation = self.simulator.observe()
        self._seen_from = self.simulator.body
        numbers = np.flatnonzero(np.bincount(self._seen.instance.ravel()))
        self.visible = frozenset(self.simulator.keys[number] for number in numbers if number)

    def _observe(self) -> dict[str, Any]:
        body, holding = self.simulator.body, self.world.holding
        return {
            "rgb": self._seen.rgb,
            "depth": self._seen.depth,
            "instance": self._seen.instance,
            "semantic": self._seen.semantic,
            "holding": self.simulator.keys.index(holding) if holding else 0,
            "pose": np.array([body.x, body.z, np.angle(np.exp(1j * body.yaw)), body.pitch], dtype=np.float64),
        }

    def _info(self, result: GrabResult | None, collided: bool) -> dict[str, Any]:
        return {
            "event": _event(result, collided),
            "grab": result,
            "visible": self.visible,
            "relations": self.world.relations(self.visible),
            "holding": self.world.holding,
            "success_rate": self.world.success_rate,
            "steps": self.steps,
        }


def _observation_space(simulator: Simulator, tasks: Sequence[Task]) -> spaces.Dict:
    camera = simulator.camera
    size = (camera.height, camera.width)
    farthest = np.array([_FARTHEST, _FARTHEST, np.pi, np.pi / 2])
    return spaces.Dict(
        {
            "rgb": spaces.Box(0, 255, (*size, 3), np.uint8),
            "depth": spaces.Box(camera.min_depth, camera.max_depth, size, np.float32),
            "instance": spaces.Box(0, _MOST_THINGS, size, np.int32),
            "semantic": spaces.Box(0, _MOST_THINGS, size, np.int32),
            "holding": spaces.Discrete(_room_for_things(tasks)),
            "pose": spaces.Box(-farthest, farthest, dtype=np.float64),
        }
    )


def _room_for_things(tasks: Sequence[Task]) -> int:
    """A size for numbers of things, 0 included, in each of some houses; the largest of all where there are none yet."""
    counts = [1 + len(task.scene.receptacles) + len(task.episode.objects) for task in tasks]
    return -(-max(counts) // _THINGS_STEP) * _THINGS_STEP if counts else _MOST_THINGS


def _event(result: GrabResult | None, collided: bool) -> str:
    if result is None:
        return "bumped into something" if collided else ""
    if result.moved is None:
        return f"grab failed: {result.reason}"
    return f"placed {result.moved} on {result.target}" if result.target else f"picked up {result.moved}"
