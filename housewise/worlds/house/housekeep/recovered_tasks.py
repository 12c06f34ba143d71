"""Writes Housekeep episodes from recovered tasks, for which the placements are known but the poses are not.

The public copy of Housekeep lacks the episodes of two scenes of LLM-Personalize. The published logs have the initial
and the correct receptacles of all objects. From a JSON file of these, this module writes episodes in Housekeep's
format: objects have the usual size of their category and are packed on their receptacles, and the start of the robot is
drawn at random. If a task names neither a cabinet nor a shelf, these kinds were absent in its episode. An example of
such a file:

    {"scenes": {"Rs_int": [{"set": "test", "start": {"vase 1": "bathroom 0 toilet 30"},
                            "correct": {"vase 1": ["living room 0 table 18"]}}]}}
"""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer
from pydantic import BaseModel

from housewise.core.errors import DataError
from housewise.core.exit_codes import run_cli
from housewise.core.files import find_paths, write_bytes
from housewise.core.validation import read_model
from housewise.worlds.house.episode import ShelfState
from housewise.worlds.house.geometry import Vec3
from housewise.worlds.house.housekeep.housekeep_data import EPISODES, OPTIONAL_RECEPTACLE_KINDS, HousekeepData
from housewise.worlds.house.scene import Receptacle, Scene
from housewise.worlds.house.shelf_packing import ShelfPacker

_USUAL_SIZE: Vec3 = (0.1, 0.1, 0.1)
_SPLIT = "recovered"
# The first episodes of a scene have nearly all categories of objects.
_EPISODES_READ = 200


class RecoveredTask(BaseModel):
    """A recovered task, with spoken names.

    Attributes:
        set: Task set, test or train.
        start: Initial receptacle of each object.
        correct: Correct receptacles of each object.
    """

    set: Literal["test", "train"]
    start: dict[str, str]
    correct: dict[str, list[str]]


class _File(BaseModel):
    scenes: dict[str, list[RecoveredTask]]


def read_recovered_tasks(path: Path) -> dict[str, list[RecoveredTask]]:
    """Read recovered tasks by scene, with the test set first.

    Raises:
        DataError: If the file is missing or is not a file of recovered tasks.
    """
    scenes = read_model(path, _File, "name another file", "a file of recovered tasks").scenes
    return {scene: sorted(tasks, key=lambda task: task.set != "test") for scene, tasks in scenes.items()}


def write_recovered_episodes(root: Path, tasks: Mapping[str, Sequence[RecoveredTask]], folder: Path) -> Path:
    """Make a Housekeep folder that also has the episodes of recovered tasks, numbered from 0. Existing files are kept.

    Args:
        root: The Housekeep folder, to which the new folder links.
        tasks: Recovered tasks by scene.
        folder: The new folder.

    Returns:
        The new folder.

    Raises:
        DataError: If a scene or a receptacle of a task does not exist, or a receptacle has no free space.
    """
    paths = {scene: folder / EPISODES / _SPLIT / f"{scene}.json.gz" for scene in tasks}
    missing = [scene for scene, path in paths.items() if not path.exists()]
    if not missing:
        return folder
    data = HousekeepData(root)
    sizes = _sizes(data)
    splits = [f"{EPISODES}/{path.name}" for path in find_paths(root / EPISODES, "*") if path.is_dir()]
    # Files of this split are linked one by one, so that new ones are not written into a folder of another one.
    recovered = f"{EPISODES}/{_SPLIT}"
    new = {path.name for path in paths.values()}
    kept = [f"{recovered}/{path.name}" for path in find_paths(root / recovered, "*") if path.name not in new]
    for part in ("cos_eor", "data/scene_datasets", *(part for part in splits if part != recovered), *kept):
        link = folder / part
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to((root / part).resolve())
    for scene in missing:
        layout = _Layout(data.scene(scene), sizes)
        episodes = [layout.episode(number, task) for number, task in enumerate(tasks[scene])]
        write_bytes(paths[scene], gzip.compress(json.dumps({"episodes": episodes}).encode("utf-8"), mtime=0))
    return folder


def _sizes(data: HousekeepData) -> dict[str, Vec3]:
    """Return the size of the objects of each category in the existing episodes."""
    found: dict[str, Vec3] = {}
    for scene in data.scenes():
        for number in data.episode_ids(scene)[:_EPISODES_READ] if data.has_episodes(scene) else ():
            for thing in data.episode(scene, number).objects:
                found.setdefault(thing.category, thing.size)
    return found


class _Layout:
    """Makes episodes of tasks in a scene."""

    def __init__(self, scene: Scene, sizes: Mapping[str, Vec3]) -> None:
        self._scene, self._sizes = scene, sizes
        self._places = {place.name: place for place in scene.receptacles if place.usable}

    def episode(self, number: int, task: RecoveredTask) -> dict[str, Any]:
        """Return an episode in Housekeep's format."""
        rng = np.random.default_rng(number)
        places, keys = self._present(task), [_key(name) for name in task.start]
        shelves: dict[str, ShelfPacker] = {}
        spots = [self._place_object(name, self._place(place), shelves) for name, place in task.start.items()]
        robot = self._scene.random_start(rng)
        wanted = [{self._place(name).name for name in task.correct.get(thing, ())} for thing in task.start]
        return {
            "episode_id": number,
            "start_position": list(robot.position),
            "start_rotation": list(robot.rotation),
            "start_matrix": [[float(start == place.name) for start in task.start.values()] for place in places],
            "end_matrix": [[float(place.name in goals) for goals in wanted] for place in places],
            "objs_keys": keys,
            "objs_cats": [_category(key) for key in keys],
            "objs_pos": [position for position, _ in spots],
            "objs_rot": [[0.0, 0.0, 0.0, 1.0]] * len(keys),
            "recs_keys": [place.key for place in places],
            "recs_packers": {
                key: _packer(shelf.state, {thing: footprint for thing, (_, footprint) in zip(keys, spots, strict=True)})
                for key, shelf in shelves.items()
            },
        }

    def _present(self, task: RecoveredTask) -> list[Receptacle]:
        """Return the receptacles that are present in a task."""
        named = {self._place(name).kind for name in (*task.start.values(), *itertools.chain(*task.correct.values()))}
        absent = frozenset() if named & OPTIONAL_RECEPTACLE_KINDS else OPTIONAL_RECEPTACLE_KINDS
        return [place for place in self._places.values() if place.kind not in absent]

    def _place(self, name: str) -> Receptacle:
        if name not in self._places:
            raise DataError(f"{self._scene.name} has no receptacle {name!r}; the recovered tasks are for other data")
        return self._places[name]

    def _place_object(
        self, name: str, place: Receptacle, shelves: dict[str, ShelfPacker]
    ) -> tuple[list[float], tuple[float, float]]:
        """Put an object on a receptacle, scaled down if necessary, and return its centre and footprint."""
        shelf = shelves.setdefault(place.key, ShelfPacker(ShelfState.empty(place.box)))
        width, height, depth = self._sizes.get(_category(_key(name)), _USUAL_SIZE)
        for shrunk in (1.0, 0.75, 0.5, 0.25, 0.1):
            spot = shelf.insert(_key(name), shrunk * width, shrunk * depth)
            if spot is not None:
                return [spot.x, place.box.top + height / 2, spot.z], (spot.width, spot.depth)
        raise DataError(f"{self._scene.name}: no room for {name} on {place.name}")


def _key(name: str) -> str:
    return name.replace(" ", "_")


def _category(key: str) -> str:
    return key.rpartition("_")[0]


def _packer(state: ShelfState, footprints: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """Return the free and occupied space of a receptacle in Housekeep's format."""
    return {
        "bottom_left": state.low,
        "size": state.size,
        "shelves": [
            {
                "size": (row.length, row.depth),
                "bottom_left": (row.x, row.z),
                "max_height": row.max_depth,
                "spaces": [
                    {"kind": "occupied" if span.occupied else "free", "dims": (span.start, span.end)}
                    for span in row.spans
                ],
            }
            for row in state.rows
        ],
        "matches": [
            {
                "rect": {"id": item.object, "size": footprints[item.object], "bottom_left": state.low},
                "space_idx": item.span,
                "shelf_idx": item.row,
            }
            for item in state.items
        ],
    }


def main(
    data: Annotated[Path, typer.Argument(help="The Housekeep folder.")],
    tasks: Annotated[Path, typer.Argument(help="JSON file of recovered tasks.")],
    folder: Annotated[Path, typer.Argument(help="The new folder.")],
) -> None:
    """Make a Housekeep folder that also has the episodes of recovered tasks."""
    print(write_recovered_episodes(data, read_recovered_tasks(tasks), folder))


if __name__ == "__main__":
    run_cli(lambda: typer.run(main))
