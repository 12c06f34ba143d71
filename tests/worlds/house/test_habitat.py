"""The simulator on top of habitat-sim. Most tests are skipped if habitat-sim is not installed."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import trimesh

from housewise.core.errors import DataError, UserError
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.episode import ObjectModel
from housewise.worlds.house.geometry import IDENTITY
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.simulator import open_simulator
from housewise.worlds.house.simulator.base import ActionFollower, BodyPose, LowLevelAction, Simulator
from housewise.worlds.house.simulator.habitat import find_missing_mesh, habitat_sim
from housewise.worlds.house.simulator.mesh_files import write_glb, write_textured_glb
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from tests.worlds.house.broken_files import POINTER, write_model
from tests.worlds.house.toy import COUNTER, TABLE

BODY = BodyPose(2.0, 2.0)
SOUTH = BodyPose(2.0, 2.0, np.pi, -0.4)


def pretend(monkeypatch: pytest.MonkeyPatch, **package: object) -> None:
    """Install a fake package habitat_sim with some attributes."""
    monkeypatch.setitem(sys.modules, "habitat_sim", SimpleNamespace(**package))


def test_missing_habitat_sim_is_reported_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "habitat_sim", None)
    with pytest.raises(UserError, match=r"habitat-sim is not installed .* run conda install habitat-sim"):
        open_simulator("habitat")


def test_unsupported_builds_of_habitat_sim_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, __version__="0.2.5", built_with_bullet=True)
    with pytest.raises(UserError, match=r"0\.2\.5 is too old: 0\.3\.3 or later is needed"):
        habitat_sim()
    pretend(monkeypatch, __version__="0.3.4", built_with_bullet=False)
    with pytest.raises(UserError, match="built without Bullet"):
        habitat_sim()
    pretend(monkeypatch, __version__="0.3.3.2026.03.12", built_with_bullet=True)
    habitat_sim()


def test_a_missing_mesh_of_an_object_is_found(tmp_path: Path) -> None:
    config = tmp_path / "mug.object_config.json"
    config.write_text(json.dumps({"render_asset": "mug.glb", "collision_asset": "hull.glb"}))
    assert find_missing_mesh(config) == tmp_path / "mug.glb"
    (tmp_path / "mug.glb").touch()
    assert find_missing_mesh(config) == tmp_path / "hull.glb"
    (tmp_path / "hull.glb").touch()
    assert find_missing_mesh(config) is None
    config.write_text("[1")
    with pytest.raises(DataError, match="fetch the file again"):
        find_missing_mesh(config)


def test_mesh_files_have_both_sides_of_each_triangle(toy: RearrangementTask, tmp_path: Path) -> None:
    mesh = toy.scene.by_key[COUNTER].mesh
    write_glb(mesh, tmp_path / "a" / "counter.glb")
    written = trimesh.load(tmp_path / "a" / "counter.glb", force="mesh")
    assert len(written.faces) == 2 * len(mesh.faces)
    assert np.allclose(written.bounds, [mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)], atol=1e-6)


def test_textured_model_files_keep_the_texture_and_are_centred(tmp_path: Path) -> None:
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    box.apply_translation((5.0, 5.0, 5.0))
    box.visual = trimesh.visual.ColorVisuals(box, vertex_colors=[200, 100, 50, 255])
    box.export(tmp_path / "model.obj")
    write_textured_glb(tmp_path / "model.obj", tmp_path / "model.glb")
    written = trimesh.load(tmp_path / "model.glb", force="mesh")
    assert np.allclose(written.bounds, [[-0.5, -1.0, -1.5], [0.5, 1.0, 1.5]])


@pytest.fixture(scope="module")
def habitat() -> Iterator[Simulator]:
    pytest.importorskip("habitat_sim", reason="habitat-sim is not installed; docs/habitat.md says how to get it")
    simulator = open_simulator("habitat")
    yield simulator
    simulator.close()


def reset(simulator: Simulator, task: RearrangementTask, body: BodyPose = BODY) -> None:
    simulator.reset(task.scene, task.episode.receptacles, task.episode.objects, body)


def test_both_simulators_see_the_same_house(
    habitat: Simulator, toy: RearrangementTask, generated: RearrangementTask
) -> None:
    ours = RaycastSimulator()
    for task in (toy, generated):
        rng = np.random.default_rng(0)
        for simulator in (habitat, ours):
            reset(simulator, task)
        assert habitat.keys == ours.keys and habitat.kinds == ours.kinds
        for _ in range(10):
            x, z = task.scene.navmesh.random_point(rng)
            body = BodyPose(float(x), float(z), float(rng.uniform(-3, 3)), -0.3)
            here, there = ours.observe(body), habitat.observe(body)
            assert (here.instance == there.instance).mean() > 0.98
            assert (here.semantic == there.semantic).mean() > 0.98
            assert np.median(np.abs(here.depth - there.depth)) < 0.002
            assert there.depth.dtype == np.float32 and there.instance.dtype == np.int32
            assert np.abs(here.rgb.astype(int) - there.rgb).mean() < 30


def test_both_simulators_move_the_body_alike(habitat: Simulator, toy: RearrangementTask) -> None:
    ours = RaycastSimulator()
    for simulator in (habitat, ours):
        reset(simulator, toy)
    for action in [
        LowLevelAction.MOVE_FORWARD,
        LowLevelAction.TURN_LEFT,
        LowLevelAction.LOOK_DOWN,
        *[LowLevelAction.MOVE_FORWARD] * 12,
    ]:
        assert habitat.act(action) == ours.act(action)
        assert habitat.body == ours.body


def test_objects_can_be_carried_and_placed(habitat: Simulator, toy: RearrangementTask) -> None:
    reset(habitat, toy)
    thing = toy.episode.objects[0]
    x, _, z = thing.pose.position
    above = BodyPose(x, z + 1.0, 0.0, -0.6)
    assert thing.key in habitat.visible(above)
    habitat.move_object(thing.key, None)
    assert thing.key not in habitat.visible(above)
    habitat.move_object(thing.key, thing.pose)
    assert thing.key in habitat.visible(above)


def test_bullets_ray_hits_the_object_at_the_image_centre(habitat: Simulator, toy: RearrangementTask) -> None:
    reset(habitat, toy, SOUTH)
    habitat.stand(SOUTH)
    assert habitat.aimed_at(5.0) in {TABLE, *(thing.key for thing in toy.episode.objects)}
    assert habitat.aimed_at(0.2) is None


def test_both_simulators_play_an_episode_alike(habitat: Simulator, toy: RearrangementTask) -> None:
    envs = [RearrangementEnv(simulator, [toy]) for simulator in (habitat, RaycastSimulator())]
    for env in envs:
        env.reset()
    rng = np.random.default_rng(1)
    for action in rng.choice([1, 1, 1, 2, 3, 6], size=60):
        told = [env.step(int(action))[1:] for env in envs]
        assert told[0] == told[1]


def test_models_are_shown_and_missing_ones_have_placeholders(
    habitat: Simulator, toy: RearrangementTask, tmp_path: Path
) -> None:
    trimesh.creation.box((0.2, 0.2, 0.2)).export(tmp_path / "cube.glb")
    real, hollow = tmp_path / "cube.object_config.json", tmp_path / "ghost.object_config.json"
    real.write_text(json.dumps({"render_asset": "cube.glb", "collision_asset": "cube.glb"}))
    hollow.write_text(json.dumps({"render_asset": "ghost.glb"}))
    first, *others = toy.episode.objects
    x, _, z = first.pose.position
    body = BodyPose(x, z + 1.0, 0.0, -0.6)
    areas = []
    for config in (real, hollow, None):
        model = None if config is None else ObjectModel(config, IDENTITY)
        objects = (replace(first, model=model), *others)
        habitat.reset(toy.scene, toy.episode.receptacles, objects, BODY)
        areas.append(int((habitat.observe(body).instance == habitat.keys.index(first.key)).sum()))
    assert areas[1] == areas[2] > 0 and areas[0] > 0


def object_of(config: Path, mesh: Path) -> ObjectModel:
    """Return an object's model that consists of one mesh."""
    config.write_text(json.dumps({"render_asset": mesh.name, "collision_asset": mesh.name}))
    return ObjectModel(config, IDENTITY)


def area(simulator: Simulator, task: RearrangementTask, model: ObjectModel) -> int:
    """Return the number of pixels of the first object with a model, with a size of 0.3 m, from 1 m away."""
    first, *others = task.episode.objects
    x, _, z = first.pose.position
    shown = (replace(first, model=model, size=(0.3, 0.3, 0.3)), *others)
    simulator.reset(task.scene, task.episode.receptacles, shown, BODY)
    seen = simulator.observe(BodyPose(x, z + 1.0, 0.0, -0.6))
    return int((seen.instance == simulator.keys.index(first.key)).sum())


@pytest.mark.parametrize("units", [100.0, 304.8, 1000.0, 1e5, 0.001])
def test_models_in_all_units_have_the_size_of_the_data(
    habitat: Simulator, toy: RearrangementTask, tmp_path: Path, units: float
) -> None:
    areas = []
    for name, unit in (("metres", 1.0), ("others", units)):
        mesh = tmp_path / f"{name}.glb"
        trimesh.creation.box((0.37 * unit, 0.37 * unit, 0.37 * unit)).export(mesh)
        areas.append(area(habitat, toy, object_of(tmp_path / f"{name}.object_config.json", mesh)))
    assert areas[0] > 50 and abs(areas[1] - areas[0]) <= 0.05 * areas[0]


def test_a_model_is_loaded_once(
    habitat: Simulator, toy: RearrangementTask, generated: RearrangementTask, tmp_path: Path
) -> None:
    model = object_of(tmp_path / "box.object_config.json", write_model(tmp_path, "glb"))
    before = area(habitat, toy, model)
    for file in tmp_path.iterdir():
        file.unlink()
    reset(habitat, generated)
    assert area(habitat, toy, model) == before > 0


@pytest.mark.parametrize("kind", ["glb", "gltf", "obj", "ply"])
def test_a_damaged_model_is_reported_and_the_next_house_is_shown(
    habitat: Simulator, toy: RearrangementTask, tmp_path: Path, kind: str
) -> None:
    mesh = write_model(tmp_path, kind)
    whole = mesh.read_bytes()
    for number, content in enumerate((POINTER.encode(), b"", whole[: len(whole) // 2])):
        mesh.write_bytes(content)
        with pytest.raises(DataError, match=re.escape(str(mesh))):
            area(habitat, toy, object_of(tmp_path / f"{number}.object_config.json", mesh))
    mesh.write_bytes(whole)
    assert area(habitat, toy, object_of(tmp_path / "whole.object_config.json", mesh)) > 0


def test_a_damaged_shell_is_reported_and_the_next_house_is_shown(
    habitat: Simulator, toy: RearrangementTask, tmp_path: Path
) -> None:
    shell = tmp_path / "shell.glb"
    for content in (POINTER, ""):
        shell.write_text(content)
        with pytest.raises(DataError, match=re.escape(str(shell))):
            reset(habitat, RearrangementTask(replace(toy.scene, shell=shell), toy.episode))
    reset(habitat, toy)
    assert habitat.visible(SOUTH)


def test_a_killed_simulator_is_restarted_for_the_next_episode(toy: RearrangementTask, tmp_path: Path) -> None:
    pytest.importorskip("habitat_sim", reason="habitat-sim is not installed")
    code = """
import os, signal, sys, tempfile
from housewise.core.errors import SimulatorError
from housewise.worlds.house.env import RearrangementEnv
from housewise.worlds.house.simulator import open_simulator
from tests.worlds.house.toy import toy_task
env = RearrangementEnv(open_simulator("habitat"), [toy_task()])
env.reset()
assert os.listdir(tempfile.gettempdir())
with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children") as children:
    os.kill(int(children.read()), signal.SIGKILL)
try:
    env.step(1)
except SimulatorError as error:
    print(error)
print(os.listdir(tempfile.gettempdir()))
env.reset()
print(env.step(1)[4]["steps"])
env.close()
print(os.listdir(tempfile.gettempdir()))
"""
    env = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "the simulator's process ended (SIGKILL); a new one is started for the next episode", "[]", "1", "[]",
    ], done.stdout + done.stderr  # fmt: skip


def test_a_missing_gpu_is_reported() -> None:
    pytest.importorskip("habitat_sim", reason="habitat-sim is not installed")
    with pytest.raises(UserError, match=r"could not render.*housewise doctor"):
        open_simulator("habitat", gpu=63)


@pytest.mark.housekeep
def test_paths_on_recasts_mesh_are_equally_long(habitat: Simulator, housekeep: HousekeepData) -> None:
    scene = housekeep.scene("Merom_1_int")
    task = RearrangementTask(scene, housekeep.episode("Merom_1_int", housekeep.episode_ids("Merom_1_int")[0]))
    reset(habitat, task, BodyPose(*map(float, scene.navmesh.random_point(np.random.default_rng(0)))))
    assert type(habitat.navmesh) is not type(scene.navmesh)
    rng = np.random.default_rng(2)
    points = [scene.navmesh.random_point(rng) for _ in range(40)]
    ways = [(habitat.navmesh.distance(a, b), scene.navmesh.distance(a, b)) for a, b in pairwise(points)]
    assert np.mean([abs(there - here) <= 0.05 * here for there, here in ways]) > 0.95
    body = BodyPose(*map(float, habitat.navmesh.snap(points[0])))
    habitat.stand(body)
    assert isinstance(habitat.navmesh, ActionFollower)
    steps = 0
    while (action := habitat.navmesh.next_action(habitat.body, points[1])) is not None and steps < 300:
        habitat.act(action)
        steps += 1
    assert np.linalg.norm(habitat.body.point - habitat.navmesh.snap(points[1])) < 0.25
    broken = replace(scene, navmesh_file=Path("/nowhere.navmesh"))
    with pytest.raises(DataError, match=r"nowhere\.navmesh: habitat-sim cannot read"):
        reset(habitat, RearrangementTask(broken, task.episode))
