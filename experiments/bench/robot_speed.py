"""The speed of the whole agent and of its parts, in processor time, so that other programs count little."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from housewise.controller.robot import RobotInHouse
from housewise.controller.skills import Controller, ControllerSettings
from housewise.core.record import Header
from housewise.core.record_files import RecordWriter
from housewise.experiments.bench.recordings import with_recorded_navmesh
from housewise.experiments.bench.simulator_agreement import load_first_task
from housewise.experiments.bench.trimesh_simulator import TrimeshSimulator
from housewise.experiments.measured_values import MeasuredValue
from housewise.rollout.episode_loop import EpisodeLoop
from housewise.systems.personalize.agent import PlannerAgent
from housewise.systems.personalize.planners import scripted_planner
from housewise.systems.personalize.world import HouseWorld
from housewise.worlds.house.env import MAX_STEPS, RearrangementEnv, RearrangementTask
from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.generator.object_sizes import SIZES
from housewise.worlds.house.geometry import Pose
from housewise.worlds.house.simulator.base import BodyPose, Sensor, Simulator
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from housewise.worlds.house.spoken_names import spoken_name

_SENSORS: tuple[Sensor, ...] = ("depth", "instance", "semantic")
_SEED = 0
_EVERY = 20
"""One of so many images is compared with trimesh's, which are slow."""


def time_agent(objects: int | None, rounds: int, max_steps: int = MAX_STEPS, **tasks: Any) -> Iterator[MeasuredValue]:
    """Measure the whole agent with the scripted planner, and its images from all places where it was.

    Args:
        objects: Number of objects in the house. None is the episode's own.
        rounds: Number of times that everything is timed.
        max_steps: Greatest number of low-level steps.
        **tasks: Settings that name the house.
    """
    task, simulator, peer = load_first_task(**tasks), RaycastSimulator(sensors=_SENSORS), TrimeshSimulator()
    if objects is not None:
        task = add_objects(task, objects)
    for number in range(rounds):
        poses: list[BodyPose] = []
        steps = time_rate(partial(_play, task, simulator, max_steps, poses))
        for each in (simulator, peer):
            RearrangementEnv(each, [task]).reset()
        images = time_rate(partial(_look, simulator, poses))
        ours, theirs = (time_rate(partial(_look, each, poses[::_EVERY])) for each in (simulator, peer))
        yield MeasuredValue(task.scene.name, number, "steps_per_second", steps)
        yield MeasuredValue(task.scene.name, number, "images_per_second", images)
        yield MeasuredValue(task.scene.name, number, "times_trimesh", ours / theirs)


def time_follower(receptacles: int, rounds: int, on_polygons: bool = False, **tasks: Any) -> Iterator[MeasuredValue]:
    """Measure the greedy follower beside the standard one, images included, on the way from receptacle to receptacle.

    Args:
        receptacles: Number of receptacles to go to.
        rounds: Number of times that both walk, in turns.
        on_polygons: Whether the greedy one walks on the polygons of the scene's navigation mesh.
        **tasks: Settings that name the house.
    """
    task = load_first_task(**tasks)
    other = replace(task, scene=with_recorded_navmesh(task.scene)) if on_polygons else task
    for number in range(rounds):
        standard = time_rate(partial(_walk, task, "own", receptacles))
        speed = time_rate(partial(_walk, other, "greedy", receptacles))
        yield MeasuredValue(task.scene.name, number, "steps_per_second", speed)
        yield MeasuredValue(task.scene.name, number, "standard_steps_per_second", standard)
        yield MeasuredValue(task.scene.name, number, "ratio", speed / standard)


def time_rate(work: Callable[[], int]) -> float:
    """Return how many things a function does in a second of processor time; it returns their number."""
    start = time.process_time()
    count = work()
    return count / (time.process_time() - start)


def add_objects(task: RearrangementTask, count: int) -> RearrangementTask:
    """Return the same house and the same work with ``count`` objects; those added are in their place on furniture."""
    rng = np.random.default_rng(_SEED)
    places = [place for key in task.episode.receptacles if (place := task.scene.by_key[key]).usable]
    categories = sorted(SIZES)

    def draw(number: int) -> HouseObject:
        place = places[rng.integers(len(places))]
        category = categories[rng.integers(len(categories))]
        key, size = f"{category}_{number}", SIZES[category]
        x, z = (float(rng.uniform(place.box.low[axis], place.box.high[axis])) for axis in (0, 2))
        pose = Pose((x, place.box.top + size[1] / 2, z))
        return HouseObject(key, spoken_name(key), category, size, pose, place.key, frozenset({place.key}))

    own = task.episode.objects[:count]
    # Numbers far from those of the episode's own objects.
    added = tuple(draw(1000 + number) for number in range(count - len(own)))
    return RearrangementTask(task.scene, replace(task.episode, objects=own + added))


def _play(task: RearrangementTask, simulator: Simulator, max_steps: int, poses: list[BodyPose]) -> int:
    """Play an episode, collect where the robot was, and return the number of steps."""
    env = RearrangementEnv(simulator, [task], max_steps)
    env.reset()
    with TemporaryDirectory() as folder:
        world = HouseWorld(RobotInHouse(env, Controller(env), lambda steps: poses.append(simulator.body)))
        agent = PlannerAgent(scripted_planner(task, env, seed=_SEED), world)
        loop = EpisodeLoop(world, agent, RecordWriter(Path(folder), "speed"))
        result = loop.play(Header(system="personalize", task=task.episode.scene, agent="scripted"))
    return round(result.scores["steps"])


def _look(simulator: Simulator, poses: list[BodyPose]) -> int:
    return len([simulator.observe(pose) for pose in poses])


def _walk(task: RearrangementTask, follower: Literal["own", "greedy"], receptacles: int) -> int:
    env = RearrangementEnv(RaycastSimulator(sensors=_SENSORS), [task], max_steps=sys.maxsize)
    env.reset()
    controller = Controller(env, ControllerSettings(follower=follower))
    for key in task.episode.receptacles[:receptacles]:
        for action in controller.go_to(key):
            env.step(action)
    return env.steps
