"""The house as an environment with actions in text."""

from collections.abc import Iterator

import gymnasium
import pytest

import housewise  # noqa: F401 - registers the environment
from housewise.core.errors import UserError


@pytest.fixture
def env() -> Iterator[gymnasium.Env[str, str]]:
    made = gymnasium.make("housewise/TextRearrangement-v0", seed=3, max_steps=400)
    yield made
    made.close()


def test_rooms_are_explored_and_objects_moved(env: gymnasium.Env[str, str]) -> None:
    observation, info = env.reset()
    assert "You are holding nothing." in observation and "kitchen 0: not explored yet." in observation
    observation, *_, info = env.step("go to kitchen 0")
    assert observation.startswith("go to kitchen 0: succeeded\n") and "kitchen 0 sink" in observation
    env.step("Step 2: Go to the computer mouse 1.")
    env.step("look at computer mouse 1")
    observation, *_, info = env.step("pick up computer mouse 1")
    assert "You are holding computer mouse 1." in observation and info["status"] == "succeeded"
    observation, *_, ended, _, info = env.step("mission complete")
    assert ended and 0 < info["steps"] < 400
    assert observation.startswith("mission complete: succeeded\n") and observation in env.observation_space
    assert (info["status"], info["reason"]) == ("succeeded", "")


@pytest.mark.parametrize("action", ["", "dance", "pick up the moon", "place cup 1 on roof", "Küche\x00" * 99])
def test_an_action_that_is_not_understood_changes_nothing(env: gymnasium.Env[str, str], action: str) -> None:
    before, _ = env.reset()
    observation, reward, ended, truncated, info = env.step(action)
    assert observation.endswith(before) and observation in env.observation_space
    assert (reward, ended, truncated, info["status"], info["steps"]) == (0.0, False, False, "skipped", 0)


def test_actions_that_take_no_steps_end_the_episode_too() -> None:
    env = gymnasium.make("housewise/TextRearrangement-v0", seed=3, max_steps=3)
    for _ in range(2):
        env.reset()
        assert [env.step("dance")[3] for _ in range(3)] == [False, False, True]


def test_a_closed_environment_refuses_every_action() -> None:
    env = gymnasium.make("housewise/TextRearrangement-v0", seed=3).unwrapped
    env.reset()
    env.close()
    for action in ("dance", "look at kitchen 0", "mission complete"):
        with pytest.raises(UserError, match="the environment is closed"):
            env.step(action)


def test_an_episode_is_cut(env: gymnasium.Env[str, str]) -> None:
    env.reset()
    cut = [env.step(f"go to {room} 0")[3] for room in ("kitchen", "bathroom", "living room", "bedroom") * 3]
    assert not cut[0] and cut[-1]
