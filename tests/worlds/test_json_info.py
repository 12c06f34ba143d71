"""The environments in tools of other packages; CONTRIBUTING.md says what has to be installed."""

import json
import pickle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from housewise.worlds.house.simulator.base import Camera
from housewise.worlds.json_info import JsonInfo
from housewise.worlds.kitchen.env import TextKitchenEnv


def house(max_steps: int = 6) -> gymnasium.Env[Any, Any]:
    return gymnasium.make("housewise/Rearrangement-v0", seed=0, camera=Camera(width=48, height=48), max_steps=max_steps)


def kitchen() -> gymnasium.Env[Any, Any]:
    return TextKitchenEnv(max_steps=6)


@pytest.mark.parametrize(("make", "actions"), [(house, [1, 6, 0]), (kitchen, ["look", "search(fridge)", "done()"])])
def test_an_info_of_json_has_one_shape_and_all_that_the_info_has(make: Any, actions: list[Any]) -> None:
    plain, wrapped = make(), pickle.loads(pickle.dumps(JsonInfo(make())))
    seen, wrapped_seen = plain.reset(seed=0), wrapped.reset(seed=0)
    for one, other in zip([seen, *map(plain.step, actions)], [wrapped_seen, *map(wrapped.step, actions)], strict=True):
        assert list(other[-1]) == ["json"]
        told = json.loads(other[-1]["json"])
        assert told.keys() == one[-1].keys()
        assert all(told[key] == value for key, value in one[-1].items() if isinstance(value, str | int | float))
        assert other[1:-1] == one[1:-1]


def test_stable_baselines_checks_and_trains() -> None:
    pytest.importorskip("stable_baselines3", reason="pip install --no-deps stable-baselines3")
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_checker import check_env

    check_env(house())
    learner = PPO("MultiInputPolicy", house(), n_steps=8, batch_size=8, n_epochs=1, device="cpu")
    learner.learn(8)
    assert sum(weights.numel() for weights in learner.policy.parameters()) < 2_000_000


@pytest.mark.parametrize("make", [house, kitchen])
def test_minari_stores_infos(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    minari = pytest.importorskip("minari", reason="pip install --no-deps minari h5py jax jaxlib ml_dtypes")
    pytest.importorskip("h5py")
    pytest.importorskip("jax")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    env = minari.DataCollector(JsonInfo(make()), record_infos=True)
    steps = []
    for seed in range(2):
        env.reset(seed=seed)
        ended = cut = False
        steps.append(0)
        while not (ended or cut):
            *_, ended, cut, _ = env.step(np.int64(1) if make is house else "look")
            steps[-1] += 1
    made = env.create_dataset("tests/steps-v0", algorithm_name="none", author="a", author_email="b", code_permalink="c")
    assert [len(episode.rewards) for episode in made] == steps
    for episode in made:
        told = [json.loads(text) for text in episode.infos["json"]]
        assert len(told) == len(episode.rewards) + 1
