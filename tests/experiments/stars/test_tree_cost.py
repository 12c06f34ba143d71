"""What trees cost, measured on a tiny model as a user does it."""

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.commands import run_module
from tests.language.tiny import save_tiny_model


@pytest.mark.slow
def test_trees_are_measured_with_and_without_sharing(tmp_path: Path) -> None:
    out = tmp_path / "cost.json"
    model = save_tiny_model(tmp_path / "model")
    done = run_module("housewise.experiments.stars.tree_cost", ["--json", out, "--model", model, "--objects", "2"])
    assert done.returncode == 0, done.stderr
    figures = json.loads(out.read_text())
    assert [len(figures["objects"][way]) for way in ("shared", "alone")] == [2, 2]
    for shared, alone in zip(figures["objects"]["shared"], figures["objects"]["alone"], strict=True):
        # Sharing changes what is read, not what is asked and written.
        assert (shared["calls"], shared["tokens"]) == (alone["calls"], alone["tokens"]) and shared["calls"] >= 1
    assert "first completion" in done.stdout
