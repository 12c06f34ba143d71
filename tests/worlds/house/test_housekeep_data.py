import gzip
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from housewise.core.errors import DataError
from housewise.worlds.house.geometry import Pose, yaw_rotation
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.scene import Room
from housewise.worlds.house.shelf_packing import ShelfPacker
from tests.worlds.house.housekeep_folder import (
    ANNOTATIONS,
    BED,
    COUNTER,
    DOORS,
    EPISODES,
    METADATA,
    MODELS,
    NAVMESH,
    SCENE,
    STOVE,
    episode,
    make_folder,
    read_all,
    write_episodes,
)
from tests.worlds.house.refusals import refusal


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small Housekeep folder with one scene."""
    return make_folder(tmp_path / "housekeep")


def test_a_scene_has_the_furniture_of_its_metadata(root: Path) -> None:
    data = HousekeepData(root)
    assert data.scenes() == [SCENE]
    scene = data.scene(SCENE)
    assert list(scene.by_key) == [COUNTER, STOVE, BED, "bedroom_0-picture_4_0.urdf", "None-door_5_0.urdf"]
    assert scene.rooms == (Room("kitchen 0", "kitchen", COUNTER), Room("bedroom 0", "bedroom", BED))
    names = ["kitchen 0 counter 1", "kitchen 0 stove 2", "bedroom 0 bed 3", "bedroom 0 picture 4", "door 5"]
    assert [thing.name for thing in scene.receptacles] == names
    assert [thing.kind for thing in scene.receptacles] == ["counter", "stove", "bed", "picture", "door"]
    assert [thing.usable for thing in scene.receptacles] == [True, True, True, False, False]
    assert scene.by_key["None-door_5_0.urdf"].room is None
    assert scene.navmesh.height == pytest.approx(0.2)
    assert scene.navmesh.contains((2.0, 2.0)) and scene.navmesh.contains((6.0, 3.0))


def test_models_are_centred_on_their_pose(root: Path) -> None:
    counter = HousekeepData(root).scene(SCENE).by_key[COUNTER].box
    assert counter.low == pytest.approx((0.0, 0.0, 1.0))
    assert counter.high == pytest.approx((0.6, 0.9, 3.0))


def test_a_missing_model_is_replaced_by_a_box_and_noted(root: Path) -> None:
    scene = HousekeepData(root).scene(SCENE)
    notes = [note for note in scene.notes if note.startswith(STOVE)]
    assert notes == [f"{STOVE}: no model, a box stands in"]
    # Its footprint is that of the episode's free space, independent of its rotation in the metadata.
    assert scene.by_key[STOVE].box.low == pytest.approx((0.1, 0.0, 3.2))
    assert scene.by_key[STOVE].box.high == pytest.approx((0.7, 0.9, 4.0))


def test_doors_models_and_episodes_are_optional(root: Path) -> None:
    (root / DOORS).unlink()
    (root / EPISODES).unlink()
    shutil.rmtree(root / MODELS)
    data = HousekeepData(root)
    scene = data.scene(SCENE)
    assert not data.has_episodes(SCENE)
    assert sum("no model" in note for note in scene.notes) == len(scene.receptacles) == 4
    assert scene.rooms[0].anchor == COUNTER


def test_an_episode_has_the_values_of_its_file(root: Path) -> None:
    data = HousekeepData(root)
    assert data.episode_ids(SCENE) == [3, 12]
    read = data.episode(SCENE, 3)
    assert (read.id, read.scene, read.split) == (3, SCENE, "train")
    assert read.start == Pose((2.0, 0.2, 2.0), yaw_rotation(0.0))
    mug, pan = read.objects
    assert (mug.key, mug.name, mug.category, mug.receptacle) == ("mug_1", "mug 1", "mug", BED)
    assert mug.correct == {COUNTER} and mug.is_misplaced
    assert mug.size == pytest.approx((0.12, 0.12, 0.1))
    assert pan.correct == {STOVE} and not pan.is_misplaced
    assert pan.size == pytest.approx((0.3, 0.08, 0.3))
    assert read.misplaced_objects == (mug,)
    assert [data.episode(SCENE, number).id for number in data.episode_ids(SCENE)] == [3, 12]
    shelves = ShelfPacker(read.shelves[BED])
    shelves.remove("mug_1")
    spot = shelves.insert("mug_1", mug.size[0], mug.size[2])
    assert spot is not None
    assert (spot.x, spot.z) == pytest.approx((mug.pose.position[0], mug.pose.position[2]))


def test_another_folder_is_refused_with_the_remedy(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        message = refusal(lambda path=path: HousekeepData(path), path)
        assert "HOUSEKEEP_DATA" in message and "generated houses" in message


def test_the_home_folder_can_be_abbreviated(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(root.parent))
    assert HousekeepData("~/housekeep").scenes() == [SCENE]


def test_unknown_names_are_refused_with_the_known_ones(root: Path) -> None:
    data = HousekeepData(root)
    assert f"available: {SCENE}" in refusal(lambda: data.scene("Atlantis_int"), root)
    assert f"available: {SCENE}" in refusal(lambda: data.episode_ids("Atlantis_int"), (root / EPISODES).parents[1])
    assert "no episode 99999; it has 2, from 3 to " in refusal(lambda: data.episode(SCENE, 99999), root / EPISODES)


def test_a_scene_without_navigation_mesh_is_refused(root: Path) -> None:
    path = root / NAVMESH
    path.unlink()
    data = HousekeepData(root)
    assert data.scenes() == []
    assert refusal(lambda: data.scene(SCENE), path).startswith(f"{path}: scene {SCENE} has no navigation mesh")
    assert "no scene 'elsewhere'" in refusal(lambda: data.scene("elsewhere"), root)


def test_a_damaged_navigation_mesh_is_named(root: Path) -> None:
    path = root / NAVMESH
    path.write_bytes(path.read_bytes()[:100])
    assert refusal(lambda: read_all(root), path).startswith(f"{path}: not a readable navigation mesh")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_episode_file_is_named(root: Path, share: float) -> None:
    path = root / EPISODES
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    message = refusal(lambda: HousekeepData(root).episode_ids(SCENE), path)
    assert message.startswith(f"{path}: damaged or incomplete") and message.endswith("fetch the file again")


def test_a_damaged_archive_is_named(root: Path) -> None:
    path = root / EPISODES
    content = bytearray(path.read_bytes())
    for place in range(20, len(content), 50):
        content[place] ^= 0x5A
    path.write_bytes(content)
    refusal(lambda: HousekeepData(root).episode_ids(SCENE), path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"episodes": [{"episode_id": 0,}]}',
        '{"episodes": 3}',
        '{"tasks": []}',
        "[]",
        '{"episodes": ["one"]}',
        '{"episodes": [{"episode_id": "first"}]}',
        "[" * 5000,
        '"\\ud800',
    ],
)
def test_damaged_json_is_named(root: Path, text: str) -> None:
    (root / EPISODES).write_bytes(gzip.compress(text.encode()))
    refusal(lambda: HousekeepData(root).scene(SCENE), root / EPISODES)


def test_a_file_without_episodes_is_named(root: Path) -> None:
    write_episodes(root / EPISODES, {"episodes": []})
    data = HousekeepData(root)
    refusal(lambda: data.episode(SCENE, 0), root / EPISODES)
    refusal(lambda: data.scene(SCENE), root / EPISODES)


def test_an_invalid_episode_does_not_affect_the_others(root: Path) -> None:
    spoilt = {**episode(3), "objs_pos": [[0.0, 0.0]]}
    write_episodes(root / EPISODES, {"episodes": [spoilt, episode(12)]})
    data = HousekeepData(root)
    assert data.episode(SCENE, 12).id == 12
    assert "episode 3, field objs_pos" in refusal(lambda: data.episode(SCENE, 3), root / EPISODES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "urdfs: [1, 2]",
        "urdfs: {counter_1_0.urdf: {room: kitchen_0}}",
        "urdfs: {counter_1_0.urdf: 7}",
        "urdfs: {counter_1_0.urdf: {room: kitchen_0, pos: [0, 0], rot: [0, 0, 0, 1]}}",
        "urdfs: {counter.urdf: {room: kitchen_0, pos: [0, 0, 0], rot: [0, 0, 0, 1]}}",
        "urdfs: {counter_1_0.urdf: {room: kitchen_0, pos: [0, 0, 0], rot: [0, 0, 0, 0]}}",
        "default_mapping: 7\nurdfs: {}",
        "urdfs: {}",
        "urdfs: {3: {room: kitchen_0, pos: [0, 0, 0], rot: [0, 0, 0, 1]}}",
        "urdfs: {\n  open: [\n",
        "urdfs: !!python/object/apply:os.system [touch hacked]",
        "\x00",
    ],
)
def test_damaged_metadata_is_named(root: Path, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = root / METADATA
    path.write_text(text)
    refusal(lambda: read_all(root), path)
    assert not Path("hacked").exists()


def test_a_damaged_model_is_named(root: Path) -> None:
    path = root / MODELS / SCENE / "bed_3_0" / "model.obj"
    path.write_text("v 0 0 0\nv 1 0 0\n")
    refusal(lambda: HousekeepData(root).scene(SCENE), path)
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99\n")
    refusal(lambda: HousekeepData(root).scene(SCENE), path)


def test_the_majority_is_six_of_ten(root: Path) -> None:
    data = HousekeepData(root)
    everyone = data.preferences()
    assert everyone.name == "majority"
    assert everyone.wants("mug", "kitchen", "counter")
    assert not everyone.wants("mug", "bedroom", "bed")
    assert everyone.wants("saute_pan", "kitchen", "stove")
    assert not everyone.wants("saute_pan", "bedroom", "bed")
    assert not everyone.wants("unicorn", "kitchen", "counter") and not everyone.wants("mug", "attic", "trunk")


def test_annotators_disagree_with_the_majority(root: Path) -> None:
    data = HousekeepData(root)
    one, other = data.preferences("annotator-0"), data.preferences("annotator-9")
    assert (one.name, other.name) == ("annotator-0", "annotator-9")
    assert one.wants("mug", "bedroom", "bed") and not one.wants("mug", "kitchen", "counter")
    assert other.wants("mug", "kitchen", "counter") and not other.wants("mug", "bedroom", "bed")


@pytest.mark.parametrize("who", ["ada", "annotator-10", "annotator--1", "annotator-x", "annotator-²", ""])
def test_unknown_annotators_are_refused_with_the_known_ones(root: Path, who: str) -> None:
    with pytest.raises(DataError, match=r"\A.*0 to.*\Z"):
        HousekeepData(root).preferences(who)


@pytest.mark.parametrize(
    "content",
    [
        {"objects": [], "ranks": []},
        {"room_receptacles": ["kitchen|counter"], "objects": ["mug"], "ranks": np.zeros((2, 1, 10))},
        {"room_receptacles": ["kitchen|counter"], "objects": ["mug"], "ranks": np.zeros((1, 1))},
        {"room_receptacles": ["kitchen"], "objects": ["mug"], "ranks": np.zeros((1, 1, 10))},
        {"room_receptacles": 7, "objects": ["mug"], "ranks": np.zeros((1, 1, 10))},
        {"room_receptacles": ["kitchen|counter"], "objects": ["mug"], "ranks": [[[10**30]]]},
        {"room_receptacles": ["kitchen|counter"], "objects": ["mug"], "ranks": "x" * 10_000},
        [1, 2],
        7,
    ],
)
def test_other_arrays_are_refused_as_annotations(root: Path, content: Any) -> None:
    holder = np.empty((), dtype=object)
    holder[()] = content
    np.save(root / ANNOTATIONS, holder, allow_pickle=True)
    refusal(lambda: HousekeepData(root).preferences(), root / ANNOTATIONS)


def test_missing_annotations_are_named(root: Path) -> None:
    (root / ANNOTATIONS).unlink()
    refusal(lambda: HousekeepData(root).preferences(), root / ANNOTATIONS)
