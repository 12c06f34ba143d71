"""Gymnasium finds the environments by their ids; what all of them have in common."""

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from housewise.core.errors import UserError
from housewise.worlds.registration import ENVIRONMENTS


@pytest.mark.parametrize(
    "imports",
    [
        "import gymnasium, housewise",
        "import housewise, gymnasium",
        "import housewise, importlib.util; importlib.util.find_spec('gymnasium'); import gymnasium",
    ],
)
def test_ids_are_known_after_importing_housewise(imports: str) -> None:
    code = f"{imports}; print(*sorted(name for name in gymnasium.registry if name.startswith('housewise/')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == sorted(ENVIRONMENTS)


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environments_pass_the_checker(name: str) -> None:
    environment = gymnasium.make(name)
    check_env(environment.unwrapped, skip_render_check=True)
    environment.close()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize(
    ("name", "actions"),
    [
        ("Rearrangement", [2, 1, 6]),
        ("TextRearrangement", ["go to kitchen 0", "dance"]),
        ("TextKitchen", ["Open fridge_0", "Search fridge_0"]),
        ("Lab", [np.array([2, 0]), np.array([5, 1])]),
    ],
)
def test_a_copy_goes_on_like_its_original(name: str, actions: list[Any], copied: Callable[[Any], Any]) -> None:
    env = gymnasium.make(f"housewise/{name}-v0").unwrapped
    env.reset(seed=3)
    env.step(actions[0])
    other = copied(env)
    for act in (*(lambda each, action=action: each.step(action) for action in actions), lambda each: each.reset()):
        np.testing.assert_equal(act(other)[0], act(env)[0])


@pytest.mark.parametrize("name", ["Rearrangement", "TextRearrangement"])
@pytest.mark.parametrize("task", [2, -1, "1", True, [0]])
def test_a_task_that_is_not_there_is_refused_and_changes_nothing(name: str, task: Any) -> None:
    env, twin = (gymnasium.make(f"housewise/{name}-v0", houses=2).unwrapped for _ in range(2))
    for each in (env, twin):
        each.reset(seed=1)
    with pytest.raises(UserError, match=r"there is no task .*; use an integer from 0 to 1"):
        env.reset(seed=2, options={"task": task})
    assert env.np_random.integers(2**31) == twin.np_random.integers(2**31)
    np.testing.assert_equal(env.reset(options={"task": np.int64(0)})[0], twin.reset(options={"task": 0})[0])


@pytest.mark.parametrize(("name", "limit"), [("Rearrangement", "max_steps"), ("Lab", "max_actions")])
@pytest.mark.parametrize("value", [0, -3, None, "x", True])
def test_an_impossible_limit_is_refused(name: str, limit: str, value: Any) -> None:
    with pytest.raises(UserError, match=f"{limit} must be an integer of 1 or more, not"):
        gymnasium.make(f"housewise/{name}-v0", **{limit: value})
