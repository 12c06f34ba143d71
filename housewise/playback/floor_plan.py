"""A house from above: its walls, rooms and furniture, and a traced picture of it where one is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import shapely
import trimesh
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw
from scipy import ndimage
from shapely.geometry import MultiPolygon, Polygon

from housewise.playback.simulators import Picture
from housewise.worlds.house.geometry import Box
from housewise.worlds.house.scene import Mesh, Receptacle, Scene
from housewise.worlds.house.simulator.base import BodyPose, Camera
from housewise.worlds.house.simulator.raycast import RaycastSimulator

Area: TypeAlias = Polygon | MultiPolygon

_MARGIN = 0.3
_EYE_LEVEL = 1.2
# Lintels and the walls' tops would hide doorways from above.
_CUT = 2.0
_WALL = 0.11
_THICKEST_WALL = 0.25
_LARGEST_THING = 0.6
# From so high up the picture is as good as a parallel projection: 2 m of height shift by 3 cm at 6 m from the middle.
_ALTITUDE = 400.0
_FADE = 0.75
_HAZE = 0.3
_SHADOW = 0.66
# Length of a shadow, along each axis, of what is one metre high.
_SUN = 0.3
_TALLEST = 1.0

PICTURE_SCALE = 2
"""Pixels of the traced picture for one of the plan's."""

ROOM_LETTER_WIDTH = 8.6
"""Width of a letter of a room's name, pixels."""


@dataclass(frozen=True)
class PlanProjection:
    """Where the house is in its picture.

    Attributes:
        left, top: least x and z that the picture shows, metres.
        width, depth: extent along x and z, metres.
        scale: pixels per metre.
        turned: whether x runs down the picture instead of to the right, so that long houses lie flat.
    """

    left: float
    top: float
    width: float
    depth: float
    scale: float
    turned: bool

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture in pixels."""
        across, down = (self.depth, self.width) if self.turned else (self.width, self.depth)
        return round(across * self.scale), round(down * self.scale)

    def pixels(self, points: ArrayLike) -> NDArray[np.float64]:
        """Take (N, 2) points (x, z) in metres to pixels (right, down)."""
        x, z = (np.asarray(points, dtype=np.float64).reshape(-1, 2) - [self.left, self.top]).T
        right, down = (self.depth - z, x) if self.turned else (x, z)
        return np.column_stack([right, down]) * self.scale

    def heading(self, yaw: float) -> float:
        """Which way a robot looks in the picture: radians from right, clockwise."""
        across, along = -np.sin(yaw), -np.cos(yaw)
        return float(np.arctan2(across, -along) if self.turned else np.arctan2(along, across))


@dataclass(frozen=True, eq=False)
class FloorPlan:
    """A house from above.

    Attributes:
        frame: from metres to pixels.
        picture: (PICTURE_SCALE * height, PICTURE_SCALE * width, 4) uint8, transparent outside of the house; None where none was
            traced.
        floor: in pixels, without the walls.
        walls: in pixels.
        furniture: outline in pixels by spoken name, what is lower first.
        colors: of the furniture from above, RGB by spoken name.
        rooms: where each room's name goes, in pixels.
    """

    frame: PlanProjection
    picture: Picture | None
    floor: Area
    walls: Area
    furniture: dict[str, NDArray[np.float64]]
    colors: dict[str, tuple[int, int, int]]
    rooms: dict[str, tuple[float, float]]


@lru_cache(maxsize=4)
def draw_floor_plan(
    scene: Scene, receptacles: tuple[str, ...], width: int = 860, height: int = 760, traced: bool = True
) -> FloorPlan:
    """Draw a house from above.

    Args:
        scene: the house.
        receptacles: keys of those that are there.
        width, height: in pixels, at most.
        traced: whether with a picture, which takes most of the time.
    """
    floor = _floor(scene)
    frame = _frame(floor, width, height)
    present = sorted((scene.by_key[key] for key in receptacles), key=lambda thing: thing.box.top)
    whole = floor.buffer(_WALL, join_style="mitre")
    walls = _to_pixels(whole.difference(floor), frame)
    furniture = {thing.name: frame.pixels(_footprint(thing)) for thing in present}
    colors = {thing.name: _color(thing.mesh) for thing in present}
    picture = None
    if traced:
        seen = np.asarray(fill_mask(_to_pixels(whole, frame), frame.size, PICTURE_SCALE))
        picture = np.dstack([_traced(scene, receptacles, frame, walls), seen])
    rooms = _room_spots(scene, {thing.name: thing.room for thing in present}, furniture, frame, walls)
    return FloorPlan(frame, picture, _to_pixels(floor, frame), walls, furniture, colors, rooms)


def fill_mask(area: Area, size: tuple[int, int], scale: float = 1.0) -> Image.Image:
    """A mask that is white where an area is.

    Args:
        area: in pixels.
        size: width and height that the area belongs to.
        scale: pixels of the mask for one of the area's.
    """
    mask = Image.new("L", (round(size[0] * scale), round(size[1] * scale)))
    draw = ImageDraw.Draw(mask)
    for part in getattr(area, "geoms", [area]):
        draw.polygon([(x * scale, y * scale) for x, y in part.exterior.coords], fill=255)
        for ring in part.interiors:
            draw.polygon([(x * scale, y * scale) for x, y in ring.coords], fill=0)
    return mask


def _floor(scene: Scene) -> Area:
    """What a cut through the walls at eye level leaves around where the robot can walk, (x, z) in metres."""
    mesh, area = scene.structure, scene.navmesh.area
    low = float(mesh.vertices[:, 1].min()) if len(mesh.vertices) else 0.0
    solid = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    cut = trimesh.intersections.mesh_plane(solid, [0, 1, 0], [0, low + _EYE_LEVEL, 0])
    lines = shapely.linestrings(np.round(cut[:, :, [0, 2]], 3)) if len(cut) else []
    pieces = shapely.get_parts(shapely.polygonize(shapely.get_parts(shapely.union_all(lines))))
    inside = [piece for piece in pieces if piece.intersection(area).area > 0.05]
    return _without_furniture(shapely.union_all([area, *inside]))


def _without_furniture(floor: Area) -> Area:
    """A floor with the holes fill_mask that are no walls: small ones, and not as thin as walls are."""

    def is_wall(hole: Polygon) -> bool:
        return bool(hole.area > _LARGEST_THING or hole.buffer(-_THICKEST_WALL / 2).is_empty)

    parts = [
        Polygon(part.exterior, [ring for ring in part.interiors if is_wall(Polygon(ring))])
        for part in getattr(floor, "geoms", [floor])
    ]
    return shapely.union_all(parts)


def _frame(floor: Area, width: int, height: int) -> PlanProjection:
    low_x, low_z, high_x, high_z = floor.bounds
    across, along = high_x - low_x + 2 * _MARGIN, high_z - low_z + 2 * _MARGIN
    turned = along > 1.15 * across
    right, down = (along, across) if turned else (across, along)
    return PlanProjection(low_x - _MARGIN, low_z - _MARGIN, across, along, min(width / right, height / down), turned)


def _footprint(thing: Receptacle) -> NDArray[np.float64]:
    """The corners of the bounding box of a receptacle's mesh from above, turned with it, (N, 2)."""
    corners = thing.pose.apply(Box.around(thing.mesh.vertices).corners())[:, [0, 2]]
    hull = shapely.MultiPoint(corners).convex_hull
    return np.asarray(hull.exterior.coords)[:-1] if isinstance(hull, Polygon) else corners[:2]


def _color(mesh: Mesh) -> tuple[int, int, int]:
    """The mean colour of what is seen of a mesh from above."""
    corners = mesh.vertices[mesh.faces]
    upward = np.maximum(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 1], 0.0)
    shares = upward if upward.any() else np.ones(len(upward))
    red, green, blue = (round(float(channel)) for channel in np.average(mesh.colors[:, :3], axis=0, weights=shares))
    return red, green, blue


def _to_pixels(area: Area, frame: PlanProjection) -> Area:
    return shapely.transform(area, frame.pixels)


def _traced(scene: Scene, receptacles: Sequence[str], frame: PlanProjection, walls: Area) -> Picture:
    """The house without its lintels, seen from far above, with shadows; (height, width, 3)."""
    color, height = _view_from_above(scene, receptacles, frame)
    solid = np.asarray(fill_mask(walls, frame.size, PICTURE_SCALE)) > 0
    dark = _shadow(np.where(solid, _CUT, height), PICTURE_SCALE * frame.scale)
    color *= (1 - (1 - _SHADOW) * dark)[:, :, None]
    return np.asarray((1 - _HAZE) * color + _HAZE * 252, dtype=np.uint8)


def _view_from_above(
    scene: Scene, receptacles: Sequence[str], frame: PlanProjection
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Colour (height, width, 3), 0 to 255, and height above the floor (height, width), metres."""
    right, down = (PICTURE_SCALE * pixels for pixels in frame.size)
    columns, rows = (down, right) if frame.turned else (right, down)
    angle = 2 * float(np.arctan(frame.width / 2 / _ALTITUDE))
    camera = Camera(columns, rows, angle, _ALTITUDE, 0.0, 2 * _ALTITUDE)
    simulator = RaycastSimulator(camera, sensors=("rgb", "depth"))
    above = BodyPose(frame.left + frame.width / 2, frame.top + frame.depth / 2, 0.0, -float(np.pi / 2))
    simulator.reset(replace(scene, structure=_lower_part(scene.structure)), receptacles, (), above)
    view = simulator.observe(above)
    color = np.minimum(view.rgb / np.float32(_FADE), np.float32(255))
    height = np.float32(scene.navmesh.height + _ALTITUDE) - view.depth
    return (np.rot90(color, k=-1), np.rot90(height, k=-1)) if frame.turned else (color, height)


def _lower_part(mesh: Mesh) -> Mesh:
    low = float(mesh.vertices[:, 1].min()) if len(mesh.vertices) else 0.0
    kept = mesh.vertices[mesh.faces][:, :, 1].min(axis=1) < low + _CUT
    return Mesh(mesh.vertices, mesh.faces[kept], mesh.colors[kept])


def _shadow(height: NDArray[np.float32], scale: float) -> NDArray[np.float32]:
    """How much of each spot (0 to 1) lies in the shadow of something higher.

    Args:
        height: of each pixel, metres.
        scale: pixels per metre.
    """
    # Low things cast all the shadow that shows their shape; longer shadows would only darken the floor.
    low = np.minimum(height - np.median(height), np.float32(_TALLEST))
    dark = np.zeros(height.shape, dtype=bool)
    for far in range(1, round(_TALLEST * _SUN * scale)):
        dark[far:, far:] |= low[:-far, :-far] > low[far:, far:] + np.float32(far / scale / _SUN + 0.02)
    return np.asarray(ndimage.gaussian_filter(dark.astype(np.float32), 0.02 * scale), dtype=np.float32)


def _room_spots(
    scene: Scene,
    owners: Mapping[str, str | None],
    furniture: Mapping[str, NDArray[np.float64]],
    frame: PlanProjection,
    walls: Area,
) -> dict[str, tuple[float, float]]:
    """Where each room's name covers the least of furniture and walls, in pixels.

    Args:
        scene: the house.
        owners: room of each piece of furniture, None for what stands in none.
        furniture: outlines in pixels, by name.
        frame: from metres to pixels.
        walls: in pixels.
    """
    owned = [name for name, room in owners.items() if room is not None]
    outlines = np.asarray([Polygon(furniture[name]).convex_hull for name in owned])
    low_x, low_z, high_x, high_z = scene.navmesh.area.bounds
    xs, zs = np.meshgrid(np.arange(low_x, high_x, 0.2), np.arange(low_z, high_z, 0.2))
    inside = shapely.contains_xy(scene.navmesh.area, xs, zs)
    points = frame.pixels(np.column_stack([xs[inside], zs[inside]]))
    nearest = shapely.distance(outlines[:, None], shapely.points(points)[None]).argmin(axis=0)
    owner = np.array([owners[name] for name in owned])[nearest]
    solid = MultiPolygon([outline for outline in outlines if isinstance(outline, Polygon)])
    covered = _Coverage(fill_mask(solid, frame.size), fill_mask(walls, frame.size))
    spots = {}
    for room in scene.rooms:
        mine = points[owner == room.name]
        if len(mine):
            away = np.linalg.norm(mine - mine.mean(axis=0), axis=1)
            half = ROOM_LETTER_WIDTH * len(room.name) / 2 + 4
            x, y = mine[(covered.under(mine, half, 10) + 2 * away).argmin()]
            spots[room.name] = (float(x), float(y))
    return spots


class _Coverage:
    """How many pixels of furniture, and four times as many of walls, lie under a label.

    Args:
        furniture, walls: masks of the whole plan.
    """

    def __init__(self, furniture: Image.Image, walls: Image.Image) -> None:
        weight = (np.asarray(furniture) > 0).astype(np.int64) + 4 * (np.asarray(walls) > 0)
        # Sums over all that lies above and to the left, from which those over any rectangle follow.
        self._sums = np.pad(weight.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))

    def under(self, middles: NDArray[np.float64], half_width: float, half_height: float) -> NDArray[np.int64]:
        """How much lies under labels with these middles, (N, 2)."""
        rows, columns = self._sums.shape
        half = np.array([half_width, half_height])
        most = np.array([columns - 1, rows - 1])
        left, top = np.clip(np.rint(middles - half), 0, most).astype(int).T
        right, bottom = np.clip(np.rint(middles + half), 0, most).astype(int).T
        sums = self._sums
        return np.asarray(sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left])
