"""Plays a record's low-level actions again, to see what the robot saw, or follows them without looking."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from housewise.controller.robot import ACTION_LETTERS
from housewise.core.errors import UserError, excerpt
from housewise.core.record import Header
from housewise.core.user_folders import expand_user
from housewise.playback.simulators import CameraImage, Picture, PlaybackSimulator, SensorlessSimulator
from housewise.rollout.saved_settings import parse_saved_settings
from housewise.systems.personalize.record import ActionEvent, HouseRecord, Placements
from housewise.systems.personalize.settings import HouseTaskSettings, PersonalizeSettings
from housewise.systems.personalize.tasks import HouseTask, load_task
from housewise.worlds.house.env import Task
from housewise.worlds.house.geometry import yaw_of
from housewise.worlds.house.scene_graph import ROBOT
from housewise.worlds.house.simulator.base import BodyPose
from housewise.worlds.house.world import REACH, World

ObjectPositions = dict[str, tuple[float, float]]
"""(x, z) in metres by name of the object; what is in the hand has none."""

_ACTIONS = {letter: action for action, letter in ACTION_LETTERS.items()}
# Records round poses to millimetres.
_SAME_PLACE = 0.01


@dataclass(frozen=True)
class ReplayState:
    """The state after a low-level step.

    Attributes:
        step: how many low-level steps had been made.
        plan: number of the plan being carried out.
        action: the high-level action, as text.
        status: how that action ended.
        body: of the robot.
        holding: name of the object in the hand.
        grabbed: whether this step picked up or put down something.
        placements: receptacle of every object, by name.
        spots: where the objects are.
    """

    step: int
    plan: int
    action: str
    status: str
    body: BodyPose
    holding: str | None
    grabbed: bool
    placements: Placements
    spots: ObjectPositions


@dataclass
class Replay:
    """An episode played again.

    Attributes:
        task: the house and the episode.
        moments: one before the first step and one after each.
        asked: number of the moment at which each plan was asked for, by the plan's number.
        photos: what the robot saw when plans were asked for, by number of the moment.
        frames: what the robot saw at moments spread over the episode.
        differences: what came out otherwise than the record says; empty when nothing did.
    """

    task: Task
    states: list[ReplayState] = field(default_factory=list)
    plan_states: dict[int, int] = field(default_factory=dict)
    photos: dict[int, Picture] = field(default_factory=dict)
    frames: dict[int, CameraImage] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)


def replay_settings(header: Header) -> PersonalizeSettings:
    """The settings that a record was made with, to play it again; what this version does not know is left out.

    Whoever decided then is not asked again, and may be code of somebody's own: the replay planner stands in its place.

    Raises:
        UserError: when they are damaged, or another system's.
    """
    changes = {"planner": "replay"}
    found = parse_saved_settings(header.system, header.settings, "the record", strict=False, changes=changes)
    assert isinstance(found, PersonalizeSettings)
    return found


class Made(NamedTuple):
    """For whom a task is, and how much is in a generated house; see PersonalizeSettings."""

    person: str
    objects: tuple[int, int]
    misplaced: tuple[int, int]


def _made(config: PersonalizeSettings) -> Made:
    return Made(config.tasks.person, config.tasks.objects, config.tasks.misplaced)


def find_task(record: HouseRecord) -> Task:
    """The house and the episode that a record tells of.

    Raises:
        UserError: when they are not to be had, or are others than the record's; the message says what to do.
    """
    setting = record.setting
    try:
        config = replay_settings(record.header)
        task = _load(
            HouseTask.of(setting.scene, setting.episode, setting.task_set),
            _data_folder(config.tasks.data),
            _made(config),
        )
    except (OSError, KeyError, ValueError) as error:
        raise UserError(
            f"{setting.scene}, episode {setting.episode}: the house cannot be loaded ({_first_line(error)})"
        ) from error
    names = {key: task.scene.by_key[key].name for key in task.episode.receptacles}
    if {thing.name: names[thing.receptacle] for thing in task.episode.objects} != setting.placements:
        raise UserError(
            f"{setting.scene}, episode {setting.episode}: the record starts with other objects or places than this "
            "version or this data; use those that the episode was played with"
        )
    return task


def _data_folder(data: str | None) -> str | None:
    """Where the data is: records may come from another machine."""
    if data is None or expand_user(data).is_dir():
        return data
    here = os.environ.get("HOUSEKEEP_DATA")
    if here is None:
        raise UserError(
            f"{data}: the Housekeep folder that it was played with is not there; set HOUSEKEEP_DATA to where "
            "the folder is now and make the report again"
        )
    return here


@lru_cache(maxsize=4)
def _load(name: HouseTask, data: str | None, made: Made) -> Task:
    """A task; the same one again for the next run of an episode, so that its house need not be drawn again."""
    return load_task(name, HouseTaskSettings(data=data, **made._asdict()))


def select_states(steps: int, grabs: Collection[int], most: int) -> list[int]:
    """Which of the moments 0 to steps to show, evenly spread, so that first, last and grabs are among them."""
    if most > steps:
        return list(range(steps + 1))
    kept = {0, steps, *list(grabs)[: most // 2]}
    spread = np.linspace(0, steps, num=max(2, most - len(kept) + 2))
    return sorted(kept | {round(moment) for moment in spread})


def replay_record(record: HouseRecord, task: Task, simulator: PlaybackSimulator | None, frames: int) -> Replay:
    """Play a record again.

    Args:
        record: of the episode.
        task: the same that was played.
        simulator: reset here; None follows the record alone, without pictures, which takes a tenth of the time and
            cannot tell whether the house would do the same again.
        frames: at most about so many pictures for a film; 0 for none.
    """
    return _Replayer(record, task, simulator, frames).play()


class _Replayer:
    """One record in replay; where the house does not follow the record, the record is followed and that noted."""

    def __init__(self, record: HouseRecord, task: Task, camera: PlaybackSimulator | None, frames: int) -> None:
        self._record, self._camera = record, camera
        self._simulator = simulator = camera or SensorlessSimulator()
        config, episode = replay_settings(record.header), task.episode
        self._published = config.world.controller.kind == "published"
        x, _, z = episode.start.position
        body = BodyPose(x, z, yaw_of(episode.start.rotation), -float(np.deg2rad(config.world.look_down)))
        simulator.reset(task.scene, episode.receptacles, episode.objects, body)
        self._world = World(task.scene, episode, simulator)
        self._names = {key: thing.name for key, thing in self._world.receptacles.items()}
        self._objects = {key: thing.name for key, thing in self._world.objects.items()}
        self._names.update(self._objects)
        self._keys = {name: key for key, name in self._names.items()}
        self._claimed: Placements = dict(record.setting.placements)
        self._wanted = self._moments_to_picture(frames) if camera else set()
        self._replay = Replay(task)
        self._strayed = 0

    def play(self) -> Replay:
        self._note(-1, None, grabbed=False)
        actions: dict[int, list[ActionEvent]] = {}
        for line in self._record.actions:
            actions.setdefault(line.plan, []).append(line)
        for plan in self._record.plans:
            self._ask(plan.plan)
            for line in actions.get(plan.plan, ()):
                self._act(line)
        if self._strayed:
            self._differ(f"the robot stood elsewhere after {self._strayed} of its steps")
        if self._placements() != self._record.final.placements:
            self._differ("the objects end in other places")
        return self._replay

    def _moments_to_picture(self, frames: int) -> set[int]:
        if not frames:
            return set()
        letters = "".join(line.low_level for line in self._record.actions)
        grabs = [number for number, letter in enumerate(letters, start=1) if letter == "g"]
        return set(select_states(len(letters), grabs, frames))

    def _ask(self, plan: int) -> None:
        moment = len(self._replay.states) - 1
        self._replay.plan_states[plan] = moment
        if self._camera and moment not in self._replay.plan_pictures:
            self._replay.plan_pictures[moment] = self._camera.photo()

    def _act(self, line: ActionEvent) -> None:
        if self._published and line.kind == "go to" and _was_walked(line):
            # The published controller levels the camera when it sets out, which is no low-level action.
            body = self._simulator.body
            self._simulator.stand(BodyPose(body.x, body.z, body.yaw, 0.0))
        aimed = iter(line.aimed)
        for number, letter in enumerate(line.low_level):
            if self._camera and letter == "g":
                self._grab(next(aimed, ""))
            elif letter in _ACTIONS and (self._camera or number >= len(line.path)):
                self._simulator.act(_ACTIONS[letter])
            if number < len(line.path):
                self._follow(line.path[number])
            self._note(line.plan, line, grabbed=letter == "g")
        self._claim(line)
        self._agree(line)

    def _grab(self, aimed: str) -> None:
        target = aimed or self._simulator.aimed_at(REACH)
        self._world.grab_or_release(target, self._simulator.visible())

    def _follow(self, place: tuple[float, float, float]) -> None:
        """Stand where the record says, when that is not where the robot is."""
        body = self._simulator.body
        x, z, yaw = place
        turned = abs(float(np.angle(np.exp(1j * (yaw - body.yaw)))))
        if max(abs(x - body.x), abs(z - body.z), turned) > _SAME_PLACE:
            self._strayed += self._camera is not None
            self._simulator.stand(BodyPose(x, z, yaw, body.pitch))

    def _claim(self, line: ActionEvent) -> None:
        """Take in what the record says has moved, of what there is in this house."""
        objects, receptacles = self._world.objects, self._world.receptacles
        for name, (_, place) in line.moved.items():
            if self._keys.get(name) in objects and (place == ROBOT or self._keys.get(place) in receptacles):
                self._claimed[name] = place
            else:
                told = f"“{excerpt(name)}” to “{excerpt(place)}”"
                self._differ(f"the record (step {line.start}) moves {told}, which are not both in this house")

    def _agree(self, line: ActionEvent) -> None:
        """Put things where the record says, when that is not where they are."""
        if self._placements() == self._claimed:
            return
        if self._camera:
            self._differ(f"“{line.action or line.raw}” (step {line.start}) has another outcome")
        places = {self._keys[name]: self._keys.get(place) for name, place in self._claimed.items()}
        self._world.arrange(places)
        if self._replay.states[-1].step:
            self._replay.states.pop()
            self._note(line.plan, line, grabbed="g" in line.low_level)

    def _placements(self) -> Placements:
        return {
            self._names[key]: self._names[place] if place else ROBOT for key, place in self._world.placements.items()
        }

    def _note(self, plan: int, line: ActionEvent | None, grabbed: bool) -> None:
        replay, holding = self._replay, self._world.holding
        spots = {
            self._names[key]: (pose.position[0], pose.position[2])
            for key, pose in self._simulator.object_poses.items()
            if pose is not None
        }
        number = len(replay.states)
        action, status = ((line.action or line.raw), line.status) if line else ("", "")
        held = self._names[holding] if holding else None
        body = self._simulator.body
        replay.states.append(ReplayState(number, plan, action, status, body, held, grabbed, self._placements(), spots))
        if self._camera and number in self._wanted:
            replay.frames[number] = self._camera.shot(self._objects)

    def _differ(self, text: str) -> None:
        self._replay.differences.append(text)


def _was_walked(line: ActionEvent) -> bool:
    """Whether the controller was set to work at all on a "go to"."""
    return line.status == "succeeded" or line.reason in ("cannot reach", "out of steps")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
