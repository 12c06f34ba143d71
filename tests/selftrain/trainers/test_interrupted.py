"""Trainings that are killed at each of their writes, or whose disk is full, end as if nothing had happened."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra housewise[train] is not installed")

from tests.machines.writes import can_trace

pytestmark = pytest.mark.skipif(not can_trace(), reason="the kernel tells of writes on Linux on x86_64 alone")


def check(folder: Path, what: str, stops: str, every: int) -> None:
    """Try a training at each so-many-th write."""
    command = [sys.executable, "-m", "tests.selftrain.trainers.interrupted", what, folder, stops, str(every)]
    env = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    written = {write.rpartition("/")[2].rpartition(" ")[2] for write in found["writes"]}
    assert {"optimizer.pt", "trainer_state.json", "curve.csv", "model.json"} <= written and found["tried"]
    assert not found["wrong"]


@pytest.mark.slow
def test_some_writes_of_a_training(tmp_path: Path) -> None:
    check(tmp_path, "preferences", "kill_at,full_from", 29)


@pytest.mark.slow
@pytest.mark.parametrize("stops", ["kill_at", "full_from"])
@pytest.mark.parametrize("what", ["preferences", "replies", "weights", "phase"])
def test_every_write_of_a_training(tmp_path: Path, what: str, stops: str) -> None:
    check(tmp_path, what, stops, 1)
