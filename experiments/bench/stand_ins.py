"""What stand-ins look like: a house with its walls and a model of an object, without the walls, without the model.

    python -m housewise.experiments.bench.stand_ins [--simulator habitat] [--out stand_ins.png]

The house is a generated one. Its own walls play the part of a scene's shell; those inferred from where the robot can
walk stand in for it, as they do for Housekeep scenes that come without one. A mug made of rings plays the part of an
object's model.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import imageio.v3 as imageio
import numpy as np
import trimesh
import typer
from numpy.typing import NDArray

from housewise.core.console import Console
from housewise.terminal.option_values import simulator_choice
from housewise.terminal.options import GpuOption, SimulatorOption
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.episode import HouseObject, ObjectModel
from housewise.worlds.house.geometry import IDENTITY, Pose
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator import open_simulator
from housewise.worlds.house.simulator.base import BodyPose, Camera, Simulator
from housewise.worlds.house.tasks import generated_task
from housewise.worlds.house.wall_inference import build_walls, infer_free_floor

HOUSE = 3
_CAMERA = Camera(width=360, height=300, above_floor=1.5)
_MUG = (0.24, 0.2, 0.18)
_FAR, _NEAR = 2.2, 0.75


def mug(folder: Path) -> ObjectModel:
    """Write a model of a mug, and the configuration that names it."""
    cup = trimesh.creation.annulus(0.07, 0.085, 0.2)
    floor = trimesh.creation.cylinder(0.08, 0.01, transform=trimesh.transformations.translation_matrix([0, 0, -0.095]))
    handle = trimesh.creation.torus(0.055, 0.014)
    handle.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, [1, 0, 0]))
    handle.apply_translation([0.1, 0, 0])
    whole = trimesh.util.concatenate([cup, floor, handle])
    whole.apply_transform(trimesh.transformations.rotation_matrix(-np.pi / 2, [1, 0, 0]))
    whole.visual = trimesh.visual.ColorVisuals(whole, vertex_colors=np.array([178, 62, 48, 255], dtype=np.uint8))
    folder.mkdir(parents=True, exist_ok=True)
    whole.export(folder / "mug.glb")
    config = folder / "mug.object_config.json"
    config.write_text(json.dumps({"render_asset": "mug.glb", "collision_asset": "mug.glb"}), encoding="utf-8")
    return ObjectModel(config, IDENTITY)


def without_shell(scene: Scene) -> Scene:
    """The same house with walls and floor worked out from where the robot can walk."""
    walls = build_walls(infer_free_floor(scene.navmesh.area, [thing.box for thing in scene.receptacles]))
    return replace(scene, structure=walls)


def on_a_table(task: RearrangementTask, model: ObjectModel | None) -> tuple[HouseObject, list[BodyPose]]:
    """A mug on the house's first table that can be stood at, and places to look at it from: far and near."""
    tables = [thing for thing in task.scene.receptacles if thing.kind in ("table", "coffee table", "counter")]
    table, navmesh = tables[0], task.scene.navmesh
    x, _, z = table.box.centre
    pose = Pose((x, table.box.top + _MUG[1] / 2, z))
    thing = HouseObject("mug_1", "mug 1", "mug", _MUG, pose, table.key, frozenset(), model)
    order = np.argsort(np.linalg.norm(navmesh.viewpoints - np.array([x, z]), axis=1))
    gaps = np.linalg.norm(navmesh.viewpoints[order] - np.array([x, z]), axis=1)
    spots = [navmesh.viewpoints[order[int(np.searchsorted(gaps, far))]] for far in (_FAR, gaps[0] + 0.05)]
    return thing, [_towards(spot, pose) for spot in spots]


def _towards(spot: NDArray[np.float64], aim: Pose) -> BodyPose:
    across = np.array(aim.position)[[0, 2]] - spot
    rise = aim.position[1] - _CAMERA.above_floor
    pitch = float(np.arctan2(rise, np.linalg.norm(across)))
    return BodyPose(float(spot[0]), float(spot[1]), float(np.arctan2(-across[0], -across[1])), pitch)


def pictures(simulator: Simulator, folder: Path) -> NDArray[np.uint8]:
    """A column each for the whole house, for it without its walls, and without the model; from far and near."""
    task = generated_task(HOUSE)
    thing, bodies = on_a_table(task, mug(folder))
    bare = replace(thing, model=None)
    columns = [(task.scene, thing), (without_shell(task.scene), thing), (task.scene, bare)]
    return np.concatenate([_column(simulator, scene, task, one, bodies) for scene, one in columns], axis=1)


def _column(
    simulator: Simulator, scene: Scene, task: RearrangementTask, thing: HouseObject, bodies: Sequence[BodyPose]
) -> NDArray[np.uint8]:
    simulator.reset(scene, task.episode.receptacles, (thing,), bodies[0])
    return np.concatenate([simulator.observe(body).rgb for body in bodies], axis=0)


def main(
    simulator: SimulatorOption = "habitat",
    gpu: GpuOption = None,
    out: Annotated[Path, typer.Option(help="The picture.")] = Path("stand_ins.png"),
) -> None:
    """Draw a house whole, without its shell, and without an object's model, side by side."""
    chosen = simulator_choice(simulator, gpu)
    shown = open_simulator(chosen, ("rgb",), _CAMERA)
    try:
        with TemporaryDirectory() as folder:
            out.parent.mkdir(parents=True, exist_ok=True)
            imageio.imwrite(out, pictures(shown, Path(folder)))
    finally:
        shown.close()
    Console().print(f"written: {out}", soft_wrap=True)


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
