"""Invalid values of damaged or hostile data files are refused in one line, at once and without using much memory."""

import gzip
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from housewise.core.errors import DataError
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.geometry import Pose
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.housekeep.navmesh_file import read_navmesh
from housewise.worlds.house.housekeep.obj_models import read_obj_model
from housewise.worlds.house.simulator.base import BodyPose
from housewise.worlds.house.simulator.embree import Triangles
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from tests.commands import run_module
from tests.worlds.house.housekeep_folder import (
    BED,
    EPISODES,
    METADATA,
    MODELS,
    NAVMESH,
    SCENE,
    box_obj,
    change_episodes,
    episode,
    make_folder,
    read_all,
    write_episodes,
)
from tests.worlds.house.navmesh_file import Corner, pack_navmesh, rectangle
from tests.worlds.house.refusals import refusal

INFINITE, NAN = float("inf"), float("nan")
UNIT = [0.0, 0.0, 0.0, 1.0]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "housekeep")


def spoil(field: str) -> Callable[[dict[str, Any]], None]:
    return lambda raw: raw.pop(field)


def put(field: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda raw: raw.update({field: value})


def packer(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda raw: raw["recs_packers"][BED].update(changes)


def row(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda raw: raw["recs_packers"][BED]["shelves"][0].update(changes)


def match(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda raw: raw["recs_packers"][BED]["matches"][0].update(changes)


def footprint(size: list[float]) -> Callable[[dict[str, Any]], None]:
    return lambda raw: raw["recs_packers"][BED]["matches"][0]["rect"].update(size=size)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (spoil("objs_pos"), "objs_pos"),
        (spoil("recs_keys"), "recs_keys"),
        (spoil("start_matrix"), "start_matrix"),
        (put("start_rotation", [0.0, INFINITE, 0.0, 1.0]), "start_rotation"),
        (put("start_rotation", [0.0, NAN, 0.0, 1.0]), "start_rotation"),
        (put("start_rotation", [0.0, 0.0, 0.0, 0.0]), "start_rotation"),
        (put("start_rotation", [0.0, 0.0, 0.0, 1e-200]), "start_rotation"),
        (put("start_rotation", [1.0, 1.0, 1.0, 1.0]), "start_rotation"),
        (put("start_position", [1.0, 2.0]), "start_position"),
        (put("start_position", [NAN, 0.2, 2.0]), "start_position"),
        (put("start_position", [2.0, INFINITE, 2.0]), "start_position"),
        (put("start_position", [1e9, 0.2, 2.0]), "start_position"),
        (put("objs_pos", [[0.0, NAN, 0.0], [0.0, 0.0, 0.0]]), "objs_pos"),
        (put("objs_pos", [[0.0, 0.0, -1e9], [0.0, 0.0, 0.0]]), "objs_pos"),
        (put("objs_rot", [[0.0, 0.0, 0.0, 0.0], UNIT]), "objs_rot"),
        (put("objs_rot", [[NAN, 0.0, 0.0, 1.0], UNIT]), "objs_rot"),
        (put("start_matrix", [[0.0, 0.0], [0.0, NAN], [1.0, 0.0]]), "start_matrix"),
        (put("end_matrix", [[0.0, 0.0], [0.0, -INFINITE], [1.0, 0.0]]), "end_matrix"),
        (lambda raw: raw["start_matrix"].pop(), "matrix"),
        (lambda raw: raw["end_matrix"].append(raw["end_matrix"][0]), "matrix"),
        (lambda raw: raw["end_matrix"][0].pop(), "matrix"),
        (lambda raw: raw["end_matrix"][0].append(1.0), "matrix"),
        (lambda raw: [places.pop() for places in raw["start_matrix"]], "matrix"),
        (lambda raw: raw["start_matrix"][0].__setitem__(0, "yes"), "start_matrix"),
        (lambda raw: [places.__setitem__(0, 0.0) for places in raw["start_matrix"]], "stands on 0 receptacles"),
        (lambda raw: [places.__setitem__(0, 1.0) for places in raw["start_matrix"]], "receptacles, not one"),
        (put("recs_packers", None), "recs_packers"),
        (put("recs_packers", []), "recs_packers"),
        (packer(size=[INFINITE, 1.0]), "recs_packers"),
        (packer(size=[-1.0, 1.0]), "recs_packers"),
        (packer(bottom_left=[NAN, 1.0]), "recs_packers"),
        (lambda raw: raw["recs_packers"][BED].pop("shelves"), "recs_packers"),
        (row(max_height=INFINITE), "recs_packers"),
        (row(size=[1e12, 1.0]), "recs_packers"),
        (row(spaces=[{"kind": "occupied", "dims": [0.0, NAN]}]), "recs_packers"),
        (match(shelf_idx=7), "recs_packers"),
        (match(space_idx=-3), "recs_packers"),
        (footprint([0.0, 1.0]), "recs_packers"),
        (footprint([1e9, 1.0]), "recs_packers"),
        (put("recs_keys", []), "recs_keys"),
        (lambda raw: raw["recs_keys"].__setitem__(0, raw["recs_keys"][1]), "recs_keys"),
        (lambda raw: raw["recs_keys"].append("attic_0-trunk_1_0.urdf"), "attic_0-trunk_1_0.urdf"),
        (put("objs_keys", 5), "objs_keys"),
        (lambda raw: raw["objs_keys"].__setitem__(1, raw["objs_keys"][0]), "objs_keys"),
        (put("objs_keys", ["robot", "saute_pan_1"]), "objs_keys"),
        (put("objs_keys", ["house", "saute_pan_1"]), "objs_keys"),
        (put("objs_keys", ["kitchen_0", "saute_pan_1"]), "objs_keys"),
        (put("objs_keys", ["bedroom_0_bed_3", "saute_pan_1"]), "objs_keys"),
        (put("objs_keys", ["saute pan_1", "saute_pan_1"]), "objs_keys"),
        (put("objs_keys", ["mug_\ud800", "saute_pan_1"]), "objs_keys"),
        (put("objs_keys", ["mug\n_1", "saute_pan_1"]), "objs_keys"),
        (put("objs_keys", ["m" * 10_000, "saute_pan_1"]), "objs_keys"),
        (put("objs_keys", ["_ ", "saute_pan_1"]), "objs_keys"),
        (lambda raw: raw["objs_cats"].pop(), "objs_cats"),
        (lambda raw: raw["objs_pos"].pop(), "objs_pos"),
        (put("objs_cats", ["mug\udfff", "saute_pan"]), "objs_cats"),
        (put("objs_files", ["mug\0.json", "pan.json"]), "objs_files"),
        (put("objs_files", ["m" * 300, "pan.json"]), "objs_files"),
        (put("objs_files", ["\ud800.json", "pan.json"]), "objs_files"),
        (put("recs_packers", {"\ud800" * 9999: 7}), "recs_packers"),
    ],
)
def test_a_bad_value_in_an_episode_is_refused_with_its_field(
    root: Path, change: Callable[[dict[str, Any]], None], field: str
) -> None:
    change_episodes(root / EPISODES, change)
    assert field in refusal(lambda: HousekeepData(root).episode(SCENE, 3), root / EPISODES)
    assert field in refusal(lambda: read_all(root), root / EPISODES)


@pytest.mark.parametrize("number", [INFINITE, -INFINITE, NAN, None, "three", [3], {}, "9" * 5000])
def test_an_episode_with_an_invalid_id_is_refused(root: Path, number: Any) -> None:
    write_episodes(root / EPISODES, {"episodes": [episode(12), {**episode(3), "episode_id": number}]})
    refusal(lambda: HousekeepData(root).episode_ids(SCENE), root / EPISODES)


@pytest.mark.parametrize("number", [-1, 10**20])
def test_an_episode_with_an_unlikely_id_does_not_affect_others(root: Path, number: int) -> None:
    write_episodes(root / EPISODES, {"episodes": [{**episode(3), "episode_id": number}, episode(12)]})
    data = HousekeepData(root)
    assert data.episode(SCENE, 12).id == 12
    assert "episode_id" in refusal(lambda: data.episode(SCENE, number), root / EPISODES)


BED_LINE = "  bed_3_0.urdf: {room: bedroom_0, pos: [7.1, 0.25, 0.8], rot: [0.0, 0.0, 0.0, 1.0]}"


@pytest.mark.parametrize(
    "line",
    [
        "  bed_3_0.urdf: {room: bedroom_0, pos: [1.0e9, 0.25, 0.8], rot: [0.0, 0.0, 0.0, 1.0]}",
        "  bed_3_0.urdf: {room: bedroom_0, pos: [.nan, 0.25, 0.8], rot: [0.0, 0.0, 0.0, 1.0]}",
        "  bed_3_0.urdf: {room: bedroom_0, pos: [7.1, .inf, 0.8], rot: [0.0, 0.0, 0.0, 1.0]}",
        "  bed_3_0.urdf: {room: bedroom_0, pos: [7.1, 0.25, 0.8], rot: [0.0, .nan, 0.0, 1.0]}",
        "  bed_3_0.urdf: {room: bedroom_0, pos: [7.1, 0.25, 0.8], rot: [0.0, 0.0, 0.0, 1.0e-30]}",
        '  "../../bed_3_0.urdf": {room: bedroom_0, pos: [7.1, 0.25, 0.8], rot: [0.0, 0.0, 0.0, 1.0]}',
        '  "bed\\u0007_3_0.urdf": {room: bedroom_0, pos: [7.1, 0.25, 0.8], rot: [0.0, 0.0, 0.0, 1.0]}',
        '  bed_3_0.urdf: {room: "bed\\u001b_0", pos: [7.1, 0.25, 0.8], rot: [0.0, 0.0, 0.0, 1.0]}',
        "  bed_3_0.urdf: {room: robot, pos: [7.1, 0.25, 0.8], rot: [0.0, 0.0, 0.0, 1.0]}",
        BED_LINE + "\n  bed_3_1.urdf: {room: bedroom_0, pos: [7.1, 0.25, 0.8], rot: [0.0, 0.0, 0.0, 1.0]}",
    ],
)
def test_a_bad_value_in_the_metadata_is_refused(root: Path, line: str) -> None:
    path = root / METADATA
    assert BED_LINE in path.read_text()
    path.write_text(path.read_text().replace(BED_LINE, line))
    refusal(lambda: HousekeepData(root).scene(SCENE), path)


@pytest.mark.parametrize("vertex", ["1e6 0 0", "0 -1e30 0", "nan 0 0", "0 inf 0"])
def test_a_model_with_a_distant_vertex_is_refused(root: Path, vertex: str) -> None:
    path = root / MODELS / SCENE / "bed_3_0" / "model.obj"
    path.write_text(box_obj((1.0, 1.0, 1.0)) + f"v {vertex}\nf 1 2 9\n")
    refusal(lambda: HousekeepData(root).scene(SCENE), path)


def test_a_house_at_the_size_limit_is_read(root: Path) -> None:
    path = root / METADATA
    path.write_text(path.read_text().replace(BED_LINE, BED_LINE.replace("7.1", "-99.0")))
    assert len(HousekeepData(root).scene(SCENE).structure.faces) < 1_000_000


def test_an_archive_that_unpacks_to_far_more_is_refused(root: Path) -> None:
    """Without the limit, the 3 MB would become 3 GB."""
    path = root / EPISODES
    path.write_bytes(gzip.compress(bytes(1 << 26), 9) * 48)
    assert path.stat().st_size < 4_000_000
    code = (
        "import resource, sys\n"
        "from housewise.core.errors import DataError\n"
        "from housewise.worlds.house.housekeep.housekeep_data import HousekeepData\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "try:\n    HousekeepData(sys.argv[1]).episode_ids(sys.argv[2])\n"
        "except DataError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(root), SCENE], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith(f"{path}: damaged or incomplete (it unpacks to more than "), done.stderr[-300:]


def header_at(field: int, value: int) -> Callable[[bytes], bytes]:
    """Return a function that changes one of the counts in the first tile's header."""
    start = struct.calcsize("<4sii5f2i") + 8 + struct.calcsize("<4s4iI") + 4 * field
    return lambda content: content[:start] + struct.pack("<i", value) + content[start + 4 :]


@pytest.mark.parametrize(
    "change", [header_at(field, value) for field in range(6) for value in (-1, -(2**31), 2**31 - 1)]
)
def test_forged_counts_in_a_navigation_mesh_allocate_no_memory(root: Path, change: Callable[[bytes], bytes]) -> None:
    path = root / NAVMESH
    content = path.read_bytes()
    assert change(content) != content
    path.write_bytes(change(content))
    refusal(lambda: read_navmesh(path), path)


@pytest.mark.parametrize(
    "polygons",
    [
        [rectangle(0, 0, 5e3, 5e3)],
        [rectangle(0, 0, 3, 3), rectangle(3, 0, 9e9, 3)],
        [rectangle(0, 0, 1e-3, 99), rectangle(1e-3, 0, 99, 1e-3)],
    ],
    ids=["large", "far", "narrow"],
)
def test_a_navigation_mesh_without_a_floor_is_refused(root: Path, polygons: Any) -> None:
    path = root / NAVMESH
    path.write_bytes(pack_navmesh(polygons))
    refusal(lambda: read_navmesh(path), path)


def test_a_floor_with_too_many_corners_is_refused(root: Path) -> None:
    path = root / NAVMESH
    comb = [rectangle(x / 50, 0, (x + 0.5) / 50, 3) for x in range(1200)]
    bar = [rectangle(x / 50, 3, (x + 1) / 50, 3.5) for x in range(1200)]
    path.write_bytes(chained([*bar, *comb]))
    assert "corners" in refusal(lambda: read_navmesh(path), path)


def chained(polygons: list[list[Corner]]) -> bytes:
    """Return a navigation mesh of a chain of neighbouring quadrilaterals at any positions."""
    corners = [corner for polygon in polygons for corner in polygon]
    records, details, triangles = b"", b"", b""
    for number in range(len(polygons)):
        first, last = number == 0, number == len(polygons) - 1
        neighbours = [0 if last else number + 2, 0 if first else number, 0, 0, 0, 0]
        records += struct.pack("<I6H6HHBB", 0, *range(4 * number, 4 * number + 4), 0, 0, *neighbours, 1, 4, 0)
        details += struct.pack("<IIBBH", 0, 2 * number, 0, 2, 0)
        triangles += bytes((0, 1, 2, 0, 0, 2, 3, 0))
    vertices = b"".join(struct.pack("<3f", *corner) for corner in corners)
    counts = (len(polygons), len(corners), 0, len(polygons), 0, 2 * len(polygons), 0, 0, len(polygons))
    header = struct.pack("<4s4iI9i3f3f3ff", b"VAND", 7, 0, 0, 0, 0, *counts, 1.5, 0.2, 0.2, *[0.0] * 6, 20.0)
    tile = header + vertices + records + details + triangles
    return struct.pack("<4sii5f2i", b"TESM", 1, 1, *[0.0] * 5, 1, 64) + struct.pack("<II", 1, len(tile)) + tile


@pytest.mark.parametrize("position", [(NAN, 0.0, 0.0), (0.0, INFINITE, 0.0)])
def test_positions_of_poses_are_finite(position: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="not a pose"):
        Pose(position)


@pytest.mark.parametrize("rotation", [(0.0, 0.0, 0.0, 0.0), (NAN, 0.0, 0.0, 1.0), (0.0, 0.0, -INFINITE, 1.0)])
def test_rotations_of_poses_are_finite_and_nonzero(rotation: tuple[float, float, float, float]) -> None:
    with pytest.raises(ValueError, match="not a pose"):
        Pose((0.0, 0.0, 0.0), rotation)


NOWHERE = [BodyPose(NAN, 1.0), BodyPose(1.0, INFINITE), BodyPose(1.0, 1e39)]


@pytest.mark.parametrize("body", [*NOWHERE, BodyPose(1.0, 1.0, NAN), BodyPose(1.0, 1.0, 0.0, INFINITE)])
def test_camera_poses_that_are_not_finite_are_refused(toy: RearrangementTask, body: BodyPose) -> None:
    """Embree would not return from tracing such rays."""
    env = RearrangementEnv(RaycastSimulator(), [toy])
    env.reset()
    with pytest.raises(ValueError, match="pose of the camera is not finite"), np.errstate(all="ignore"):
        env.simulator.observe(body)


def test_triangles_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        Triangles([[0, 0, 0], [1, 0, 0], [0, NAN, 0]], [[0, 1, 2]], 0)


def test_a_run_of_an_invalid_episode_is_refused_at_once(root: Path, tmp_path: Path) -> None:
    change_episodes(root / EPISODES, put("start_rotation", [0.0, INFINITE, 0.0, 1.0]))
    command = ["run", "--data", root, "--scene", SCENE, "--episodes", "3", "--planner", "scripted"]
    done = run_module("housewise.cli", [*command, "--out", tmp_path / "run"], timeout=120)
    assert done.returncode != 0 and "Traceback" not in done.stdout + done.stderr
    assert "start_rotation" in " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize("vertex", ["v 1 2", "v 1", "v"])
def test_vertices_without_three_coordinates_are_refused(tmp_path: Path, vertex: str) -> None:
    path = tmp_path / "model.obj"
    path.write_text("".join(f"{vertex}\n" for _ in range(3)) + "f 1 2 3\n")
    with pytest.raises(DataError, match=r"model\.obj: (not a readable OBJ model|the model has no triangles)"):
        read_obj_model(path)


@pytest.mark.parametrize("name", ["colours.png", "model.mtl", "model.obj"])
def test_pipes_in_place_of_textures_are_not_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "model.obj"
    path.write_text("mtllib model.mtl\nusemtl wood\n" + box_obj((1.0, 1.0, 1.0)))
    (tmp_path / "model.mtl").write_text("newmtl wood\nKd 1 0 0\nmap_Kd colours.png\n")
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError, match=rf"{name}: cannot be read \(not a regular file"):
        read_obj_model(path)
