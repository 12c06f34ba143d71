"""A house of known measures: two rooms of 4 m x 4 m side by side, a door between them, five pieces of furniture.

The floor is at y = 0. Room ``kitchen 0`` spans x from 0 to 4, ``bedroom 0`` x from 4.1 to 8.1, both z from 0 to 4.
The door is 1 m wide, at z from 1.5 to 2.5. The robot's centre keeps 0.2 m off walls and furniture.
"""

import shapely
from shapely.geometry import Polygon

from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.episode import HouseObject, RearrangementEpisode
from housewise.worlds.house.geometry import Box, Pose, Vec3, yaw_rotation
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.scene import Receptacle, Room, Scene
from housewise.worlds.house.solids import box
from housewise.worlds.house.spoken_names import spoken_name, spoken_receptacle_name
from housewise.worlds.house.wall_inference import build_walls

RADIUS = 0.2

COUNTER = "kitchen_0-counter_1_0.urdf"
TABLE = "kitchen_0-table_2_0.urdf"
BED = "bedroom_0-bed_3_0.urdf"
STOOL = "bedroom_0-stool_4_0.urdf"
DOOR = "none-door_5_0.urdf"

FLOOR = shapely.union_all(
    [shapely.box(0.0, 0.0, 4.0, 4.0), shapely.box(3.9, 1.5, 4.2, 2.5), shapely.box(4.1, 0.0, 8.1, 4.0)]
)

# Centre of the lower side, and size.
FURNITURE: dict[str, tuple[Vec3, Vec3]] = {
    COUNTER: ((0.3, 0.0, 2.0), (0.6, 0.9, 2.0)),
    TABLE: ((2.0, 0.0, 3.6), (1.2, 0.7, 0.8)),
    BED: ((7.1, 0.0, 0.8), (2.0, 0.5, 1.6)),
    STOOL: ((5.0, 0.0, 3.7), (0.3, 0.4, 0.3)),
    DOOR: ((4.05, 0.0, 1.45), (0.1, 2.0, 0.06)),
}


def receptacle(key: str) -> Receptacle:
    """Return a piece of furniture above as a box."""
    (x, base, z), size = FURNITURE[key]
    room = None if key.startswith("none") else spoken_name(key.split("-")[0])
    kind = key.split("-")[1].split("_")[0]
    pose = Pose((x, base + size[1] / 2, z))
    return Receptacle(
        key, spoken_receptacle_name(key), kind, room, pose, box(size, (120, 90, 60)), usable=room is not None
    )


def footprint(key: str) -> Polygon:
    """Return the footprint of a piece of furniture."""
    (x, _, z), (width, _, depth) = FURNITURE[key]
    return shapely.box(x - width / 2, z - depth / 2, x + width / 2, z + depth / 2)


def walkable() -> Polygon:
    """Return the area that the robot's centre can occupy."""
    solid = [footprint(key).buffer(RADIUS, join_style="mitre") for key in FURNITURE if key != DOOR]
    return FLOOR.buffer(-RADIUS, join_style="mitre").difference(shapely.union_all(solid))


def toy_scene() -> Scene:
    """Return the house."""
    rooms = (Room("kitchen 0", "kitchen", COUNTER), Room("bedroom 0", "bedroom", BED))
    return Scene("toy", rooms, tuple(map(receptacle, FURNITURE)), build_walls(FLOOR), NavMesh(walkable(), 0.0))


def thing(
    key: str, place: str, correct: set[str], at: tuple[float, float], size: Vec3 = (0.1, 0.12, 0.1)
) -> HouseObject:
    """Return an object on a piece of furniture, at (x, z)."""
    (_, base, _), (_, height, _) = FURNITURE[place]
    pose = Pose((at[0], base + height + size[1] / 2, at[1]))
    return HouseObject(key, spoken_name(key), key.rsplit("_", 1)[0], size, pose, place, frozenset(correct))


def toy_task() -> RearrangementTask:
    """Return a task with three objects: a misplaced mug, a misplaced towel and a correctly placed plate."""
    objects = (
        thing("mug_1", BED, {COUNTER, TABLE}, (6.3, 1.4)),
        thing("plate_1", COUNTER, {COUNTER}, (0.4, 2.0), (0.25, 0.03, 0.25)),
        thing("tea_towel_1", TABLE, {STOOL}, (2.0, 3.4), (0.2, 0.05, 0.2)),
    )
    start = Pose((2.0, 0.0, 2.0), yaw_rotation(0.0))
    return RearrangementTask(toy_scene(), RearrangementEpisode(7, "toy", start, (COUNTER, TABLE, BED, STOOL), objects))


def box_of(key: str) -> Box:
    """Return the world box of a piece of furniture."""
    (x, base, z), size = FURNITURE[key]
    return Box.from_centre((x, base + size[1] / 2, z), size)
