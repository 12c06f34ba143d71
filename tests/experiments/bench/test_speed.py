"""The speed experiment: that it measures what it says; how fast anything is, no test asks."""

import json
from pathlib import Path

import numpy as np
import pytest

from housewise.experiments.bench.speed import SENSORS, Peer, Rate, TimedRobot, best, compare, crowded_task, rate
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.simulator.base import BodyPose, Camera
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from tests.commands import run_module


def test_a_rate_counts_what_was_done() -> None:
    fast, slow = rate(lambda: sum(range(200_000)) and 1000), rate(lambda: sum(range(200_000)) and 1)
    assert fast.cpu > slow.cpu > 0 and fast.wall > slow.wall > 0


def test_the_best_counts_for_each_clock() -> None:
    assert best([Rate(1.0, 5.0), Rate(2.0, 4.0)]) == Rate(2.0, 5.0)


@pytest.mark.parametrize("count", [1, 40])
def test_a_crowded_house_has_so_many_objects_and_the_same_work(generated: RearrangementTask, count: int) -> None:
    full = crowded_task(generated, count)
    things, own = full.episode.objects, generated.episode.objects
    assert len({thing.key for thing in things}) == len({thing.name for thing in things}) == count
    assert things[: len(own)] == own[:count]
    assert not any(thing.is_misplaced for thing in things[len(own) :])
    for thing in things[len(own) :]:
        box = full.scene.by_key[thing.receptacle].box
        assert box.low[0] <= thing.pose.position[0] <= box.high[0]
        assert box.low[2] <= thing.pose.position[2] <= box.high[2]
        assert thing.pose.position[1] - thing.size[1] / 2 == pytest.approx(box.top)


def test_the_same_seed_crowds_a_house_the_same_way(generated: RearrangementTask) -> None:
    assert crowded_task(generated, 40).episode.objects == crowded_task(generated, 40).episode.objects
    assert crowded_task(generated, 40, seed=1).episode.objects != crowded_task(generated, 40).episode.objects


@pytest.mark.parametrize("camera", [Camera(), Camera(width=90, height=61, field_of_view=1.2, max_depth=8.0)])
def test_the_peer_sees_what_our_simulator_sees(generated: RearrangementTask, camera: Camera) -> None:
    # Two implementations of the same camera over the same triangles: only seams and coincident faces may differ.
    task = crowded_task(generated, 60)
    simulator = RaycastSimulator(camera)
    RearrangementEnv(simulator, [task]).reset()
    peer, rng = Peer(task, simulator), np.random.default_rng(5)
    for _ in range(12):
        body = BodyPose(*task.scene.navmesh.random_point(rng), rng.uniform(-4, 4), rng.uniform(-1.2, 0.6))
        seen, (depth, instance, semantic) = simulator.observe(body), peer.observe(body)
        same = seen.instance == instance
        assert same.mean() > 0.999
        assert (seen.semantic == semantic)[same].all()
        assert np.quantile(np.abs(seen.depth - depth)[same], 0.999) < 1e-3


def test_a_robot_goes_about_and_is_compared(toy: RearrangementTask) -> None:
    robot = TimedRobot(toy, RaycastSimulator(sensors=SENSORS))
    assert robot.steps_per_second().wall > 0
    assert len(robot.poses) > 20 and len({(pose.x, pose.z) for pose in robot.poses}) > 5
    assert robot.images_per_second().cpu > 0
    found = compare(robot, 1)
    # The counter and the table stand flush with walls, and where two faces coincide either may be the nearer.
    assert found["agreement"] > 0.99
    assert found["ratio"] == pytest.approx(found["ours_fps"] / found["peer_fps"])


def test_a_real_run_writes_its_figures(tmp_path: Path) -> None:
    result = run_module("housewise.experiments.bench.speed", ["--quick", "--json", tmp_path / "speed.json"], code=0)
    content = json.loads((tmp_path / "speed.json").read_text())
    assert {"sensor_fps", "agent_steps_per_second", "memory_mb"} <= content.keys()
    assert list(content["growth"]) == ["10", "100"]
    assert [row["objects"] for row in content["growth"].values()] == [10, 100]
    assert content["memory_mb"] <= content["growth"]["100"]["memory_mb"]
    assert set(content["walking"]) == {"own", "greedy"} and min(content["walking"].values()) > 0
    assert content["config"]["camera"]["width"] == 128 and content["software"]["numpy"]
    assert f"sensor_fps {content['sensor_fps']:.0f}" in result.stdout.splitlines()[-1]
