"""Comparing simulators: with itself a simulator agrees, with a shifted house it does not."""

import json
from dataclasses import replace
from pathlib import Path

import imageio.v3 as imageio
import numpy as np
import pytest

from housewise.experiments.bench.simulators import SENSORS, Agreement, compare, first_task, photos, places
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.simulator.base import BodyPose, Observation
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from tests.commands import run_module


@pytest.fixture(scope="module")
def task() -> RearrangementTask:
    return first_task(None, "")


class Shifted(RaycastSimulator):
    """Stands a little to the left of where it says it is."""

    def observe(self, body: BodyPose | None = None) -> Observation:
        body = body or self.body
        return super().observe(replace(body, x=body.x + 0.2))


def test_the_same_simulator_agrees_with_itself(task: RearrangementTask) -> None:
    poses = places(task, 8)
    figures = compare(RaycastSimulator(sensors=SENSORS), RaycastSimulator(sensors=SENSORS), task, poses).figures()
    assert figures["mask_iou"] == 1.0 and figures["masks"] > 10
    assert figures["depth_difference"] == 0.0
    assert figures["same_visible_set"] == 1.0 and figures["things_seen_by_both"] == 1.0
    assert figures["distances_close"] == 1.0 and figures["distances"] == 7
    assert figures["poses"] == 8


def test_another_view_is_told_from_it(task: RearrangementTask) -> None:
    poses = places(task, 8)
    figures = compare(RaycastSimulator(sensors=SENSORS), Shifted(sensors=SENSORS), task, poses).figures()
    assert figures["mask_iou"] < 0.95
    assert figures["things_seen_by_both"] < 1.0


def test_distances_within_five_percent_are_close() -> None:
    figures = Agreement(same=[True], distances=[(1.04, 1.0), (1.06, 1.0), (np.inf, 1.0)]).figures()
    assert figures["distances_close"] == 0.5 and figures["distances"] == 2


def test_pictures_stand_side_by_side(task: RearrangementTask) -> None:
    simulators = [RaycastSimulator(), RaycastSimulator()]
    picture = photos(simulators, task, places(task, 3))
    assert picture.shape == (2 * 128, 3 * 128, 3)
    assert np.array_equal(picture[:128], picture[128:]) and picture.std() > 10


def test_the_command_writes_figures_and_pictures(tmp_path: Path) -> None:
    words = ["--against", "raycast", "--quick", "--tasks", "--json", tmp_path / "f.json", "--pictures", tmp_path]
    done = run_module("housewise.experiments.bench.simulators", words, code=0)
    assert "success_rate generated" in done.stdout
    content = json.loads((tmp_path / "f.json").read_text())
    assert content["scenes"]["generated"]["mask_iou"] == 1.0 and content["seed"] == 0
    assert set(content["tasks"]) == {"raycast"}
    assert imageio.imread(tmp_path / "generated.png").shape == (640, 1280, 3)


def test_an_unknown_simulator_is_refused() -> None:
    done = run_module("housewise.experiments.bench.simulators", ["--against", "unreal"])
    assert done.returncode == 2 and "setting simulator" in done.stderr
