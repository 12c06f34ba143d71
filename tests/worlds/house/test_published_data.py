"""Checks of the complete public data, whose folder HOUSEKEEP_DATA names."""

import itertools

import pytest
import shapely

from housewise.worlds.house.episode import RearrangementEpisode, ShelfState
from housewise.worlds.house.housekeep.housekeep_data import OPTIONAL_RECEPTACLE_KINDS, HousekeepData
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.shelf_packing import ShelfPacker

pytestmark = pytest.mark.housekeep

SCENES = {
    "Benevolence_2_int": 1000,
    "Ihlen_1_int": 200,
    "Merom_1_int": 200,
    "Pomaria_0_int": 1000,
    "Pomaria_1_int": 0,
    "Pomaria_2_int": 1000,
    "Rs_int": 0,
}
MISSING_MODELS = {"Merom_1_int": ["kitchen_0-stove_59_0.urdf: no model, a box stands in"]}


def test_the_folder_has_seven_scenes(housekeep: HousekeepData) -> None:
    assert housekeep.scenes() == list(SCENES)
    assert [housekeep.has_episodes(scene) for scene in SCENES] == [count > 0 for count in SCENES.values()]


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_and_all_its_episodes(housekeep: HousekeepData, name: str) -> None:
    scene = housekeep.scene(name)
    check_scene(scene)
    assert [note for note in scene.notes if "no model" in note] == MISSING_MODELS.get(name, [])
    numbers = housekeep.episode_ids(name) if SCENES[name] else []
    episodes = [housekeep.episode(name, number) for number in numbers]
    assert len(episodes) == SCENES[name]
    for episode in episodes:
        check_episode(scene, episode)
    for episode in episodes[::4]:
        check_shelves(episode)


def check_scene(scene: Scene) -> None:
    assert len({thing.name for thing in scene.receptacles}) == len(scene.receptacles)
    rooms = {room.name for room in scene.rooms}
    assert {thing.room for thing in scene.receptacles if thing.usable} == rooms
    assert all(scene.by_key[room.anchor or ""].room == room.name for room in scene.rooms)
    assert not any(thing.usable for thing in scene.receptacles if thing.kind in ("door", "window", "picture"))
    assert scene.navmesh.area.is_valid and scene.navmesh.area.area > 10
    assert all(scene.navmesh.contains(point) for point in scene.navmesh.viewpoints)
    standpoints = [scene.navmesh.snap(thing.box.centre[::2]) for thing in scene.receptacles if thing.usable]
    assert all(len(scene.navmesh.path(standpoints[0], point)) for point in standpoints)


@pytest.mark.parametrize("name", [name for name, count in SCENES.items() if count])
def test_anchors_are_the_first_receptacles_present_in_all_episodes(housekeep: HousekeepData, name: str) -> None:
    """The kinds of optional receptacles are the same for all houses; the episodes confirm them."""
    scene = housekeep.scene(name)
    taking_part = [set(housekeep.episode(name, number).receptacles) for number in housekeep.episode_ids(name)[::7]]
    always, ever = set.intersection(*taking_part), set.union(*taking_part)
    assert {scene.by_key[key].kind for key in ever - always} <= OPTIONAL_RECEPTACLE_KINDS
    assert all(not (present - always) or present == ever for present in taking_part)
    for room in scene.rooms:
        inside = [thing.key for thing in scene.receptacles if thing.room == room.name and thing.usable]
        assert room.anchor == next((key for key in inside if key in always), inside[0])


def test_some_houses_have_episodes_without_cabinets_and_shelves(housekeep: HousekeepData) -> None:
    scene = housekeep.scene("Ihlen_1_int")
    numbers = housekeep.episode_ids(scene.name)[::4]
    taking_part = [set(housekeep.episode(scene.name, number).receptacles) for number in numbers]
    absent = {scene.by_key[key].kind for key in set.union(*taking_part) - set.intersection(*taking_part)}
    assert absent == OPTIONAL_RECEPTACLE_KINDS


@pytest.mark.parametrize(
    ("name", "room", "anchor"),
    [("Rs_int", "living room 0", "living room 0 carpet 27"), ("Pomaria_1_int", "kitchen 0", "kitchen 0 carpet 34")],
)
def test_anchors_of_scenes_without_episodes_are_those_of_published_runs(
    housekeep: HousekeepData, name: str, room: str, anchor: str
) -> None:
    scene = housekeep.scene(name)
    anchors = {room.name: scene.by_key[room.anchor or ""].name for room in scene.rooms}
    assert anchors[room] == anchor


def check_episode(scene: Scene, episode: RearrangementEpisode) -> None:
    assert scene.navmesh.contains((episode.start.position[0], episode.start.position[2]))
    assert episode.misplaced_objects
    assert len({thing.key for thing in episode.objects}) == len(episode.objects)
    for thing in episode.objects:
        assert thing.correct and thing.correct <= set(episode.receptacles)
        assert all(scene.by_key[key].usable for key in (thing.receptacle, *thing.correct))
        assert min(thing.size) > 0.005 and max(thing.size) < 2.0
        box, point = scene.by_key[thing.receptacle].box, thing.pose.position
        assert box.low[0] <= point[0] <= box.high[0] and box.low[2] <= point[2] <= box.high[2]


def check_shelves(episode: RearrangementEpisode) -> None:
    """Our packing agrees with that of the data: the last object gets the position in the file."""
    things = {thing.key: thing for thing in episode.objects}
    for key, state in episode.shelves.items():
        check_rows(state)
        if not state.items:
            continue
        thing = things[state.items[-1].object]
        assert thing.receptacle == key
        shelves = ShelfPacker(state)
        shelves.remove(thing.key)
        spot = shelves.insert(thing.key, thing.size[0], thing.size[2])
        assert spot is not None
        assert (spot.x, spot.z) == pytest.approx((thing.pose.position[0], thing.pose.position[2]), abs=2e-3)
        assert (spot.width, spot.depth) == pytest.approx((thing.size[0], thing.size[2]), abs=4e-3)


def check_rows(state: ShelfState) -> None:
    for one, other in itertools.pairwise(state.rows):
        assert one.z + one.depth <= other.z + 1e-6
    for row in state.rows:
        assert all(one.end <= other.start + 1e-6 for one, other in itertools.pairwise(row.spans))
    surface = shapely.box(*state.low, state.low[0] + state.size[0], state.low[1] + state.size[1]).buffer(1e-6)
    rows = [shapely.box(row.x, row.z, row.x + row.length, row.z + row.depth) for row in state.rows]
    assert all(surface.covers(row) for row in rows)


def test_correct_receptacles_agree_with_the_annotators(housekeep: HousekeepData) -> None:
    """The correct receptacles of an object are those that at least six of ten people ranked positive."""
    majority = housekeep.preferences()
    scene = housekeep.scene("Merom_1_int")
    rooms = {room.name: room.kind for room in scene.rooms}
    agreed = total = 0
    for number in housekeep.episode_ids("Merom_1_int")[:20]:
        episode = housekeep.episode("Merom_1_int", number)
        for thing, key in itertools.product(episode.objects, episode.receptacles):
            place = scene.by_key[key]
            if place.usable and place.room:
                wanted = majority.wants(thing.category, rooms[place.room], place.kind)
                agreed += wanted == (key in thing.correct)
                total += 1
    assert total > 5000
    assert agreed == total


def test_ten_annotators_have_different_preferences(housekeep: HousekeepData) -> None:
    episode, scene = housekeep.episode("Merom_1_int", 0), housekeep.scene("Merom_1_int")
    rooms = {room.name: room.kind for room in scene.rooms}
    places = {(rooms[place.room], place.kind) for place in scene.receptacles if place.usable and place.room}
    wishes = set()
    for number in range(10):
        person = housekeep.preferences(f"annotator-{number}")
        wishes.add(
            frozenset(
                (thing.key, spot) for thing in episode.objects for spot in places if person.wants(thing.category, *spot)
            )
        )
    assert len(wishes) == 10
