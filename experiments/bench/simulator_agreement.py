"""The embedded simulator beside another one: both look at the same houses from the same places."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from housewise.experiments.bench.trimesh_simulator import TrimeshSimulator
from housewise.experiments.measured_values import MeasuredValue
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.tasks import list_tasks, load_task
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.simulator import RAYCAST, open_simulator
from housewise.worlds.house.simulator.base import BodyPose, Observation, Sensor, Simulator

_SEED = 0
_MIN_PIXELS = 50
"""Smallest mask of a receptacle, in either image, that is compared."""
_CLOSE = 0.05
_PITCHES = np.deg2rad([0.0, -30.0])


def compare_with(peer: str, sensors: Sequence[Sensor], places: int, **tasks: Any) -> Iterator[MeasuredValue]:
    """Compare the embedded simulator with another one at random places of a house, where they take turns.

    Args:
        peer: ``trimesh`` or the name of a simulator.
        sensors: Images that both take.
        places: Number of places.
        **tasks: Settings that name the house; that of the first episode is used.
    """
    ours = open_simulator(RAYCAST, sensors)
    other = TrimeshSimulator(sensors=sensors) if peer == "trimesh" else open_simulator(peer, sensors)
    try:
        task = load_first_task(**tasks)
        yield from compare_simulators(ours, other, task, random_places(task, places))
    finally:
        other.close()


def load_first_task(**tasks: Any) -> RearrangementTask:
    """Return the house of the first episode that settings name."""
    settings = house_settings(settings=tasks).tasks
    return load_task(list_tasks(settings)[0], settings)


def random_places(task: RearrangementTask, count: int) -> list[BodyPose]:
    """Return random places of a house with random headings, looking ahead or down."""
    rng = np.random.default_rng(_SEED)
    points = [task.scene.navmesh.random_point(rng) for _ in range(count)]
    return [
        BodyPose(float(x), float(z), float(rng.uniform(-np.pi, np.pi)), float(rng.choice(_PITCHES))) for x, z in points
    ]


def compare_simulators(
    ours: Simulator, other: Simulator, task: RearrangementTask, places: Sequence[BodyPose]
) -> Iterator[MeasuredValue]:
    """Yield by how much two simulators agree at each place, and how many images they take in a second."""
    simulators, seconds = (ours, other), [0.0, 0.0]
    for simulator in simulators:
        simulator.reset(task.scene, task.episode.receptacles, task.episode.objects, places[0])
        simulator.observe(places[0])
    receptacles = {number for number, key in enumerate(ours.keys) if key in task.scene.by_key}
    for number, place in enumerate(places):
        images = []
        for which, simulator in enumerate(simulators):
            start = time.perf_counter()
            images.append(simulator.observe(place))
            seconds[which] += time.perf_counter() - start
        for measure, value, weight in _compare_images(images[0], images[1], receptacles):
            yield MeasuredValue(f"place {number}", 0, measure, value, weight)
    yield MeasuredValue("all", 0, "images_per_second", len(places) / seconds[0])
    yield MeasuredValue("all", 0, "peer_images_per_second", len(places) / seconds[1])
    yield MeasuredValue("all", 0, "times_faster", seconds[1] / seconds[0])
    if other.navmesh is not ours.navmesh:
        for number, (start_place, end_place) in enumerate(pairwise(places)):
            own, theirs = (each.navmesh.distance(start_place.point, end_place.point) for each in simulators)
            if np.isfinite((own, theirs)).all():
                is_close = abs(own - theirs) <= _CLOSE * max(theirs, 1e-6)
                yield MeasuredValue(f"place {number}", 0, "distances_close", float(is_close))


def _compare_images(one: Observation, other: Observation, receptacles: set[int]) -> Iterator[tuple[str, float, float]]:
    """Yield measures of two images with their weights."""
    ours, theirs = one.instance, other.instance
    seen, also_seen = set(np.unique(ours).tolist()) - {0}, set(np.unique(theirs).tolist()) - {0}
    masks = [(ours == number, theirs == number) for number in sorted(receptacles & (seen | also_seen))]
    overlaps = [(a & b).sum() / (a | b).sum() for a, b in masks if max(a.sum(), b.sum()) >= _MIN_PIXELS]
    if overlaps:
        yield "mask_iou", float(np.mean(overlaps)), len(overlaps)
    near = (one.depth < one.depth.max()) | (other.depth < other.depth.max())
    if near.any():
        yield "depth_difference", float(np.median(np.abs(one.depth - other.depth)[near])), 1
    yield "same_visible_set", float(seen == also_seen), 1
    if seen | also_seen:
        yield "seen_by_both", len(seen & also_seen) / len(seen | also_seen), len(seen | also_seen)
