from dataclasses import replace

import numpy as np
import pytest

from housewise.controller.published_controller import PublishedController
from housewise.controller.skills import (
    SUCCESS,
    ActionStatus,
    Controller,
    ControllerSettings,
    SkillOutcome,
    failure,
    not_attempted,
)
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.grab_rules import REACH
from housewise.worlds.house.simulator.base import TURN, BodyPose, LowLevelAction
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from tests.controller.conftest import drive
from tests.worlds.house.toy import BED, COUNTER, STOOL, TABLE, thing

BOTH = pytest.mark.parametrize("kind", [Controller, PublishedController])


@BOTH
@pytest.mark.parametrize("key", [COUNTER, TABLE, BED, STOOL])
def test_going_somewhere_and_looking_at_it(env: RearrangementEnv, kind: type[Controller], key: str) -> None:
    controller = kind(env)
    beeline = float(np.linalg.norm(env.world.receptacles[key].corners[:, [0, 2]] - [2.0, 2.0], axis=1).min())
    outcome, walk = drive(env, controller.go_to(key))
    assert outcome == SUCCESS
    assert env.world.distance_to(key) < REACH
    assert set(walk) <= {LowLevelAction.MOVE_FORWARD, LowLevelAction.TURN_LEFT, LowLevelAction.TURN_RIGHT}
    forward = walk.count(LowLevelAction.MOVE_FORWARD)
    assert (beeline - REACH) / 0.25 - 1 <= forward <= beeline / 0.25 + 12
    outcome, look = drive(env, controller.look_at(key))
    assert outcome == SUCCESS
    assert key in env.visible
    assert LowLevelAction.MOVE_FORWARD not in look and len(look) < 40


@pytest.mark.parametrize("kind", [Controller, pytest.param(PublishedController, marks=pytest.mark.slow)])
def test_every_receptacle_of_a_house_can_be_visited(generated: RearrangementTask, kind: type[Controller]) -> None:
    env = RearrangementEnv(RaycastSimulator(sensors=("instance",)), [generated], max_steps=100_000)
    env.reset()
    controller = kind(env)
    for key in generated.episode.receptacles[::8]:
        assert drive(env, controller.go_to(key))[0] == SUCCESS, key
        assert drive(env, controller.look_at(key))[0] == SUCCESS, key


@BOTH
def test_carrying_an_object_from_room_to_room(env: RearrangementEnv, kind: type[Controller]) -> None:
    controller = kind(env)
    for skill in (controller.go_to(BED), controller.look_at(BED)):
        assert drive(env, skill)[0] == SUCCESS
    assert drive(env, controller.pick_up("mug_1")) == (SUCCESS, [LowLevelAction.GRAB_RELEASE])
    assert env.world.holding == "mug_1"
    for skill in (controller.go_to(COUNTER), controller.look_at(COUNTER)):
        assert drive(env, skill)[0] == SUCCESS
    assert drive(env, controller.place("mug_1", COUNTER)) == (SUCCESS, [LowLevelAction.GRAB_RELEASE])
    assert env.world.placements["mug_1"] == COUNTER
    assert env.world.success_rate == 0.5


def test_who_is_there_needs_no_step(env: RearrangementEnv) -> None:
    controller = Controller(env)
    drive(env, controller.go_to(TABLE))
    drive(env, controller.look_at(TABLE))
    before = env.steps
    assert drive(env, controller.go_to(TABLE)) == (SUCCESS, [])
    assert drive(env, controller.look_at(TABLE)) == (SUCCESS, [])
    assert env.steps == before


def test_a_walk_that_takes_too_long_is_given_up(env: RearrangementEnv) -> None:
    controller = Controller(env, ControllerSettings(max_walk=4))
    outcome, walk = drive(env, controller.go_to(BED))
    assert outcome == failure("cannot reach") and len(walk) == 4


def test_a_look_that_takes_too_long_is_given_up(env: RearrangementEnv) -> None:
    controller = Controller(env, ControllerSettings(max_look=30))
    outcome, look = drive(env, controller.look_at(STOOL))
    assert outcome == failure("out of sight") and len(look) == 30


def test_what_is_far_or_hidden_cannot_be_taken(env: RearrangementEnv) -> None:
    controller = Controller(env)
    assert drive(env, controller.pick_up("mug_1")) == (failure("out of sight"), [LowLevelAction.GRAB_RELEASE])
    env.simulator.stand(BodyPose(2.0, 1.2, np.pi, -0.4))
    assert drive(env, controller.pick_up("tea_towel_1")) == (failure("too far away"), [LowLevelAction.GRAB_RELEASE])
    assert env.world.holding is None


def test_the_hand_holds_one_thing(env: RearrangementEnv) -> None:
    controller = Controller(env)
    env.simulator.stand(BodyPose(2.0, 2.9, np.pi, -0.8))
    assert drive(env, controller.pick_up("tea_towel_1"))[0] == SUCCESS
    assert drive(env, controller.pick_up("tea_towel_1")) == (SUCCESS, [])
    assert drive(env, controller.pick_up("mug_1"))[0] == failure("already holding tea towel 1")
    assert drive(env, controller.place("mug_1", TABLE)) == (failure("holding tea towel 1 instead"), [])
    assert env.world.holding == "tea_towel_1"


def test_an_empty_hand_places_nothing(env: RearrangementEnv) -> None:
    assert drive(env, Controller(env).place("mug_1", TABLE)) == (not_attempted("holding nothing"), [])
    assert not_attempted("x") == SkillOutcome(ActionStatus.SKIPPED, "x")


def test_where_there_is_no_room_the_object_stays_in_the_hand(toy: RearrangementTask) -> None:
    pillow = thing("pillow_1", BED, {STOOL}, (6.5, 1.0), (0.6, 0.2, 0.6))
    env = RearrangementEnv(RaycastSimulator(), [RearrangementTask(toy.scene, replace(toy.episode, objects=(pillow,)))])
    env.reset()
    controller = Controller(env)
    for skill in (controller.go_to(BED), controller.look_at(BED), controller.pick_up("pillow_1")):
        assert drive(env, skill)[0] == SUCCESS
    for skill in (controller.go_to(STOOL), controller.look_at(STOOL)):
        assert drive(env, skill)[0] == SUCCESS
    assert drive(env, controller.place("pillow_1", STOOL))[0] == failure("no free space")
    assert env.world.holding == "pillow_1"


def test_the_published_robot_puts_down_whatever_it_holds(env: RearrangementEnv) -> None:
    controller = PublishedController(env)
    env.simulator.stand(BodyPose(2.0, 2.9, np.pi, -0.8))
    assert drive(env, controller.pick_up("tea_towel_1"))[0] == SUCCESS
    assert drive(env, controller.place("mug_1", TABLE))[0] == SUCCESS
    assert env.world.placements["tea_towel_1"] == TABLE


def test_the_published_robot_levels_its_camera_before_it_walks(env: RearrangementEnv) -> None:
    assert env.simulator.body.pitch < -0.4
    walk = PublishedController(env).go_to(BED)
    next(walk)
    assert env.simulator.body.pitch == 0.0
    walk = Controller(env).go_to(BED)
    env.simulator.stand(replace(env.simulator.body, pitch=-0.3))
    next(walk)
    assert env.simulator.body.pitch == -0.3


def test_the_published_robot_looks_by_the_shadow_on_one_plane(env: RearrangementEnv) -> None:
    """A stool to the right is 50 degrees below the optical axis, but nearly 90 degrees in the y-z plane."""
    x, _, z = env.world.receptacles[STOOL].pose.position
    env.simulator.stand(BodyPose(x - 1.0, z + 0.1, -TURN))
    env.step(LowLevelAction.TURN_LEFT)
    assert STOOL not in env.visible
    assert next(Controller(env).look_at(STOOL)) == LowLevelAction.TURN_RIGHT
    assert next(PublishedController(env).look_at(STOOL)) == LowLevelAction.LOOK_DOWN
