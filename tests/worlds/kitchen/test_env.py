"""The Gymnasium environment of the text kitchen."""

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

import housewise  # noqa: F401 (registers it)
from housewise.core.errors import UserError
from housewise.worlds.kitchen.env import TextKitchenEnv

pytestmark = pytest.mark.filterwarnings("ignore:.*:UserWarning")


def test_the_environment_passes_gymnasiums_checker():
    check_env(TextKitchenEnv(), skip_render_check=True)


def test_the_last_reward_is_the_value_of_the_judge():
    env = TextKitchenEnv(task=3, judge=lambda trace: trace.step / 10)
    layout, info = env.reset(seed=1)
    assert "stove_0" in layout
    assert info["task"] == "Prepare cereal for breakfast"
    observation, reward, ended, truncated, info = env.step("Look for bowl")
    assert observation.startswith("Found ")
    assert (reward, ended, truncated, info["failed"]) == (0.0, False, False, False)
    _, reward, ended, _, _ = env.step("Declare Done")
    assert (reward, ended) == (0.2, True)
    assert env.step("Look for bowl")[1] == 0.0


def test_an_action_after_a_failed_one_is_told_to_have_succeeded():
    env = TextKitchenEnv(task=3)
    env.reset(seed=1)
    told = [env.step(action)[4]["failed"] for action in ("Fly away", "Open fridge_0", "Search fridge_0")]
    assert told == [True, False, False] and all(isinstance(failed, bool) for failed in told)


def test_gymnasium_makes_it_with_its_render_mode():
    env = gymnasium.make("housewise/TextKitchen-v0", render_mode="ansi")
    env.reset(seed=1)
    assert isinstance(env.render(), str)


def test_every_observation_is_in_its_space():
    env = TextKitchenEnv()
    env.reset(seed=0, options={"task": 5})
    assert env.world.task.text == "Make yoghurt parfait for breakfast"
    for action in ("Search fridge_0", "Look for a", "öffne Kühlschrank\x00", "x" * 5000, ""):
        assert env.step(action)[0] in env.observation_space


def test_the_episode_is_truncated():
    env = TextKitchenEnv(max_steps=2)
    env.reset(seed=0)
    assert [env.step(f"Open drawer_{number}")[3] for number in (0, 1)] == [False, True]


def test_the_task_of_a_reset_holds_for_one_episode():
    env = TextKitchenEnv(task=2)
    (first, start), (_, other) = env.reset(seed=1), env.reset(seed=1, options={"task": 5})
    assert other["task"] != start["task"]
    assert env.reset(seed=1, options={"task": None}) == env.reset(seed=1) == (first, start)


@pytest.mark.parametrize(("task", "shown"), [(9, "9"), ("5", "'5'"), ([5], r"\[5\]")])
def test_a_refused_reset_changes_nothing(task, shown):
    env, twin = TextKitchenEnv(task=2), TextKitchenEnv(task=2)
    for each in (env, twin):
        each.reset(seed=1)
        each.step("Look for bowl")
    with pytest.raises(UserError, match=rf"there is no task {shown} in the kitchen; use one of \[1, 2"):
        env.reset(seed=3, options={"task": task})
    assert env.world.trace.actions == ["Look for bowl"]
    assert env.reset() == twin.reset()


@pytest.mark.parametrize("max_steps", [0, -3, None, "x"])
def test_an_impossible_limit_of_steps_is_refused(max_steps):
    with pytest.raises(UserError, match="max_steps must be an integer of 1 or more, not"):
        gymnasium.make("housewise/TextKitchen-v0", max_steps=max_steps)
