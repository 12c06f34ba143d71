"""How fast the embedded simulator and the whole robot are, on one core.

    python -m housewise.experiments.bench.speed [--data HOUSEKEEP] [--episode 10] [--quick] [--json FILE]

While the scripted planner tidies a house with depth, instance and semantic images of 128 x 128 pixels:

* the sensors alone: images per second, from everywhere it went;
* the whole robot: low-level steps per second, with planner, controller, environment, scene graph and record;
* memory: the most that the process ever held;
* walking: low-level steps per second on the way from one piece of furniture to the next, by each follower;
* growth: all of that with 10, 100 and 1000 objects in the same house;
* a peer: trimesh's ray casting, which uses Embree as well, on the same house from the same places.

Everything is timed several times and the best counts, as other programs can only slow it down. Rates are per second on
the clock and per second of this process's processor time; the two differ where it had to wait for others.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import numpy as np
import trimesh
import typer
from numpy.typing import NDArray

from housewise.controller.robot import RobotInHouse
from housewise.controller.skills import Controller, ControllerSettings
from housewise.core.console import Console
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.core.record import Header
from housewise.core.record_files import RecordWriter
from housewise.core.tables import table
from housewise.experiments.bench.recordings import walked_as_recorded
from housewise.experiments.quick import say_left_out
from housewise.rollout.episode_loop import EpisodeLoop
from housewise.systems.personalize.agent import PlannerAgent
from housewise.systems.personalize.planners import scripted_planner
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.tasks import list_tasks, load_task
from housewise.systems.personalize.world import HouseWorld
from housewise.worlds.house.env import MAX_STEPS, RearrangementEnv, RearrangementTask
from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.generator.object_sizes import SIZES
from housewise.worlds.house.geometry import Pose
from housewise.worlds.house.object_placeholders import placeholder_mesh
from housewise.worlds.house.scene import Mesh
from housewise.worlds.house.simulator.base import BodyPose, Camera, Sensor
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from housewise.worlds.house.spoken_names import spoken_name

SCENE = "Merom_1_int"
GENERATED_HOUSE = 3
SENSORS: tuple[Sensor, ...] = ("depth", "instance", "semantic")
COUNTS = (10, 100, 1000)

_PEER_EVERY = 20
_QUICK_STEPS = 200
_VISITED, _QUICK_VISITED = 40, 4
_OWN = "the episode's own"


@dataclass(frozen=True)
class Rate:
    """How often something was done.

    Attributes:
        wall: per second on the clock.
        cpu: per second of this process's processor time.
    """

    wall: float
    cpu: float


def rate(work: Callable[[], int]) -> Rate:
    """Do some work once, which returns how many things it did."""
    wall, cpu = time.perf_counter(), time.process_time()
    count = work()
    return Rate(count / (time.perf_counter() - wall), count / (time.process_time() - cpu))


def best(rates: Sequence[Rate]) -> Rate:
    """The best of several times, for each clock."""
    return Rate(max(one.wall for one in rates), max(one.cpu for one in rates))


def load(data: Path | None, episode: int) -> RearrangementTask:
    """The house: an episode of the Housekeep folder, or a generated one."""
    if data is None:
        wanted: dict[str, Any] = {"seed": GENERATED_HOUSE, "houses": 1}
    else:
        wanted = {"data": str(data), "scenes": [SCENE], "episodes": [episode]}
    config = house_settings(settings=wanted)
    return load_task(list_tasks(config.tasks)[0], config.tasks)


def crowded_task(task: RearrangementTask, count: int, seed: int = 0) -> RearrangementTask:
    """The same house and the same work with so many objects: the others lie about on furniture and belong there."""
    rng = np.random.default_rng(seed)
    places = [task.scene.by_key[key] for key in task.episode.receptacles]
    places = [place for place in places if place.usable]
    categories = sorted(SIZES)

    def another(number: int) -> HouseObject:
        place = places[rng.integers(len(places))]
        category = categories[rng.integers(len(categories))]
        key, size = f"{category}_{number}", SIZES[category]
        x, z = (float(rng.uniform(place.box.low[axis], place.box.high[axis])) for axis in (0, 2))
        pose = Pose((x, place.box.top + size[1] / 2, z))
        return HouseObject(key, spoken_name(key), category, size, pose, place.key, frozenset({place.key}))

    own = task.episode.objects[:count]
    # Numbers far from those of the episode's own objects.
    others = tuple(another(1000 + number) for number in range(count - len(own)))
    return RearrangementTask(task.scene, replace(task.episode, objects=own + others))


class TimedRobot:
    """The whole agent with the scripted planner, in one house.

    Args:
        task: which house, and what to do there.
        simulator: with the sensors that are measured; robots can share one.
        max_steps: how many low-level steps it takes at most.
    """

    def __init__(self, task: RearrangementTask, simulator: RaycastSimulator, max_steps: int = MAX_STEPS) -> None:
        self.task = task
        self.simulator = simulator
        self._max_steps = max_steps
        self.poses: list[BodyPose] = []

    def reset(self) -> RearrangementEnv:
        """Put everything in its first place."""
        env = RearrangementEnv(self.simulator, [self.task], self._max_steps)
        env.reset()
        return env

    def steps_per_second(self) -> Rate:
        """Play the episode; ``poses`` tells afterwards where the robot was."""
        env = self.reset()
        poses: list[BodyPose] = []
        header = Header(system="personalize", task=self.task.episode.scene, agent="scripted")
        with TemporaryDirectory() as folder:
            writer = RecordWriter(Path(folder), "speed")
            planner = scripted_planner(self.task, env, seed=0)
            robot = RobotInHouse(env, Controller(env), lambda steps: poses.append(self.simulator.body))
            world = HouseWorld(robot)
            episode = EpisodeLoop(world, PlannerAgent(planner, world), writer)
            speed = rate(lambda: round(episode.play(header).scores["steps"]))
        self.poses = poses
        return speed

    def images_per_second(self) -> Rate:
        """Look around from everywhere that the robot was."""
        self.reset()

        def look() -> int:
            for pose in self.poses:
                self.simulator.observe(pose)
            return len(self.poses)

        return rate(look)


class Peer:
    """The same sensors made with trimesh's ray casting.

    Args:
        task: the house, as it is at the start.
        simulator: set up with it; tells the numbers of things and kinds.
    """

    def __init__(self, task: RearrangementTask, simulator: RaycastSimulator) -> None:
        parts = list(_parts(task, simulator))
        mesh = Mesh.join([part for _, part in parts])
        self._camera, self._height = simulator.camera, task.scene.navmesh.height
        self._mesh = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
        self._corner, self._normal = self._mesh.triangles[:, 0], self._mesh.face_normals
        owners = [np.full(len(part.faces), number, dtype=np.int32) for number, part in parts]
        self._owner = np.concatenate([*owners, np.zeros(1, dtype=np.int32)])
        kind_of = {thing.key: thing.kind for thing in task.scene.receptacles}
        kind_of |= {thing.key: spoken_name(thing.category) for thing in task.episode.objects}
        self._kind = np.array([0, *(simulator.kinds.index(kind_of[key]) for key in simulator.keys[1:])], dtype=np.int32)
        self._rays = _rays(self._camera)
        self._ahead = -self._rays[:, 2]

    def observe(self, body: BodyPose) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
        """Depth, instance and semantic images from somewhere."""
        camera = self._camera
        turn = trimesh.transformations.euler_matrix(body.yaw, body.pitch, 0.0, "ryxz")[:3, :3]
        directions = self._rays @ turn.T
        lens = np.array([body.x, self._height + camera.above_floor, body.z])
        triangle = self._mesh.ray.intersects_first(np.tile(lens, (len(directions), 1)), directions)
        normal = self._normal[triangle]
        away = np.einsum("ij,ij->i", normal, self._corner[triangle] - lens)
        distance = away / np.einsum("ij,ij->i", normal, directions)
        depth = np.where(triangle < 0, camera.max_depth, distance * self._ahead)
        instance = self._owner[triangle]
        shape = (camera.height, camera.width)
        depth = depth.clip(camera.min_depth, camera.max_depth).reshape(shape)
        return depth, instance.reshape(shape), self._kind[instance].reshape(shape)


def _parts(task: RearrangementTask, simulator: RaycastSimulator) -> Iterator[tuple[int, Mesh]]:
    """Everything that can be seen, with its number."""
    yield 0, task.scene.structure
    for number, key in enumerate(simulator.keys):
        if key in task.scene.by_key:
            yield number, task.scene.by_key[key].mesh.transform(task.scene.by_key[key].pose)
    for thing in task.episode.objects:
        yield simulator.keys.index(thing.key), placeholder_mesh(thing.category, thing.size).transform(thing.pose)


def _rays(camera: Camera) -> NDArray[np.float64]:
    """Unit vectors (pixels, 3) through the pixels, in the camera's frame."""
    half = np.tan(camera.field_of_view / 2)
    right = ((np.arange(camera.width) + 0.5) / camera.width * 2 - 1) * half
    up = (1 - (np.arange(camera.height) + 0.5) / camera.height * 2) * half * camera.height / camera.width
    rays = np.stack([*np.meshgrid(right, up), -np.ones((camera.height, camera.width))], axis=-1).reshape(-1, 3)
    return np.asarray(rays / np.linalg.norm(rays, axis=1, keepdims=True))


def compare(robot: TimedRobot, rounds: int) -> dict[str, float]:
    """Our images per second next to the peer's, and the share of pixels in which both see the same thing."""
    robot.reset()
    poses = robot.poses[::_PEER_EVERY]
    peer = Peer(robot.task, robot.simulator)
    same = [np.mean(peer.observe(pose)[1] == robot.simulator.observe(pose).instance) for pose in poses]

    def all_poses(observe: Callable[[BodyPose], object]) -> Callable[[], int]:
        return lambda: len([observe(pose) for pose in poses])

    # In turns, so that whatever else the machine does slows both.
    turns = [(rate(all_poses(robot.simulator.observe)), rate(all_poses(peer.observe))) for _ in range(rounds)]
    ours, theirs = (best(rates) for rates in zip(*turns, strict=True))
    return {
        "ours_fps": ours.wall,
        "peer_fps": theirs.wall,
        "ratio": ours.wall / theirs.wall,
        "ratio_cpu": ours.cpu / theirs.cpu,
        "agreement": float(np.mean(same)),
    }


def walking(
    task: RearrangementTask, simulator: RaycastSimulator, rounds: int, most: int = _VISITED
) -> dict[str, float]:
    """Steps per second of processor time, pictures included, while each follower leads round the house.

    Returns:
        By follower: ``own``, ``greedy``, and on the polygons of a navigation mesh that is at hand ``greedy, polygons``.
    """
    ways: dict[str, tuple[RearrangementTask, Literal["own", "greedy"]]] = {
        "own": (task, "own"),
        "greedy": (task, "greedy"),
    }
    if task.scene.navmesh_file is not None:
        ways["greedy, polygons"] = (replace(task, scene=walked_as_recorded(task.scene)), "greedy")

    def walk(name: str) -> int:
        task, follower = ways[name]
        env = RearrangementEnv(simulator, [task], max_steps=sys.maxsize)
        env.reset()
        controller = Controller(env, ControllerSettings(follower=follower))
        for key in task.episode.receptacles[:most]:
            for action in controller.go_to(key):
                env.step(action)
        return env.steps

    return {name: best([rate(partial(walk, name)) for _ in range(rounds)]).cpu for name in ways}


def memory() -> float:
    """The most memory that this process has held so far, megabytes."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (1024.0**2 if sys.platform == "darwin" else 1024.0)


def measure(robots: dict[str, TimedRobot], rounds: int) -> dict[str, dict[str, Any]]:
    """The figures of some houses, by name; they take turns, so that whatever slows the machine slows all.

    Memory is what had been needed when the house's first turn was over: from few to many objects it can only grow.
    """
    agent: dict[str, list[Rate]] = {name: [] for name in robots}
    sensors: dict[str, list[Rate]] = {name: [] for name in robots}
    most: dict[str, float] = {}
    for _ in range(rounds):
        for name, robot in robots.items():
            agent[name].append(robot.steps_per_second())
            sensors[name].append(robot.images_per_second())
            most.setdefault(name, memory())
    return {
        name: {
            "objects": len(robot.task.episode.objects),
            "sensor_fps": best(sensors[name]).wall,
            "sensor_fps_cpu": best(sensors[name]).cpu,
            "agent_steps_per_second": best(agent[name]).wall,
            "agent_steps_per_second_cpu": best(agent[name]).cpu,
            "memory_mb": most[name],
            "rounds": {
                "sensors": [asdict(one) for one in sensors[name]],
                "agent": [asdict(one) for one in agent[name]],
            },
        }
        for name, robot in robots.items()
    }


def main(
    data: Annotated[
        Path | None, typer.Option(envvar="HOUSEKEEP_DATA", help="Housekeep folder; without it a house is generated.")
    ] = None,
    episode: Annotated[int, typer.Option(help=f"Episode of {SCENE} that is played.")] = 10,
    rounds: Annotated[int, typer.Option(min=1, help="How often everything is timed; the best counts.")] = 3,
    quick: Annotated[bool, typer.Option(help=f"One round of {_QUICK_STEPS} steps, at most 100 objects.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the figures there.")
    ] = None,
) -> None:
    """Measure images and steps per second and memory, as the number of objects grows, and beside trimesh.

    Examples:

      python -m housewise.experiments.bench.speed --quick

      python -m housewise.experiments.bench.speed --data ~/housekeep --json speed.json
    """
    console, made = Console(), provenance()
    say_left_out(quick, f"one round of {_QUICK_STEPS} steps, at most 100 objects")
    rounds, counts, steps = (1, COUNTS[:2], _QUICK_STEPS) if quick else (rounds, COUNTS, MAX_STEPS)
    with console.status("measuring") as status:
        task, simulator = load(data, episode), RaycastSimulator(sensors=SENSORS)
        robots = {_OWN: TimedRobot(task, simulator, steps)}
        robots |= {str(count): TimedRobot(crowded_task(task, count), simulator, steps) for count in counts}
        growth = measure(robots, rounds)
        status.update("comparing with trimesh")
        peer = compare(robots[_OWN], rounds)
        status.update("walking")
        walks = walking(task, simulator, rounds, _QUICK_VISITED if quick else _VISITED)
    content = {
        **growth.pop(_OWN),
        "growth": growth,
        "peer": {"name": f"trimesh {trimesh.__version__} with Embree", **peer},
        "walking": walks,
        "seed": 0,
        "config": {
            "scene": task.scene.name,
            "episode": task.episode.id,
            "sensors": SENSORS,
            "camera": asdict(simulator.camera),
            "rounds": rounds,
            "max_steps": steps,
        },
        **made,
    }
    _show(console, content)
    if json_file is not None:
        write_json(json_file, content)


def _show(console: Console, content: dict[str, Any]) -> None:
    columns = ("objects", "images/s", "of cpu time", "steps/s", "of cpu time", "memory MB")
    keys = ("sensor_fps", "sensor_fps_cpu", "agent_steps_per_second", "agent_steps_per_second_cpu", "memory_mb")
    rows = {f"{content['objects']} ({_OWN})": content, **content["growth"]}
    title = f"{content['config']['scene']}, one core, 128 x 128 {' + '.join(SENSORS)}"
    console.print(table(title, columns, [(name, *(f"{row[key]:.0f}" for key in keys)) for name, row in rows.items()]))
    walks = content["walking"]
    rates = ", ".join(f"{name} {speed:.0f} ({speed / walks['own']:.2f} x own)" for name, speed in walks.items())
    console.print(f"steps/s of cpu time while walking, by follower: {rates}")
    peer = content["peer"]
    console.print(
        f"{peer['name']}: {peer['peer_fps']:.0f} images/s where ours makes {peer['ours_fps']:.0f}; "
        f"same thing in {100 * peer['agreement']:.2f} % of pixels"
    )
    console.print(
        f"sensor_fps {content['sensor_fps']:.0f}  agent_steps_per_second {content['agent_steps_per_second']:.0f}  "
        f"memory_mb {content['memory_mb']:.0f}  peer ratio {peer['ratio']:.2f}"
    )


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
