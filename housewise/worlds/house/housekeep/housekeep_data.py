"""Reads scenes, episodes and annotations of an official Housekeep folder, and replaces what the public copy lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from housewise.core.errors import DataError, suggest_names
from housewise.core.files import find_paths
from housewise.core.printable_text import excerpt
from housewise.core.user_folders import expand_user
from housewise.core.validation import describe_validation_error, first_repeated, validate_model
from housewise.worlds.house.episode import (
    HouseObject,
    ObjectModel,
    RearrangementEpisode,
    ShelfItem,
    ShelfRow,
    ShelfSpan,
    ShelfState,
)
from housewise.worlds.house.geometry import Pose, Vec3
from housewise.worlds.house.housekeep.annotations import Annotations, read_annotations
from housewise.worlds.house.housekeep.file_schemas import (
    EpisodeFields,
    FurnitureEntry,
    PackerFields,
    read_episodes,
    read_metadata,
)
from housewise.worlds.house.housekeep.navmesh_file import read_navmesh
from housewise.worlds.house.housekeep.obj_models import read_obj_model
from housewise.worlds.house.preferences import Preferences
from housewise.worlds.house.scene import Mesh, Receptacle, Room, Scene
from housewise.worlds.house.solids import box
from housewise.worlds.house.spoken_names import HOUSE, ROBOT, kind_from_name, spoken_name, spoken_receptacle_name
from housewise.worlds.house.wall_inference import build_walls, infer_free_floor

EPISODES = "data/datasets/cos_eor_v11_pruned"
"""Folder of the episodes in a Housekeep folder, with a subfolder for each split."""
_SCENES = "data/scene_datasets/igibson"
_METADATA = "metadata_assembled.yaml"
_DOORS = "metadata_v2_readjusted_with_outer_doors_v2.yaml"

# Nothing can be placed on these, and prompts do not mention them.
_FIXTURES = ("door", "window", "picture")
OPTIONAL_RECEPTACLE_KINDS = frozenset({"bottom cabinet", "shelf", "top cabinet"})
"""Kinds of receptacles that are either all present or all absent in an episode; all other kinds are always present."""
_HANGING = ("mirror", "towel_rack", "door", "window", "picture")
_SIZES: dict[str, Vec3] = {"stove": (0.7, 0.9, 0.7), "dishwasher": (0.6, 0.9, 0.6), "dryer": (0.65, 0.9, 0.65)}
_USUAL_SIZE: Vec3 = (0.6, 0.8, 0.6)
_LEAST_HEIGHT = 0.01


class HousekeepData:
    """Reader of a Housekeep folder.

    Args:
        root: The folder with ``data/`` and ``cos_eor/``.

    Raises:
        DataError: If the folder is not a Housekeep folder.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = expand_user(root)
        if not (self.root / _SCENES / "assets").is_dir():
            raise DataError(
                f"{self.root}: no {_SCENES}/assets in it; name the folder of the Housekeep repository with --data or "
                "HOUSEKEEP_DATA, or leave both out to use generated houses"
            )

    def scenes(self) -> list[str]:
        """Return the names of the scenes that have metadata and a navigation mesh."""
        folders = find_paths(self.root / _SCENES / "assets", "*")
        return [
            folder.name for folder in folders if (folder / _METADATA).exists() and self._navmesh(folder.name).exists()
        ]

    @lru_cache(maxsize=4)  # noqa: B019 - a reader lives as long as the program
    def scene(self, name: str) -> Scene:
        """Read a scene with all furniture of its metadata.

        Raises:
            DataError: If the scene does not exist, or one of its files is damaged.
        """
        if (self.root / _SCENES / "assets" / name / _METADATA).exists() and not self._navmesh(name).exists():
            raise DataError(f"{self._navmesh(name)}: scene {name} has no navigation mesh; fetch the file again")
        if name not in self.scenes():
            raise DataError(f"{self.root}: no scene {name!r}; {suggest_names(name, self.scenes())}")
        entries = self._entries(name)
        notes: list[str] = []
        receptacles = tuple(self._receptacle(name, file, entry, notes) for file, entry in entries.items())
        navmesh = read_navmesh(self._navmesh(name))
        standing = [thing.box for thing in receptacles if not _is_one_of(thing.key, _HANGING)]
        notes.append("walls and floor inferred from the navigation mesh: the scene's shell is not used")
        hanging = [thing.box for thing in receptacles if _is_one_of(thing.key, _HANGING)]
        walls = build_walls(infer_free_floor(navmesh.area, standing, hanging))
        rooms = _rooms(receptacles)
        if duplicate := first_repeated(
            [HOUSE, ROBOT, *(room.name for room in rooms), *(thing.name for thing in receptacles)]
        ):
            where = self.root / _SCENES / "assets" / name / _METADATA
            raise DataError(f"{where}: the name {duplicate!r} is not unique; fetch the file again")
        shell = self.root / _SCENES / "scenes" / f"{name}.glb"
        return Scene(
            name,
            rooms,
            receptacles,
            walls,
            navmesh,
            tuple(notes),
            shell if shell.exists() else None,
            self._navmesh(name),
        )

    def episode_ids(self, scene: str) -> list[int]:
        """Return the ids of a scene's episodes, in the order of the file."""
        return list(self._raw_episodes(scene))

    def episode(self, scene: str, number: int) -> RearrangementEpisode:
        """Read an episode and check it against its scene.

        Raises:
            DataError: If the episode does not exist, or contradicts itself or the scene; the message names the field.
        """
        path, raw = self._episode_file(scene), self._raw_episodes(scene)
        if number not in raw:
            raise DataError(f"{path}: no episode {number}; it has {len(raw)}, from {min(raw)} to {max(raw)}")
        try:
            checked = EpisodeFields.model_validate(raw[number])
        except ValidationError as error:
            raise DataError(
                f"{path}: episode {number}, {describe_validation_error(error, EpisodeFields)}; fetch the file again"
            ) from error
        return _build_episode(checked, self.scene(scene), path, self.root)

    @lru_cache(maxsize=4)  # noqa: B019
    def episodes_by_start(self, scene: str) -> Mapping[frozenset[tuple[str, str]], int]:
        """Return the ids of a scene's episodes by their initial placements: pairs of object and receptacle names."""
        found: dict[frozenset[tuple[str, str]], int] = {}
        for number, raw in self._raw_episodes(scene).items():
            start = np.asarray(raw["start_matrix"])
            places = [spoken_receptacle_name(raw["recs_keys"][row]) for row in start.argmax(axis=0)]
            found.setdefault(frozenset(zip(map(spoken_name, raw["objs_keys"]), places, strict=True)), number)
        return found

    def preferences(self, person: str = "majority") -> Preferences:
        """Return the preferences of the ``"majority"``, or of one annotator such as ``"annotator-3"``.

        Raises:
            DataError: If the annotator does not exist.
        """
        if person == "majority":
            return self._annotations().majority()
        number = person.removeprefix("annotator-")
        if not (number.isascii() and number.isdigit()):
            raise DataError(f"no annotator {person!r}; use majority, or annotator-0 to annotator-9")
        return self._annotations().annotator(int(number))

    def annotators(self) -> list[str]:
        """Return the names of all annotators, for ``preferences``."""
        return [f"annotator-{number}" for number in range(self._annotations().people)]

    @lru_cache(maxsize=1)  # noqa: B019
    def _annotations(self) -> Annotations:
        return read_annotations(self.root)

    def _navmesh(self, scene: str) -> Path:
        return self.root / _SCENES / "scenes" / f"{scene}_approx.navmesh"

    def _entries(self, scene: str) -> dict[str, FurnitureEntry]:
        folder = self.root / _SCENES / "assets" / scene
        furnished = read_metadata(folder / _METADATA)
        carried = {thing for thing, _ in furnished.default_mapping or ()}
        entries = {file: entry for file, entry in furnished.urdfs.items() if file not in carried}
        doors = read_metadata(folder / _DOORS).urdfs if (folder / _DOORS).exists() else {}
        return entries | {file: entry for file, entry in doors.items() if "door" in file}

    def _receptacle(self, scene: str, file: str, entry: FurnitureEntry, notes: list[str]) -> Receptacle:
        key = f"{entry.room}-{file}"
        kind = _kind(file)
        pose = Pose(entry.pos, entry.rot)
        model = self.root / _SCENES / "assets_assemble" / scene / file.removesuffix(".urdf") / "model.obj"
        there = model.exists()
        if there:
            mesh = read_obj_model(model)
        else:
            mesh = self._substitute(scene, key, kind, pose)
            notes.append(f"{key}: no model, a box stands in")
        room = None if entry.room is None else spoken_name(entry.room)
        usable = room is not None and not _is_one_of(key, _FIXTURES)
        return Receptacle(key, spoken_receptacle_name(key), kind, room, pose, mesh, usable, model if there else None)

    def _substitute(self, scene: str, key: str, kind: str, pose: Pose) -> Mesh:
        """Return a box for a missing model, with the footprint of an episode or else a usual size."""
        packer = self._packer(scene, key)
        size = _SIZES.get(kind, _USUAL_SIZE)
        if packer is not None:
            size = (packer.size[0], size[1], packer.size[1])
        # Furniture stands on the floor, so its height is twice that of its centre.
        world = box((size[0], max(2 * pose.position[1], _LEAST_HEIGHT), size[2]), (190, 190, 195))
        x, y, z, w = pose.rotation
        turned_back = Pose((0.0, 0.0, 0.0), (-x, -y, -z, w))
        return Mesh(turned_back.apply(world.vertices), world.faces, world.colors)

    def _packer(self, scene: str, key: str) -> PackerFields | None:
        if not self.has_episodes(scene):
            return None
        for number, raw in self._raw_episodes(scene).items():
            packers = raw.get("recs_packers")
            if isinstance(packers, dict) and key in packers:
                where = f"{self._episode_file(scene)}: episode {number}, field recs_packers.{key}"
                return validate_model(PackerFields, packers[key], where, "fetch the file again")
        return None

    def has_episodes(self, scene: str) -> bool:
        """Whether the folder has an episode file for a scene."""
        return any((self.root / EPISODES).glob(f"*/{scene}.json.gz"))

    def _episode_file(self, scene: str) -> Path:
        found = find_paths(self.root / EPISODES, f"*/{scene}.json.gz")
        if not found:
            there = [path.name.removesuffix(".json.gz") for path in find_paths(self.root / EPISODES, "*/*.json.gz")]
            raise DataError(f"{self.root / EPISODES}: no episodes of {scene!r}; {suggest_names(scene, there)}")
        return found[0]

    @lru_cache(maxsize=2)  # noqa: B019
    def _raw_episodes(self, scene: str) -> dict[int, dict[str, Any]]:
        return read_episodes(self._episode_file(scene))


def _build_episode(raw: EpisodeFields, scene: Scene, path: Path, root: Path) -> RearrangementEpisode:
    where = f"{path}: episode {raw.episode_id}"
    for key in raw.recs_keys:
        if key not in scene.by_key:
            raise DataError(f"{where}, field recs_keys: scene {scene.name} has no receptacle {key!r}; fetch both again")
    if duplicate := first_repeated(raw.recs_keys):
        raise DataError(f"{where}, field recs_keys: {duplicate!r} occurs more than once; fetch it again")
    rooms, places = (room.name for room in scene.rooms), (thing.name for thing in scene.receptacles)
    if duplicate := first_repeated([HOUSE, ROBOT, *rooms, *places, *map(spoken_name, raw.objs_keys)]):
        raise DataError(f"{where}, field objs_keys: the name {duplicate!r} is not unique; fetch it again")
    count = len(raw.objs_keys)
    if not len(raw.objs_cats) == len(raw.objs_pos) == count:
        raise DataError(f"{where}, fields objs_keys, objs_cats and objs_pos differ in length; fetch it again")
    for matrix in (raw.start_matrix, raw.end_matrix):
        if len(matrix) != len(raw.recs_keys) or any(len(row) != count for row in matrix):
            size = f"{len(raw.recs_keys)} x {count}"
            raise DataError(f"{where}, field start_matrix or end_matrix: not {size}; fetch it again")
    start, end = np.asarray(raw.start_matrix), np.asarray(raw.end_matrix)
    objects = tuple(_build_object(raw, number, start, end, scene, root, where) for number in range(count))
    shelves = {key: _shelf_state(packer) for key, packer in raw.recs_packers.items()}
    pose = Pose(raw.start_position, raw.start_rotation)
    return RearrangementEpisode(
        raw.episode_id, scene.name, pose, tuple(raw.recs_keys), objects, shelves, path.parent.name
    )


def _build_object(
    raw: EpisodeFields, number: int, start: np.ndarray, end: np.ndarray, scene: Scene, root: Path, where: str
) -> HouseObject:
    key = raw.objs_keys[number]
    rows = np.flatnonzero(start[:, number])
    if len(rows) != 1:
        raise DataError(f"{where}, field start_matrix: {key!r} stands on {len(rows)} receptacles, not one")
    receptacle = raw.recs_keys[rows[0]]
    position = raw.objs_pos[number]
    height = max(2 * (position[1] - scene.by_key[receptacle].box.top), _LEAST_HEIGHT)
    width, depth = _footprint(raw, receptacle, key)
    return HouseObject(
        key=key,
        name=spoken_name(key),
        category=raw.objs_cats[number],
        size=(width, height, depth),
        pose=Pose(position),
        receptacle=receptacle,
        correct=frozenset(raw.recs_keys[row] for row in np.flatnonzero(end[:, number])),
        model=_find_object_model(raw, number, root, where),
    )


def _find_object_model(raw: EpisodeFields, number: int, root: Path, where: str) -> ObjectModel | None:
    """Return the model of an object, or None if the folder does not have it."""
    if number >= min(len(raw.objs_files), len(raw.objs_rot)):
        return None
    file = root / raw.objs_files[number]
    try:
        there = file.resolve().is_relative_to(root.resolve()) and file.is_file()
    except (OSError, ValueError, RuntimeError) as error:
        name = excerpt(raw.objs_files[number])
        raise DataError(f"{where}, field objs_files: {name!r} cannot be a file; fetch it again") from error
    return ObjectModel(file, raw.objs_rot[number]) if there else None


def _footprint(raw: EpisodeFields, receptacle: str, key: str) -> tuple[float, float]:
    packer = raw.recs_packers.get(receptacle)
    for match in packer.matches if packer else ():
        if match.rect.id == key:
            return match.rect.size
    return (0.1, 0.1)


def _shelf_state(packer: PackerFields) -> ShelfState:
    rows = tuple(
        ShelfRow(
            x=shelf.bottom_left[0],
            z=shelf.bottom_left[1],
            length=shelf.size[0],
            depth=shelf.size[1],
            max_depth=shelf.max_height,
            spans=tuple(ShelfSpan(*space.dims, occupied=space.kind == "occupied") for space in shelf.spaces),
        )
        for shelf in packer.shelves
    )
    items = tuple(ShelfItem(match.rect.id, match.shelf_idx, match.space_idx) for match in packer.matches)
    return ShelfState(packer.bottom_left, packer.size, rows, items)


def _rooms(receptacles: Sequence[Receptacle]) -> tuple[Room, ...]:
    """Return the rooms in the order of their anchors.

    The anchor of a room is its first receptacle that is present in all episodes, as in the published runs.
    """
    names = dict.fromkeys(thing.room for thing in receptacles if thing.room is not None)
    firsts = {name: _anchor_receptacle([thing for thing in receptacles if thing.room == name]) for name in names}
    order = [thing.key for thing in receptacles]
    rooms = [Room(name, kind_from_name(name), first.key) for name, first in firsts.items()]
    return tuple(sorted(rooms, key=lambda room: order.index(room.anchor or "")))


def _anchor_receptacle(inside: Sequence[Receptacle]) -> Receptacle:
    lasting = [thing for thing in inside if thing.usable and thing.kind not in OPTIONAL_RECEPTACLE_KINDS]
    return (lasting or [thing for thing in inside if thing.usable] or inside)[0]


def _kind(file: str) -> str:
    return spoken_name("_".join(file.removesuffix(".urdf").split("_")[:-2]).replace("_no_top", ""))


def _is_one_of(key: str, kinds: tuple[str, ...]) -> bool:
    return any(kind in key.split("-", 1)[-1] for kind in kinds)
