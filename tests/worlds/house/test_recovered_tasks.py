"""Episodes of recovered tasks in a small Housekeep folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from housewise.core.errors import DataError
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.housekeep.recovered_tasks import read_recovered_tasks, write_recovered_episodes
from tests.worlds.house.housekeep_folder import BED, COUNTER, METADATA, SCENE, STOVE, make_folder

COUNTER_NAME, BED_NAME, STOVE_NAME = "kitchen 0 counter 1", "bedroom 0 bed 3", "kitchen 0 stove 2"
TRAIN = {"set": "train", "start": {"mug 1": BED_NAME}, "correct": {"mug 1": [COUNTER_NAME]}}
TEST = {"set": "test", "start": {"mug 1": STOVE_NAME, "toy car 2": BED_NAME}, "correct": {"toy car 2": [STOVE_NAME]}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A Housekeep folder with episodes of one scene, and a copy of the scene without episodes."""
    folder = make_folder(tmp_path / "housekeep")
    base = folder / "data/scene_datasets/igibson"
    for path in (base / "assets", base / "assets_assemble"):
        (path / "Bare_int").symlink_to(path / SCENE)
    (base / "scenes/Bare_int_approx.navmesh").symlink_to(base / f"scenes/{SCENE}_approx.navmesh")
    return folder


def tasks_file(path: Path, *tasks: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"about": "-", "scenes": {"Bare_int": tasks}}))
    return path


def recover(root: Path, folder: Path, *tasks: dict[str, Any]) -> Path:
    """Write the episodes of tasks into a new Housekeep folder."""
    return write_recovered_episodes(
        root, read_recovered_tasks(tasks_file(folder / "tasks.json", *tasks)), folder / "made"
    )


def test_episodes_have_the_placements_of_the_tasks_with_the_test_set_first(root: Path, tmp_path: Path) -> None:
    tasks = read_recovered_tasks(tasks_file(tmp_path / "tasks.json", TRAIN, TEST))
    assert [task.set for task in tasks["Bare_int"]] == ["test", "train"]
    data = HousekeepData(write_recovered_episodes(root, tasks, tmp_path / "made"))
    assert data.episode_ids("Bare_int") == [0, 1]
    mug = data.episode("Bare_int", 1).objects[0]
    assert (mug.key, mug.category, mug.name) == ("mug_1", "mug", "mug 1")
    assert mug.receptacle == BED and mug.correct == {COUNTER}
    car = data.episode("Bare_int", 0).objects[1]
    assert (car.name, car.category, car.receptacle) == ("toy car 2", "toy_car", BED)


def test_a_folder_that_was_made_so_keeps_its_episodes_when_another_is_made_of_it(root: Path, tmp_path: Path) -> None:
    first = recover(root, tmp_path, TRAIN)
    (tmp_path / "again").mkdir()
    second = recover(first, tmp_path / "again", TEST)
    mugs = [HousekeepData(made).episode("Bare_int", 0).objects[0].receptacle for made in (first, second)]
    assert mugs == [BED, STOVE]


def test_objects_have_the_size_of_their_category_and_are_on_their_receptacle(root: Path, tmp_path: Path) -> None:
    data = HousekeepData(recover(root, tmp_path, TRAIN))
    known = data.episode(SCENE, 3).objects[0]
    episode, scene = data.episode("Bare_int", 0), data.scene("Bare_int")
    mug, bed = episode.objects[0], scene.by_key[BED].box
    assert sorted(mug.size) == pytest.approx(sorted(known.size))
    assert mug.pose.position[1] == pytest.approx(bed.top + mug.size[1] / 2)
    assert bed.low[0] <= mug.pose.position[0] <= bed.high[0] and bed.low[2] <= mug.pose.position[2] <= bed.high[2]
    assert [item.object for item in episode.shelves[BED].items] == ["mug_1"]
    assert scene.navmesh.contains([episode.start.position[0], episode.start.position[2]])


def test_existing_episodes_are_kept_and_new_ones_are_reproducible(root: Path, tmp_path: Path) -> None:
    tasks = read_recovered_tasks(tasks_file(tmp_path / "tasks.json", TRAIN, TEST))
    paths = [write_recovered_episodes(root, tasks, tmp_path / name) for name in ("one", "two", "one")]
    files = [next((path / "data/datasets").rglob("Bare_int.json.gz")) for path in paths]
    assert files[0] == files[2] and files[0].read_bytes() == files[1].read_bytes()
    assert HousekeepData(paths[0]).preferences().wants("mug", "kitchen", "counter")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": {"mug 1": "kitchen 0 sofa 9"}}, "no receptacle 'kitchen 0 sofa 9'"),
        ({"set": "demo"}, "recovered tasks"),
    ],
)
def test_tasks_of_other_data_are_refused(root: Path, tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        recover(root, tmp_path, TRAIN | change)
    assert not list((tmp_path / "made").rglob("*Bare_int.json.gz"))


def test_cabinets_and_shelves_are_present_if_a_task_names_one(root: Path, tmp_path: Path) -> None:
    metadata = root / METADATA
    shelf = "  shelf_9_0.urdf: {room: bedroom_0, pos: [5.0, 0.5, 3.6], rot: [0.0, 0.0, 0.0, 1.0]}\n"
    metadata.write_text(metadata.read_text() + shelf)
    named = TRAIN | {"correct": {"mug 1": [COUNTER_NAME, "bedroom 0 shelf 9"]}}
    data = HousekeepData(recover(root, tmp_path, TRAIN, named))
    shelf_key = "bedroom_0-shelf_9_0.urdf"
    assert shelf_key in data.scene("Bare_int").by_key
    assert shelf_key not in data.episode("Bare_int", 0).receptacles
    assert shelf_key in data.episode("Bare_int", 1).receptacles
    assert set(data.episode("Bare_int", 0).receptacles) == {COUNTER, BED, STOVE}
