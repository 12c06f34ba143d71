"""Writes a small Housekeep folder: one scene of two rooms, one episode, and annotations."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from tests.worlds.house.navmesh_file import rectangle, write_navmesh

SCENE = "Toy_int"
ASSETS = "data/scene_datasets/igibson/assets"
MODELS = "data/scene_datasets/igibson/assets_assemble"
NAVMESH = f"data/scene_datasets/igibson/scenes/{SCENE}_approx.navmesh"
EPISODES = f"data/datasets/cos_eor_v11_pruned/train/{SCENE}.json.gz"
METADATA = f"{ASSETS}/{SCENE}/metadata_assembled.yaml"
DOORS = f"{ASSETS}/{SCENE}/metadata_v2_readjusted_with_outer_doors_v2.yaml"
ANNOTATIONS = "cos_eor/scripts/orm/amt_data/data.npy"

COUNTER = "kitchen_0-counter_1_0.urdf"
STOVE = "kitchen_0-stove_2_0.urdf"
BED = "bedroom_0-bed_3_0.urdf"

_METADATA = """\
default_mapping:
- !!python/tuple
  - plant_6_0.urdf
  - counter_1_0.urdf
urdfs:
  counter_1_0.urdf: {room: kitchen_0, pos: [0.3, 0.45, 2.0], rot: [0.0, 0.0, 0.0, 1.0], type: receptacle}
  stove_2_0.urdf: {room: kitchen_0, pos: [0.4, 0.45, 3.6], rot: [-0.5, 0.5, 0.5, 0.5]}
  bed_3_0.urdf: {room: bedroom_0, pos: [7.1, 0.25, 0.8], rot: [0.0, 0.0, 0.0, 1.0]}
  picture_4_0.urdf: {room: bedroom_0, pos: [6.0, 1.5, 4.0], rot: [0.0, 0.0, 0.0, 1.0]}
  plant_6_0.urdf: {room: kitchen_0, pos: [0.3, 1.4, 2.0], rot: [0.0, 0.0, 0.0, 1.0]}
"""

_DOORS = """\
urdfs:
  door_5_0.urdf: {room: null, pos: [4.05, 1.0, 2.0], rot: [0.0, 0.0, 0.0, 1.0]}
  counter_1_0.urdf: {room: kitchen_0, pos: [9.0, 9.0, 9.0], rot: [0.0, 0.0, 0.0, 1.0]}
"""

_SIZES = {
    "counter_1_0": (0.6, 0.9, 2.0),
    "bed_3_0": (2.0, 0.5, 1.6),
    "picture_4_0": (0.5, 0.4, 0.02),
    "door_5_0": (0.1, 2.0, 1.0),
}


def make_folder(root: Path) -> Path:
    """Write the folder. The stove has no model, as in the public copy of the data."""
    _write(root / METADATA, _METADATA)
    _write(root / DOORS, _DOORS)
    for name, size in _SIZES.items():
        _write(root / MODELS / SCENE / name / "model.obj", box_obj(size))
    # In Detour, neighbours share whole edges, so the rooms are cut where the door's edges meet them.
    floor = [
        *[rectangle(0.8, low, 3.8, high) for low, high in ((0.2, 1.8), (1.8, 2.3), (2.3, 3.8))],
        rectangle(3.8, 1.8, 4.3, 2.3),
        *[rectangle(4.3, low, 7.9, high) for low, high in ((1.8, 2.3), (2.3, 3.8))],
    ]
    write_navmesh(root / NAVMESH, floor)
    write_episodes(root / EPISODES, {"episodes": [episode(3), episode(12)]})
    write_annotations(root / ANNOTATIONS)
    return root


def episode(number: int) -> dict[str, Any]:
    """Return an episode in the format of the data: a misplaced mug on the bed, and a pan on the stove."""
    return {
        "episode_id": number,
        "scene_id": f"data/scene_datasets/igibson/scenes/{SCENE}.glb",
        "start_position": [2.0, 0.2, 2.0],
        "start_rotation": [0.0, 0.0, 0.0, 1.0],
        "recs_keys": [COUNTER, STOVE, BED],
        "objs_keys": ["mug_1", "saute_pan_1"],
        "objs_cats": ["mug", "saute_pan"],
        "objs_pos": [[6.163, 0.56, 0.051], [0.253, 0.94, 3.351]],
        "objs_rot": [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]],
        "start_matrix": [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]],
        "end_matrix": [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]],
        "recs_packers": {
            BED: _packer((6.1, 0.0), (2.0, 1.6), "mug_1", (0.12, 0.1)),
            STOVE: _packer((0.1, 3.2), (0.6, 0.8), "saute_pan_1", (0.3, 0.3)),
        },
    }


def write_episodes(path: Path, content: Any) -> None:
    """Write an episode file with any JSON content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(json.dumps(content).encode()))


def change_episodes(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the first episode of a file by a function."""
    content = json.loads(gzip.decompress(path.read_bytes()))
    change(content["episodes"][0])
    write_episodes(path, content)


def read_all(root: Path) -> None:
    """Read everything that a run of the first episode needs."""
    data = HousekeepData(root)
    data.scene(SCENE)
    data.episode(SCENE, 3)


def write_annotations(path: Path) -> None:
    """Write annotations of ten people: six want mugs on the counter, four on the bed; five want pans on the bed, all
    on the stove."""
    ranks = np.zeros((3, 2, 10), dtype=np.int64)
    ranks[0, 0] = [-1, -2, -1, -1, 1, 2, 1, 1, 3, 1]
    ranks[1, 1] = 1
    ranks[2, 0, :4] = 1
    ranks[2, 1, :5] = 1
    data = {
        "room_receptacles": ["kitchen|counter", "kitchen|stove", "bedroom|bed"],
        "objects": ["mug", "saute_pan"],
        "ranks": ranks,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, np.array(data, dtype=object), allow_pickle=True)


def box_obj(size: tuple[float, float, float]) -> str:
    """Return an OBJ file of a box that is not centred, as in the data."""
    corners = [(x * size[0] + 3, y * size[1] - 1, z * size[2]) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    return "\n".join(["v " + " ".join(map(str, corner)) for corner in corners] + [f"f {face}" for face in faces]) + "\n"


def _packer(low: tuple[float, float], size: tuple[float, float], key: str, foot: tuple[float, float]) -> dict[str, Any]:
    cut = low[0] + 0.003 + foot[0] + 0.002
    spaces = [{"kind": "occupied", "dims": [low[0], cut]}, {"kind": "free", "dims": [cut, low[0] + size[0]]}]
    shelf = {"size": [size[0], foot[1] + 0.002], "bottom_left": list(low), "max_height": size[1], "spaces": spaces}
    rect = {"id": key, "size": list(foot), "bottom_left": list(low)}
    matches = [{"rect": rect, "space_idx": 0, "shelf_idx": 0}]
    return {"shelves": [shelf], "bottom_left": list(low), "size": list(size), "matches": matches}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
