"""The lab as a Gymnasium environment."""

import gymnasium
import numpy as np
import pytest

import housewise  # noqa: F401 - registers the environments
from housewise.core.errors import UserError
from housewise.worlds.lab.env import COMMANDS, LabEnv
from housewise.worlds.lab.planner import next_step


def play(env: LabEnv, seed: int) -> tuple[float, bool, dict[str, object]]:
    """Play the planner's actions, translated to commands and marks; return the end."""
    env.reset(seed=seed)
    while True:
        plan = next_step(env.run.state, env.scenario.goal, env.space)
        assert plan is not None
        verb, argument = plan.action.verb, plan.action.argument
        command = next((place for place, each in enumerate(COMMANDS) if each == (verb, argument)), None)
        if command is not None:
            action = [command, 0]
        else:
            ids = [each.id for each in env.space.glimpses(env.run.state)]
            if argument not in ids:
                # The planner knows where everything is; a person would turn until they see it.
                env.run.state = env.space.go_to_thing(env.run.state, argument) or env.run.state
                ids = [each.id for each in env.space.glimpses(env.run.state)]
            action = [COMMANDS.index((verb, None)), ids.index(argument)]
        observation, reward, ended, truncated, info = env.step(np.array(action))
        assert observation in env.observation_space
        assert info["status"] == "ActionSuccessful", info
        if ended or truncated:
            return reward, ended, info


@pytest.mark.parametrize("variant", ["fire_laser__none__simple", "make_carrot__banana__simple"])
def test_a_planned_episode_ends_with_the_reward_and_all_subgoals(variant: str) -> None:
    reward, ended, info = play(LabEnv(variant), 4)
    assert (reward, ended) == (1.0, True)
    assert all(info["subgoals"].values())  # type: ignore[attr-defined]


def test_episodes_are_truncated_and_drawn_from_the_seed() -> None:
    env = gymnasium.make("housewise/Lab-v0", max_actions=3)
    first, info = env.reset(seed=7)
    turn = np.array([COMMANDS.index(("RotateLeft", "45")), 0])
    assert [env.step(turn)[3] for _ in range(3)] == [False, False, True]
    again, same = env.reset(seed=7)
    assert info == same and (first["image"] == again["image"]).all()
    assert env.reset(options={"variant": "landing__laser_tip__simple"})[1]["variant"] == "landing__laser_tip__simple"


def test_a_mark_that_is_not_in_the_picture_is_no_thing() -> None:
    env = LabEnv("fire_laser__none__simple")
    observation, _ = env.reset(seed=1)
    absent = int(observation["marks"].max())
    *_, info = env.step(np.array([COMMANDS.index(("Pickup", None)), absent]))
    assert info["status"] == "InvalidCommand"


def test_an_unknown_variant_is_refused_in_one_line() -> None:
    with pytest.raises(UserError) as refused:
        LabEnv("break__boss_mug__landin")
    told = "there is no variant 'break__boss_mug__landin'; did you mean break__boss_mug__landing? "
    assert str(refused.value) == told + "housewise list variants lists all 70"


def test_an_unknown_split_is_refused_at_once() -> None:
    with pytest.raises(UserError, match=r"split: no 'tests'; did you mean test\? available: training, test"):
        gymnasium.make("housewise/Lab-v0", split="tests")


@pytest.mark.parametrize("action", [(999, 0), (0, 40), (-1, 0), (0, -1)])
def test_an_action_outside_its_space_is_refused(action: tuple[int, int]) -> None:
    env = LabEnv("fire_laser__none__simple")
    env.reset(seed=1)
    with pytest.raises(UserError, match=r"there is no action .*; use a command from 0 to"):
        env.step(np.array(action))
    assert env.run.actions == 0


def test_a_refused_reset_changes_nothing() -> None:
    env, twin = LabEnv(), LabEnv()
    for each in (env, twin):
        each.reset(seed=1)
    with pytest.raises(UserError, match="no variant"):
        env.reset(seed=2, options={"variant": "nothing"})
    assert env.reset()[1] == twin.reset()[1]


def test_the_rendered_picture_has_marks() -> None:
    env = LabEnv("fire_laser__none__simple")
    observation, _ = env.reset(seed=1)
    assert env.render().shape == (300, 300, 3) and (env.render() != observation["image"]).any()
