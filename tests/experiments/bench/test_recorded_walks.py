"""The published robot's walks, step for step; HOUSEKEEP_RECORDINGS names the folder of the recorded episodes."""

import os
from pathlib import Path

import pytest

from housewise.agent.personalize.plan_normalizer import parse_any_step
from housewise.experiments.bench.recorded_player import Player
from housewise.experiments.bench.recordings import Recording
from housewise.worlds.house.high_level_actions import ActionKind
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.simulator.raycast import RaycastSimulator

pytestmark = pytest.mark.housekeep


@pytest.fixture
def recordings() -> Path:
    """Folder of ``<scene>/<condition>/<episode>.json``."""
    root = os.environ.get("HOUSEKEEP_RECORDINGS")
    if not root:
        pytest.skip("HOUSEKEEP_RECORDINGS is not set: name the folder of the recorded episodes in it to run this test")
    return Path(root)


@pytest.mark.parametrize("scene", ["Merom_1_int", "Pomaria_2_int"])
def test_first_walks_have_the_recorded_number_of_steps(housekeep: HousekeepData, recordings: Path, scene: str) -> None:
    """From the recorded start, before anything can have gone differently; one heading in twelve lies on the edge."""
    files = sorted((recordings / scene / "IL").glob("*.json"))[::2]
    walks = [first_walk(Recording(file, housekeep)) for file in files]
    same = sum(ours == recorded for ours, recorded in walks)
    assert len(walks) >= 10 and all(recorded > 5 for _, recorded in walks)
    assert same >= len(walks) - 2, walks


def first_walk(recording: Recording) -> tuple[int, int]:
    """Low-level steps, ours and recorded."""
    step = recording.steps[0]
    action = parse_any_step(step.raw, recording.vocabulary).action
    assert action is not None and action.kind == step.kind == ActionKind.GO_TO
    player = Player(recording, RaycastSimulator(sensors=("instance",)), max_steps=1000)
    player.play(action)
    return player.env.steps, step.steps
