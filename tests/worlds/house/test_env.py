import copy
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

from housewise.core.errors import UserError
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.geometry import yaw_from_rotation
from housewise.worlds.house.preferences import HousePreferences, load_preferences
from housewise.worlds.house.simulator.base import BodyPose, Camera, LowLevelAction
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from tests.worlds.house.toy import BED, COUNTER, STOOL, TABLE

SMALL = Camera(width=48, height=48)


def env_of(*tasks: RearrangementTask, **settings: Any) -> RearrangementEnv:
    return RearrangementEnv(RaycastSimulator(SMALL), tasks, **settings)


@pytest.fixture
def env(toy: RearrangementTask) -> RearrangementEnv:
    env = env_of(toy)
    env.reset()
    return env


def stand(env: RearrangementEnv, x: float, z: float, yaw: float, pitch: float) -> None:
    env.simulator.stand(BodyPose(x, z, yaw, pitch))


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)


def test_gymnasium_makes_generated_houses_that_pass_its_checks() -> None:
    env = gymnasium.make("housewise/Rearrangement-v0", houses=1, seed=0, camera=SMALL)
    assert isinstance(env.unwrapped, RearrangementEnv)
    assert env.unwrapped.tasks[0].scene.name == "generated-0"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


def test_a_new_process_finds_the_environment_by_its_module() -> None:
    code = (
        "import gymnasium;"
        "env = gymnasium.make('housewise:housewise/Rearrangement-v0', houses=2, seed=5);"
        "env.reset(seed=1);"
        "print(env.step(1)[4]['steps'], [task.scene.name for task in env.unwrapped.tasks])"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.strip() == "1 ['generated-5', 'generated-6']"


@pytest.mark.parametrize(("wrong", "told"), [({"houses": 0}, "houses"), ({"seed": -1}, "seed")])
def test_impossible_houses_are_refused(wrong: dict[str, int], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        gymnasium.make("housewise/Rearrangement-v0", **wrong)


def test_correct_receptacles_can_be_those_of_one_person() -> None:
    env = gymnasium.make("housewise/Rearrangement-v0", seed=3, person="bruno", camera=SMALL).unwrapped
    assert isinstance(env, RearrangementEnv)
    episode, scene = env.tasks[0].episode, env.tasks[0].scene
    kinds = {room.name: room.kind for room in scene.rooms}
    for thing in episode.objects:
        for key in thing.correct:
            place = scene.by_key[key]
            assert load_preferences("bruno").wants(thing.category, kinds[place.room or ""], place.kind)


def test_reset_uses_the_start_of_the_episode(toy: RearrangementTask) -> None:
    env = env_of(toy, look_down=0.3)
    observation, info = env.reset()
    start = toy.episode.start
    yaw = yaw_from_rotation(start.rotation)
    assert observation["pose"] == pytest.approx([start.position[0], start.position[2], yaw, -0.3])
    assert observation["holding"] == 0
    assert info["event"] == "" and info["grab"] is None and info["holding"] is None
    assert info["steps"] == 0 and info["success_rate"] == 0.0


@pytest.mark.parametrize("degrees", [-95.0, 86.0, 1000.0, 1e30, float("nan")])
def test_a_camera_that_looks_too_far_down_is_refused(toy: RearrangementTask, degrees: float) -> None:
    with pytest.raises(UserError, match="look_down must be from -85 to 85 degrees"):
        env_of(toy, look_down=np.deg2rad(degrees))


@pytest.mark.parametrize("degrees", [-85.0, 85.0])
def test_the_first_observation_at_the_limits_is_in_the_space(toy: RearrangementTask, degrees: float) -> None:
    env = env_of(toy, look_down=np.deg2rad(degrees))
    assert env.reset()[0] in env.observation_space


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"width": 0}, "width and height"),
        ({"height": -1}, "width and height"),
        ({"field_of_view": 3.2}, "field_of_view"),
        ({"field_of_view": float("nan")}, "field_of_view"),
        ({"min_depth": 5.0}, "min_depth"),
    ],
)
def test_an_impossible_camera_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=f"camera: .*{message}"):
        Camera(**wrong)


def test_what_is_handed_out_can_be_changed_without_an_effect(env: RearrangementEnv) -> None:
    observation = env.step(LowLevelAction.TURN_LEFT)[0]
    rgb, saved = env.render(), env.state
    for name in ("rgb", "depth", "instance", "semantic"):
        observation[name][:] = 0
    env.render()[:] = 0
    env.state.observation.rgb[:] = 0
    assert rgb.any() and np.array_equal(env.render(), rgb)
    assert np.array_equal(saved.observation.rgb, rgb) and saved.observation.instance.any()
    env.restore(saved)
    saved.observation.rgb[:] = 0
    assert np.array_equal(env.render(), rgb)


def test_an_episode_is_truncated_after_max_steps(toy: RearrangementTask) -> None:
    env = env_of(toy, max_steps=3)
    env.reset()
    assert [env.step(LowLevelAction.TURN_LEFT)[2:4] for _ in range(3)] == [
        (False, False),
        (False, False),
        (False, True),
    ]
    env.reset()
    assert env.steps == 0
    assert env.step(LowLevelAction.TURN_LEFT)[2:4] == (False, False)


def test_stop_ends_the_episode(env: RearrangementEnv) -> None:
    observation, reward, ended, cut, info = env.step(LowLevelAction.STOP)
    assert (reward, ended, cut, info["steps"]) == (0.0, True, False, 1)
    assert observation["pose"][:2] == pytest.approx([2.0, 2.0])


def test_carrying_an_object_to_a_correct_receptacle(env: RearrangementEnv) -> None:
    stand(env, 2.0, 2.9, np.pi, -0.8)
    env.aim("tea_towel_1")
    observation, reward, _, _, info = env.step(LowLevelAction.GRAB_RELEASE)
    assert info["event"] == "picked up tea_towel_1" and info["holding"] == "tea_towel_1"
    assert info["grab"].source == TABLE and reward == 0.0
    assert env.simulator.keys[observation["holding"]] == "tea_towel_1"
    assert "tea_towel_1" not in info["visible"] and "tea_towel_1" not in info["relations"]
    stand(env, 5.0, 3.2, np.pi, -1.0)
    env.aim(STOOL)
    observation, reward, _, _, info = env.step(LowLevelAction.GRAB_RELEASE)
    assert info["event"] == f"placed tea_towel_1 on {STOOL}" and reward == 1.0
    assert observation["holding"] == 0
    assert info["relations"] == {"tea_towel_1": STOOL}
    assert info["success_rate"] == 0.5
    env.aim("tea_towel_1")
    assert env.step(LowLevelAction.GRAB_RELEASE)[1] == -1.0
    assert env.last_grab is not None
    env.reset()
    assert env.last_grab is None


def test_an_aim_is_used_once(env: RearrangementEnv) -> None:
    stand(env, 2.0, 2.9, np.pi, -0.8)
    env.aim("tea_towel_1")
    env.step(LowLevelAction.LOOK_UP)
    for _ in range(12):
        env.step(LowLevelAction.LOOK_UP)
    assert env.step(LowLevelAction.GRAB_RELEASE)[4]["event"] == "grab failed: nothing within reach"
    assert env.aim_target is None


def test_without_an_aim_the_image_centre_is_the_target(env: RearrangementEnv) -> None:
    # From (2, 2.9) at a height of 1.5 m, the towel's centre (2, 0.725, 3.4) is 0.5 m ahead and 0.775 m below.
    stand(env, 2.0, 2.9, np.pi, -np.arctan2(0.775, 0.5))
    assert env.step(LowLevelAction.GRAB_RELEASE)[4]["event"] == "picked up tea_towel_1"
    stand(env, 2.0, 2.9, np.pi, -np.arctan2(0.775, 0.5))
    assert env.step(LowLevelAction.GRAB_RELEASE)[4]["event"] == f"placed tea_towel_1 on {TABLE}"
    stand(env, 2.0, 2.9, np.pi, 0.5)
    assert env.step(LowLevelAction.GRAB_RELEASE)[4]["event"] == "grab failed: nothing within reach"


def test_an_aim_has_to_be_visible_and_within_reach(env: RearrangementEnv) -> None:
    for key in ("mug_1", COUNTER, "no such thing"):
        stand(env, 2.0, 2.9, np.pi, -0.8)
        env.aim(key)
        event = env.step(LowLevelAction.GRAB_RELEASE)[4]["event"]
        assert event == f"grab failed: {'out of sight' if key == 'mug_1' else 'only objects can be picked up'}"
    # The target is visible across the room, but two metres away.
    stand(env, 2.0, 1.2, np.pi, -0.4)
    env.aim("tea_towel_1")
    assert env.step(LowLevelAction.GRAB_RELEASE)[4]["event"] == "grab failed: too far away"


def test_a_grab_uses_the_view_from_the_current_pose(env: RearrangementEnv) -> None:
    """A grab uses the view from the robot's current pose and not from that of the last observation."""
    assert "mug_1" not in env.visible
    stand(env, 6.0, 1.9, -np.pi / 4, -0.8)
    env.aim("mug_1")
    assert env.step(LowLevelAction.GRAB_RELEASE)[4]["event"] == "picked up mug_1"


def test_collisions_are_reported(env: RearrangementEnv) -> None:
    stand(env, 3.0, 0.25, 0.0, 0.0)
    assert env.step(LowLevelAction.MOVE_FORWARD)[4]["event"] == "bumped into something"
    assert env.step(LowLevelAction.TURN_LEFT)[4]["event"] == ""


def test_tasks_are_played_in_turn_by_number_or_by_seed(toy: RearrangementTask, generated: RearrangementTask) -> None:
    env = env_of(toy, generated)

    def played(**how: Any) -> str:
        env.reset(**how)
        return env.world.scene.name

    assert [played() for _ in range(3)] == ["toy", "generated-0", "toy"]
    assert played(options={"task": 0}) == "toy"
    assert played() == "generated-0"
    drawn = [played(seed=seed) for seed in range(12)]
    assert drawn == [played(seed=seed) for seed in range(12)]
    assert set(drawn) == {"toy", "generated-0"}


@settings(max_examples=8)
@given(st.integers(0, 1000), st.lists(st.sampled_from(list(LowLevelAction)[1:]), min_size=5, max_size=30))
def test_the_same_seed_and_actions_give_the_same_observations(
    toy: RearrangementTask, generated: RearrangementTask, seed: int, actions: list[LowLevelAction]
) -> None:
    one, other = env_of(toy, generated), env_of(toy, generated)
    first, second = one.reset(seed=seed), other.reset(seed=seed)
    assert same(first[0], second[0])
    for action in actions:
        a, b = one.step(action), other.step(int(action))
        assert same(a[0], b[0]) and a[1:4] == b[1:4] and a[4] == b[4]
        assert a[0] in one.observation_space
        shown = {one.simulator.keys[number] for number in np.unique(a[0]["instance"]) if number}
        assert a[4]["visible"] == shown
        assert set(a[4]["relations"]) == {key for key in shown if key in one.world.objects}


def test_render_returns_the_camera_image(env: RearrangementEnv) -> None:
    observation = env.step(LowLevelAction.TURN_LEFT)[0]
    assert (env.render() == observation["rgb"]).all()
    assert env.render().shape == (48, 48, 3)
    env.close()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_of_the_environment_is_independent(
    generated: RearrangementTask, copied: Callable[[RearrangementEnv], RearrangementEnv]
) -> None:
    env = env_of(generated)
    env.reset(seed=0)
    actions = [
        LowLevelAction.MOVE_FORWARD,
        LowLevelAction.TURN_LEFT,
        LowLevelAction.GRAB_RELEASE,
        LowLevelAction.LOOK_DOWN,
    ]
    env.step(LowLevelAction.TURN_RIGHT)
    other = copied(env)
    before = env.simulator.body
    there = [other.step(action) for action in actions]
    assert env.simulator.body == before and env.steps == 1
    here = [env.step(action) for action in actions]
    for one, another in zip(here, there, strict=True):
        assert same(one[0], another[0]) and one[1:] == another[1:]
    assert same(other.reset(seed=1)[0], env.reset(seed=1)[0])


@pytest.mark.parametrize("action", [0, LowLevelAction.STOP, np.int64(0), np.int32(0), np.array(0)])
def test_terminated_and_truncated_are_bools_for_all_types_of_actions(toy: RearrangementTask, action: Any) -> None:
    env = env_of(toy, max_steps=np.int64(1))
    env.reset()
    _, reward, ended, cut, _ = env.step(action)
    assert (type(reward), type(ended), type(cut)) == (float, bool, bool)
    assert ended and cut


def room(env: RearrangementEnv) -> int:
    """Return the number of possible values of ``holding``."""
    space = env.observation_space["holding"]  # type: ignore[index]
    return int(space.n)


def test_holding_is_within_the_observation_space(toy: RearrangementTask, generated: RearrangementTask) -> None:
    both = env_of(toy, generated)
    assert room(both) == room(env_of(toy)) == 128
    for task in range(2):
        both.reset(options={"task": task})
        assert len(both.simulator.keys) <= room(both)
    thing = generated.episode.objects[0]
    full = replace(generated.episode, objects=tuple(replace(thing, key=f"thing_{n}") for n in range(128)))
    assert room(env_of(toy, RearrangementTask(generated.scene, full))) == 256


def test_environments_of_several_processes_play_different_houses() -> None:
    makers = [
        partial(gymnasium.make, "housewise:housewise/Rearrangement-v0", seed=seed, camera=SMALL, max_steps=2)
        for seed in (0, 3)
    ]
    env = gymnasium.vector.AsyncVectorEnv(makers, context="spawn")
    try:
        observations, _ = env.reset(seed=0)
        ends = [env.step(np.array([1, 2]))[3].tolist() for _ in range(2)]
    finally:
        env.close()
    assert ends == [[False, False], [True, True]]
    assert not np.array_equal(observations["instance"][0], observations["instance"][1])


def test_a_task_can_be_converted_for_another_person(toy: RearrangementTask) -> None:
    person = HousePreferences(
        "x", "", {"mug": {"bedroom": ["bed", "door"]}, "plate": {"any room": ["table", "counter"]}}
    )
    task = toy.for_person(person)
    assert {thing.key: thing.correct for thing in task.episode.objects} == {
        "mug_1": {BED},
        "plate_1": {TABLE, COUNTER},
        "tea_towel_1": frozenset(),
    }
    assert task.scene is toy.scene
    assert [thing.key for thing in task.episode.misplaced_objects] == ["tea_towel_1"]
    assert toy.episode.objects[0].correct == {COUNTER, TABLE}
