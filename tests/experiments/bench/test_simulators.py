"""Comparing simulators: with itself a simulator agrees, with a shifted house it does not."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from housewise.experiments.bench.robot_speed import add_objects
from housewise.experiments.bench.simulator_agreement import compare_simulators, load_first_task, random_places
from housewise.experiments.bench.trimesh_simulator import TrimeshSimulator
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.simulator.base import BodyPose, Camera, Observation, Simulator
from housewise.worlds.house.simulator.raycast import RaycastSimulator


class ShiftedSimulator(RaycastSimulator):
    """Stands a little to the left of where it says it is, and walks on a mesh of its own."""

    def observe(self, body: BodyPose | None = None) -> Observation:
        body = body or self.body
        return super().observe(replace(body, x=body.x + 0.2))


def means(other: Simulator) -> dict[str, float]:
    """Means of the measures at eight places of a generated house."""
    task, found = load_first_task(houses=1, seed=3), defaultdict(list)
    for value in compare_simulators(RaycastSimulator(), other, task, random_places(task, 8)):
        found[value.measure].append((value.value, value.weight))
    assert len(found["same_visible_set"]) == 8 and sum(weight for _, weight in found["mask_iou"]) > 10
    return {
        name: sum(value * weight for value, weight in pairs) / sum(weight for _, weight in pairs)
        for name, pairs in found.items()
    }


@pytest.mark.parametrize("peer", [RaycastSimulator, TrimeshSimulator])
def test_the_same_house_looks_the_same(peer: type[RaycastSimulator]) -> None:
    found = means(peer())
    assert found["mask_iou"] > 0.999 and found["depth_difference"] < 1e-5
    assert found["same_visible_set"] == found["seen_by_both"] == 1.0
    assert found["times_faster"] == pytest.approx(found["images_per_second"] / found["peer_images_per_second"])


def test_another_view_is_told_from_it() -> None:
    found = means(ShiftedSimulator())
    assert found["mask_iou"] < 0.95 and found["seen_by_both"] < 1.0


@pytest.mark.parametrize("camera", [Camera(), Camera(width=90, height=61, field_of_view=1.2, max_depth=8.0)])
def test_trimesh_sees_what_the_embedded_simulator_sees(generated: RearrangementTask, camera: Camera) -> None:
    # Two implementations of the same camera over the same triangles: only seams and coincident faces may differ.
    task, rng = add_objects(generated, 60), np.random.default_rng(5)
    simulator, peer = RaycastSimulator(camera), TrimeshSimulator(camera)
    for each in (simulator, peer):
        RearrangementEnv(each, [task]).reset()
    for _ in range(12):
        body = BodyPose(*task.scene.navmesh.random_point(rng), rng.uniform(-4, 4), rng.uniform(-1.2, 0.6))
        ours, theirs = simulator.observe(body), peer.observe(body)
        same = ours.instance == theirs.instance
        assert same.mean() > 0.999
        assert (ours.semantic == theirs.semantic)[same].all()
        assert np.quantile(np.abs(ours.depth - theirs.depth)[same], 0.999) < 1e-3
