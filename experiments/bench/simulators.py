"""Whether the embedded simulator tells the same story as habitat-sim: both at the same places in the same houses.

    python -m housewise.experiments.bench.simulators --data HOUSEKEEP [--quick] [--json FILE] [--pictures FOLDER]

In Merom_1 and Pomaria_2, at 500 random places and headings:

* masks: intersection over union of every receptacle that fills at least 50 pixels in either picture;
* depth: the difference in pixels where both see something within range;
* visible sets: how often both see the same things, and how many of all things seen both see;
* geodesic distances between random places, on our own and on Recast's reading of the navigation mesh;
* pictures per second with colour, depth and instances, as a ratio.

Then the scripted planner plays the paper's tasks in both (``--tasks``).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import imageio.v3 as imageio
import numpy as np
import typer
from numpy.typing import NDArray
from rich.progress import track

from housewise.core.console import Console
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.core.record import Result
from housewise.core.tables import table
from housewise.experiments.quick import say_left_out
from housewise.rollout.run import Run
from housewise.rollout.scores import summarize
from housewise.systems.personalize.record import HouseRecord, read_house_records
from housewise.systems.personalize.settings import PersonalizeSettings, house_settings
from housewise.systems.personalize.system import Personalize
from housewise.systems.personalize.tasks import list_tasks, load_task
from housewise.terminal.option_values import simulator_choice
from housewise.terminal.options import GpuOption
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.simulator import SimulatorChoice, open_simulator
from housewise.worlds.house.simulator.base import BodyPose, Camera, Observation, Sensor, Simulator
from housewise.worlds.house.state import HouseState

SCENES, GENERATED = ("Merom_1_int", "Pomaria_2_int"), "generated"
SENSORS: tuple[Sensor, ...] = ("rgb", "depth", "instance")
LEAST_PIXELS = 50
POSES, QUICK_POSES = 500, 40

_PITCHES = np.deg2rad([0.0, -30.0])
_CLOSE = 0.05
_SHOWN = 4
_PHOTO = Camera(width=320, height=320)


@dataclass
class Agreement:
    """What came of two simulators at the same places, raw.

    Attributes:
        overlaps: intersection over union, for each receptacle in each picture that shows enough of it.
        depths: median absolute difference in metres, for each picture.
        same: whether both see just the same things, for each picture.
        seen: how many things both see, and how many either sees, over all pictures.
        distances: pairs of geodesic distances, metres.
        rates: pictures per second of each.
    """

    overlaps: list[float] = field(default_factory=list)
    depths: list[float] = field(default_factory=list)
    same: list[bool] = field(default_factory=list)
    seen: tuple[int, int] = (0, 0)
    distances: list[tuple[float, float]] = field(default_factory=list)
    rates: tuple[float, float] = (0.0, 0.0)

    def figures(self) -> dict[str, Any]:
        """The figures that the goals are set for, and how many observations each rests on."""
        ways = np.array([pair for pair in self.distances if np.isfinite(pair).all()]).reshape(-1, 2)
        off = np.abs(ways[:, 0] - ways[:, 1]) / np.maximum(ways[:, 1], 1e-6)
        return {
            "mask_iou": float(np.mean(self.overlaps)) if self.overlaps else 1.0,
            "masks": len(self.overlaps),
            "depth_difference": float(np.median(self.depths)) if self.depths else 0.0,
            "same_visible_set": float(np.mean(self.same)),
            "things_seen_by_both": self.seen[0] / max(self.seen[1], 1),
            "poses": len(self.same),
            "distances_close": float(np.mean(off <= _CLOSE)) if len(off) else 1.0,
            "distances": len(off),
            "pictures_per_second": self.rates[0],
            "pictures_per_second_other": self.rates[1],
            "times_faster": self.rates[0] / self.rates[1] if self.rates[1] else 0.0,
        }


def places(task: RearrangementTask, count: int, seed: int = 0) -> list[BodyPose]:
    """Random places in a house, with random headings, looking ahead or down."""
    rng = np.random.default_rng(seed)
    points = [task.scene.navmesh.random_point(rng) for _ in range(count)]
    return [
        BodyPose(float(x), float(z), float(rng.uniform(-np.pi, np.pi)), float(rng.choice(_PITCHES))) for x, z in points
    ]


def compare(first: Simulator, second: Simulator, task: RearrangementTask, poses: Sequence[BodyPose]) -> Agreement:
    """Look at a house with two simulators.

    Args:
        first: whose keys number the things.
        second: the other one; with the same sensors.
        task: the house and what stands in it at the start.
        poses: where to look from.
    """
    for simulator in (first, second):
        simulator.reset(task.scene, task.episode.receptacles, task.episode.objects, poses[0])
    agreement = Agreement(distances=list(_distances(first.navmesh, second.navmesh, poses)))
    receptacles = {number for number, key in enumerate(first.keys) if key in task.scene.by_key}
    seconds = np.zeros(2)
    for pose in poses:
        one, seconds[0] = _time_observation(first, pose, seconds[0])
        other, seconds[1] = _time_observation(second, pose, seconds[1])
        _agree(agreement, one, other, receptacles)
    agreement.rates = (len(poses) / seconds[0], len(poses) / seconds[1])
    return agreement


def _time_observation(simulator: Simulator, pose: BodyPose, before: float) -> tuple[Observation, float]:
    began = time.perf_counter()
    observation = simulator.observe(pose)
    return observation, before + time.perf_counter() - began


def _agree(agreement: Agreement, one: Observation, other: Observation, receptacles: set[int]) -> None:
    """Add what one picture of each says."""
    first, second = one.instance, other.instance
    for number in receptacles & set(np.unique(np.concatenate([first.ravel(), second.ravel()])).tolist()):
        here, there = first == number, second == number
        if max(here.sum(), there.sum()) >= LEAST_PIXELS:
            agreement.overlaps.append(float((here & there).sum() / (here | there).sum()))
    near = (one.depth < one.depth.max()) | (other.depth < other.depth.max())
    if near.any():
        agreement.depths.append(float(np.median(np.abs(one.depth - other.depth)[near])))
    here, there = set(np.unique(first)) - {0}, set(np.unique(second)) - {0}
    agreement.same.append(here == there)
    agreement.seen = (agreement.seen[0] + len(here & there), agreement.seen[1] + len(here | there))


def _distances(first: NavMesh, second: NavMesh, poses: Sequence[BodyPose]) -> Iterator[tuple[float, float]]:
    for start, end in pairwise(poses):
        yield first.distance(start.point, end.point), second.distance(start.point, end.point)


def photos(simulators: Sequence[Simulator], task: RearrangementTask, poses: Sequence[BodyPose]) -> NDArray[np.uint8]:
    """Pictures side by side: a row for each simulator, a column for each place."""
    rows = []
    for simulator in simulators:
        simulator.reset(task.scene, task.episode.receptacles, task.episode.objects, poses[0])
        rows.append(np.concatenate([simulator.observe(pose).rgb for pose in poses], axis=1))
    return np.concatenate(rows, axis=0)


def interesting(task: RearrangementTask, poses: Sequence[BodyPose], simulator: Simulator) -> list[BodyPose]:
    """The places from which most things are in view."""
    simulator.reset(task.scene, task.episode.receptacles, task.episode.objects, poses[0])
    world = HouseState(task.scene, task.episode, simulator)
    seen = {pose: len(simulator.visible(pose) & set(world.objects)) for pose in poses}
    return sorted(poses, key=lambda pose: -seen[pose])[:_SHOWN]


def first_task(data: Path | None, scene: str) -> RearrangementTask:
    """The first test of a scene of the data, or generated house 3."""
    if data is None:
        config = house_settings(settings={"houses": 1, "seed": 3})
    else:
        config = house_settings(settings={"data": str(data), "scenes": [scene], "episodes": "test"})
    return load_task(list_tasks(config.tasks)[0], config.tasks)


def main(
    data: Annotated[
        Path | None, typer.Option(envvar="HOUSEKEEP_DATA", help="Housekeep folder; without it a generated house.")
    ] = None,
    against: Annotated[str, typer.Option(help="The other simulator.")] = "habitat",
    gpu: GpuOption = None,
    seed: Annotated[int, typer.Option(help="Of the places.")] = 0,
    tasks: Annotated[bool, typer.Option(help="Also let the scripted planner play the paper's tasks in both.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help=f"{QUICK_POSES} places instead of {POSES}.")] = False,
    pictures: Annotated[Path | None, typer.Option(help="Folder for pictures of both, side by side.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the figures there.")
    ] = None,
) -> None:
    """Compare the embedded simulator with habitat-sim.

    Examples:

      python -m housewise.experiments.bench.simulators --data ~/housekeep --pictures pictures

      python -m housewise.experiments.bench.simulators --data ~/housekeep --tasks --json simulators.json
    """
    console, made = Console(), provenance()
    say_left_out(quick, f"{QUICK_POSES} places in place of {POSES}, the test tasks alone")
    other_one = simulator_choice(against, gpu)
    scenes = SCENES if data else (GENERATED,)
    content: dict[str, Any] = {"scenes": {}}
    ours, other = open_simulator("raycast", SENSORS), open_simulator(other_one, SENSORS)
    try:
        for scene in track(scenes, "scenes", console=console, transient=True):
            task = first_task(data, scene)
            poses = places(task, QUICK_POSES if quick else POSES, seed)
            content["scenes"][scene] = compare(ours, other, task, poses).figures()
            if pictures is not None:
                _save(pictures / f"{scene}.png", task, interesting(task, poses, ours), other_one)
    finally:
        other.close()
    if tasks:
        content["tasks"] = _tasks(data, other_one, quick, console)
    _show(console, content, other_one.name)
    if json_file is not None:
        setup = {"seed": seed, "quick": quick, "against": other_one.name, **made}
        write_json(json_file, {**content, **setup})


def _save(path: Path, task: RearrangementTask, poses: Sequence[BodyPose], against: SimulatorChoice) -> None:
    ours, other = open_simulator("raycast", ("rgb",), _PHOTO), open_simulator(against, ("rgb",), _PHOTO)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        imageio.imwrite(path, photos([ours, other], task, poses))
    finally:
        other.close()


def _tasks(data: Path | None, against: SimulatorChoice, quick: bool, console: Console) -> dict[str, Any]:
    """What the scripted planner makes of the paper's tasks, or of generated houses, in each simulator."""
    found: dict[str, Any] = {}
    for simulator in ("raycast", against.name):
        played: dict[str, list[Result]] = {}
        for group, config in _runs(data, quick):
            records = _play_tasks(config.with_changes(simulator=simulator, gpu=against.gpu), console)
            played.setdefault(group, []).extend(record.result for record in records)
        rows = {group: summarize(results, Personalize.scores) for group, results in played.items()}
        means = {group: 100 * row["success_rate"] for group, row in rows.items()}
        found[simulator] = {"success_rate": means, "by_group": rows}
    return found


def _runs(data: Path | None, quick: bool) -> Iterator[tuple[str, PersonalizeSettings]]:
    """The scenes' tasks, or a few generated houses."""
    scripted = {"planner": "scripted"}
    if data is None:
        yield GENERATED, house_settings(settings={**scripted, "houses": 2 if quick else 5})
        return
    for scene in SCENES:
        for task_set in ("test",) if quick else ("test", "train"):
            wanted = {"data": str(data), "scenes": [scene], "episodes": task_set}
            yield scene, house_settings(settings={**scripted, **wanted})


def _play_tasks(config: PersonalizeSettings, console: Console) -> list[HouseRecord]:
    with TemporaryDirectory() as folder, console.status(f"tasks in {config.world.simulator}"):
        Run(Personalize(config), Path(folder)).play()
        return list(read_house_records(Path(folder) / "episodes"))


def _show(console: Console, content: dict[str, Any], name: str) -> None:
    rows = [
        (
            scene,
            f"{row['mask_iou']:.3f}",
            f"{100 * row['depth_difference']:.2f}",
            f"{100 * row['same_visible_set']:.1f}",
            f"{100 * row['things_seen_by_both']:.1f}",
            f"{100 * row['distances_close']:.1f}",
            f"{row['pictures_per_second']:.0f}",
            f"{row['pictures_per_second_other']:.0f}",
            f"{row['times_faster']:.1f}",
        )
        for scene, row in content["scenes"].items()
    ]
    columns = ("scene", "IoU", "cm", "same %", "both %", "ways %", "raycast/s", f"{name}/s", "x")
    console.print(table(f"raycast and {name}", columns, rows))
    for simulator, figures in content.get("tasks", {}).items():
        rates = "  ".join(f"{scene} {rate:.2f}" for scene, rate in figures["success_rate"].items())
        console.print(f"scripted planner in {simulator}: success_rate {rates}", soft_wrap=True)


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
