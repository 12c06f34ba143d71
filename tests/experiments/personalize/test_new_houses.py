"""Robots in generated houses, with a model of random weights and two adapters of it."""

import json
import os
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("peft")

from tests.commands import run_module
from tests.language.tiny import save_tiny_adapter, save_tiny_model

MODULE = "housewise.experiments.personalize.new_houses"


def test_adapters_play_the_same_houses_and_are_compared_with_the_first(tmp_path: Path) -> None:
    model = save_tiny_model(tmp_path / "model")
    adapters = [save_tiny_adapter(model, tmp_path / name) for name in ("one", "two")]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    named = [word for adapter in adapters for word in ("--adapter", adapter)]
    words = ["--model", f"local:{model}", *named, "--out", tmp_path / "out", "--houses", "2", "--seed", "5"]
    settings = ["prompt=planner", "max_plans=2", "sampling.max_tokens=20"]
    run_module(MODULE, [*words, "--json", tmp_path / "figures.json", *settings], env, tmp_path, code=0)
    content = json.loads((tmp_path / "figures.json").read_text())
    assert (content["houses"], content["seed"]) == (2, 5) and "commit" in content
    assert list(content["figures"]) == ["one", "two"] and list(content["gains"]) == ["two"]
    for row in ("one", "two"):
        played = content["by_episode"][row]
        assert len(played) == 2 and content["figures"][row]["episodes"] == 2 == sum(content["ended"][row].values())
        assert content["adapter"][row]["name"] == row
    assert content["starts"].keys() == played.keys()
    twice = run_module(MODULE, [*words, "--adapter", tmp_path / "one", *settings], env, tmp_path)
    assert twice.returncode == 2 and "would be called one" in twice.stderr
