"""Replays a record's low-level actions in a simulator, to see what the robot saw, or follows them without pictures."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from housewise.controller.robot import ACTION_LETTERS
from housewise.core.errors import UserError
from housewise.core.printable_text import excerpt
from housewise.core.record import Header
from housewise.core.user_folders import expand_user
from housewise.language.adapters import BUNDLED_WRAPPERS
from housewise.playback.simulators import CameraImage, Picture, PlaybackSimulator, SensorlessSimulator
from housewise.rollout.saved_settings import parse_saved_settings
from housewise.systems.personalize.record import ActionEvent, HouseRecord, Placements
from housewise.systems.personalize.settings import HouseTaskSettings, PersonalizeSettings
from housewise.systems.personalize.tasks import HouseTask, load_task
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.geometry import yaw_from_rotation
from housewise.worlds.house.grab_rules import REACH, grab_or_release
from housewise.worlds.house.scene_graph import ROBOT
from housewise.worlds.house.simulator.base import BodyPose
from housewise.worlds.house.state import HouseState

ObjectPositions = dict[str, tuple[float, float]]
"""(x, z) of each object by name, metres. A held object has none."""

_ACTIONS = {letter: action for action, letter in ACTION_LETTERS.items()}
# Records round poses to millimetres.
_SAME_PLACE = 0.01


@dataclass(frozen=True)
class ReplayState:
    """The state after a low-level step.

    Attributes:
        step: Number of low-level steps so far.
        plan: Number of the current plan.
        action: Text of the high-level action.
        status: How that action ended.
        body: Pose of the robot.
        holding: Name of the held object.
        is_grab: Whether this step picked up or placed an object.
        placements: Receptacle of every object, by name.
        positions: Positions of the objects.
    """

    step: int
    plan: int
    action: str
    status: str
    body: BodyPose
    holding: str | None
    is_grab: bool
    placements: Placements
    positions: ObjectPositions


@dataclass
class Replay:
    """A replayed episode.

    Attributes:
        task: The house and the episode.
        states: The state before the first step and after each step.
        plan_states: Index of the state in which each plan was asked for, by the plan's number.
        plan_pictures: What the robot saw when plans were asked for, by index of the state.
        frames: What the robot saw at states spread over the episode, by index of the state.
        differences: What differs from the record. Empty if nothing does.
    """

    task: RearrangementTask
    states: list[ReplayState] = field(default_factory=list)
    plan_states: dict[int, int] = field(default_factory=dict)
    plan_pictures: dict[int, Picture] = field(default_factory=dict)
    frames: dict[int, CameraImage] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)


def replay_settings(header: Header) -> PersonalizeSettings:
    """Return the settings of a record for its replay, ignoring those that this version does not know.

    The planner is replaced by the replay planner: it is not asked again, and it may be a user's own code, as its
    wrappers may.

    Raises:
        UserError: If the settings are damaged or from another system.
    """
    changes = {"planner": "replay"}
    settings, agent = header.settings, header.settings.get("agent")
    if isinstance(agent, dict) and isinstance(agent.get("wrappers"), list):
        bundled = [name for name in BUNDLED_WRAPPERS if name in agent["wrappers"]]
        settings = {**settings, "agent": {**agent, "wrappers": bundled}}
    found = parse_saved_settings(header.system, settings, "the record", strict=False, changes=changes)
    assert isinstance(found, PersonalizeSettings)
    return found


def find_task(record: HouseRecord) -> RearrangementTask:
    """Return the house and the episode of a record.

    Raises:
        UserError: If they are not available or differ from the record. The message says what to do.
    """
    initial_state = record.initial_state
    house = f"{initial_state.scene}, episode {initial_state.episode}"
    try:
        settings = replay_settings(record.header).tasks
        made = settings.model_dump(include={"person", "objects", "misplaced", "kinds"})
        name = HouseTask.from_episode(initial_state.scene, initial_state.episode, initial_state.task_set)
        task = _load_task(name, data=_data_folder(settings.data), **made)
    except (OSError, KeyError, ValueError) as error:
        raise UserError(f"{house}: the house cannot be loaded ({_first_line(error)})") from error
    names = {key: task.scene.by_key[key].name for key in task.episode.receptacles}
    if {thing.name: names[thing.receptacle] for thing in task.episode.objects} != initial_state.placements:
        raise UserError(
            f"{house}: the record starts with other objects or places than this version or this data; use those that "
            "the episode was played with"
        )
    return task


def _data_folder(data: str | None) -> str | None:
    """Return the folder of the Housekeep data, which may differ from that of the record's machine."""
    if data is None or expand_user(data).is_dir():
        return data
    here = os.environ.get("HOUSEKEEP_DATA")
    if not here:
        raise UserError(
            f"{data}: the Housekeep folder that it was played with is not there; set HOUSEKEEP_DATA to where "
            "the folder is now and make the report again"
        )
    return here


@lru_cache(maxsize=4)
def _load_task(name: HouseTask, **settings: Any) -> RearrangementTask:
    """Load a task. It is cached so that the next run of the episode reuses the house and its floor plan."""
    return load_task(name, HouseTaskSettings(**settings))


def select_states(steps: int, grabs: Collection[int], max_states: int) -> list[int]:
    """Return indices of states from 0 to steps, evenly spread, including the first, the last and the grabs."""
    if max_states > steps:
        return list(range(steps + 1))
    selected = {0, steps, *list(grabs)[: max_states // 2]}
    spread = np.linspace(0, steps, num=max(2, max_states - len(selected) + 2))
    return sorted(selected | {round(state) for state in spread})


def replay_record(
    record: HouseRecord, task: RearrangementTask, simulator: PlaybackSimulator | None, frames: int
) -> Replay:
    """Replay a record.

    Args:
        record: Record of the episode.
        task: The task of the record; see find_task.
        simulator: Simulator that takes the pictures; it is reset. None follows the record without pictures. That takes
            a tenth of the time but cannot detect differences between house and record.
        frames: Approximate maximum number of pictures over the episode. 0 for none.
    """
    return _Replayer(record, task, simulator, frames).play()


class _Replayer:
    """Replays one record. Where the house differs from the record, it follows the record and reports that."""

    def __init__(
        self, record: HouseRecord, task: RearrangementTask, camera: PlaybackSimulator | None, frames: int
    ) -> None:
        self._record, self._camera = record, camera
        self._simulator = simulator = camera or SensorlessSimulator()
        config, episode = replay_settings(record.header), task.episode
        self._published = config.world.controller.kind == "published"
        x, _, z = episode.start.position
        body = BodyPose(x, z, yaw_from_rotation(episode.start.rotation), -float(np.deg2rad(config.world.look_down)))
        simulator.reset(task.scene, episode.receptacles, episode.objects, body)
        self._world = HouseState(task.scene, episode, simulator)
        self._names = {key: thing.name for key, thing in self._world.receptacles.items()}
        self._objects = {key: thing.name for key, thing in self._world.objects.items()}
        self._names.update(self._objects)
        self._keys = {name: key for key, name in self._names.items()}
        self._recorded_placements: Placements = dict(record.initial_state.placements)
        self._pictured_states = self._select_pictured_states(frames) if camera else set()
        self._replay = Replay(task)
        self._strayed_steps = 0

    def play(self) -> Replay:
        self._record_state(-1, None, is_grab=False)
        for plan in self._record.plans:
            self._start_plan(plan.plan)
            for line in self._record.actions_of(plan):
                self._replay_action(line)
        if self._strayed_steps:
            self._replay.differences.append(f"the robot stood elsewhere after {self._strayed_steps} of its steps")
        if self._placements() != self._record.final.placements:
            self._replay.differences.append("the objects end in other places")
        return self._replay

    def _select_pictured_states(self, frames: int) -> set[int]:
        if not frames:
            return set()
        letters = "".join(line.low_level_actions for line in self._record.actions)
        grabs = [number for number, letter in enumerate(letters, start=1) if letter == "g"]
        return set(select_states(len(letters), grabs, frames))

    def _start_plan(self, plan: int) -> None:
        state = len(self._replay.states) - 1
        self._replay.plan_states[plan] = state
        if self._camera and state not in self._replay.plan_pictures:
            self._replay.plan_pictures[state] = self._camera.capture_rgb()

    def _replay_action(self, line: ActionEvent) -> None:
        if self._published and line.kind == "go to" and _started_walk(line):
            # The published controller levels the camera before a walk, without a low-level action.
            body = self._simulator.body
            self._simulator.stand(BodyPose(body.x, body.z, body.yaw, 0.0))
        aimed = iter(line.aim_targets)
        for number, letter in enumerate(line.low_level_actions):
            if self._camera and letter == "g":
                self._replay_grab(next(aimed, ""))
            elif letter in _ACTIONS and (self._camera or number >= len(line.path)):
                self._simulator.act(_ACTIONS[letter])
            if number < len(line.path):
                self._match_pose(line.path[number])
            self._record_state(line.plan, line, is_grab=letter == "g")
        self._track_moves(line)
        self._match_placements(line)

    def _replay_grab(self, aimed: str) -> None:
        target = aimed or self._simulator.aimed_at(REACH)
        grab_or_release(self._world, target, self._simulator.visible())

    def _match_pose(self, place: tuple[float, float, float]) -> None:
        """Move the robot to its recorded pose if it is elsewhere."""
        body = self._simulator.body
        x, z, yaw = place
        angle = abs(float(np.angle(np.exp(1j * (yaw - body.yaw)))))
        if max(abs(x - body.x), abs(z - body.z), angle) > _SAME_PLACE:
            self._strayed_steps += self._camera is not None
            self._simulator.stand(BodyPose(x, z, yaw, body.pitch))

    def _track_moves(self, line: ActionEvent) -> None:
        """Update the recorded placements by an action's moves of objects that exist in this house."""
        objects, receptacles = self._world.objects, self._world.receptacles
        for name, (_, place) in line.moves.items():
            if self._keys.get(name) in objects and (place == ROBOT or self._keys.get(place) in receptacles):
                self._recorded_placements[name] = place
            else:
                told = f"“{excerpt(name)}” to “{excerpt(place)}”"
                self._replay.differences.append(
                    f"the record (step {line.start}) moves {told}, which are not both in this house"
                )

    def _match_placements(self, line: ActionEvent) -> None:
        """Move objects to their recorded placements if they are elsewhere."""
        if self._placements() == self._recorded_placements:
            return
        if self._camera:
            self._replay.differences.append(f"“{line.action or line.raw}” (step {line.start}) has another outcome")
        places = {self._keys[name]: self._keys.get(place) for name, place in self._recorded_placements.items()}
        self._world.apply_placements(places)
        if self._replay.states[-1].step:
            self._replay.states.pop()
            self._record_state(line.plan, line, is_grab="g" in line.low_level_actions)

    def _placements(self) -> Placements:
        return {
            self._names[key]: self._names[place] if place else ROBOT for key, place in self._world.placements.items()
        }

    def _record_state(self, plan: int, line: ActionEvent | None, is_grab: bool) -> None:
        replay, holding = self._replay, self._world.holding
        positions = {
            self._names[key]: (pose.position[0], pose.position[2])
            for key, pose in self._simulator.object_poses.items()
            if pose is not None
        }
        number = len(replay.states)
        action, status = ((line.action or line.raw), line.status) if line else ("", "")
        held = self._names[holding] if holding else None
        body = self._simulator.body
        replay.states.append(
            ReplayState(number, plan, action, status, body, held, is_grab, self._placements(), positions)
        )
        if self._camera and number in self._pictured_states:
            replay.frames[number] = self._camera.capture(self._objects)


def _started_walk(line: ActionEvent) -> bool:
    """Whether a "go to" action started the controller at all."""
    return line.status == "succeeded" or line.reason in ("cannot reach", "out of steps")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
