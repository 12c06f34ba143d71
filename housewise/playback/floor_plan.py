"""Floor plans: walls, rooms and furniture of a house from above, with an optional ray-traced picture."""

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
# From above, lintels and the tops of walls would hide doorways.
_MAX_HEIGHT = 2.0
_WALL_THICKNESS = 0.11
_MAX_WALL_THICKNESS = 0.25
_MAX_FURNITURE_AREA = 0.6
# Nearly a parallel projection: at 6 m from the centre, 2 m of height shift by 3 cm.
_ALTITUDE = 400.0
_FADE = 0.75
_HAZE = 0.3
_SHADOW_BRIGHTNESS = 0.66
# Length of a shadow per metre of height, along each axis.
_SHADOW_LENGTH = 0.3
_MAX_SHADOW_HEIGHT = 1.0

MAX_SIZE = (860, 760)
"""Maximum width and height of a plan, pixels."""

PICTURE_SCALE = 2
"""Pixels of the picture per pixel of the plan."""

ROOM_LETTER_WIDTH = 8.6
"""Width of a letter of a room's name, pixels."""


@dataclass(frozen=True)
class PlanProjection:
    """Projection of the house to the plan.

    Attributes:
        left, top: Smallest x and z on the plan, metres.
        width, depth: Extent along x and z, metres.
        scale: Pixels per metre.
        is_rotated: Whether x points down on the plan instead of right, so that long houses fit.
    """

    left: float
    top: float
    width: float
    depth: float
    scale: float
    is_rotated: bool

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the plan, pixels."""
        across, down = (self.depth, self.width) if self.is_rotated else (self.width, self.depth)
        return round(across * self.scale), round(down * self.scale)

    def pixels(self, points: ArrayLike) -> NDArray[np.float64]:
        """Project (N, 2) points (x, z) in metres to pixels (right, down)."""
        x, z = (np.asarray(points, dtype=np.float64).reshape(-1, 2) - [self.left, self.top]).T
        right, down = (self.depth - z, x) if self.is_rotated else (x, z)
        return np.column_stack([right, down]) * self.scale

    def heading(self, yaw: float) -> float:
        """Return the direction of a robot with this yaw on the plan, radians clockwise from right."""
        across, along = -np.sin(yaw), -np.cos(yaw)
        return float(np.arctan2(across, -along) if self.is_rotated else np.arctan2(along, across))


@dataclass(frozen=True, eq=False)
class FloorPlan:
    """A house from above.

    Attributes:
        projection: Projection from metres to pixels.
        picture: (PICTURE_SCALE * height, PICTURE_SCALE * width, 4) uint8, transparent outside of the house, or None.
        floor: Floor without the walls, in pixels.
        walls: Walls, in pixels.
        furniture: Outline of each receptacle in pixels by name, the lowest first.
        colors: Mean RGB colour of each receptacle from above, by name.
        rooms: Position of each room's label, in pixels.
    """

    projection: PlanProjection
    picture: Picture | None
    floor: Area
    walls: Area
    furniture: dict[str, NDArray[np.float64]]
    colors: dict[str, tuple[int, int, int]]
    rooms: dict[str, tuple[float, float]]


@lru_cache(maxsize=4)
def draw_floor_plan(
    scene: Scene, receptacles: tuple[str, ...], max_size: tuple[int, int] = MAX_SIZE, with_picture: bool = True
) -> FloorPlan:
    """Draw the floor plan of a house.

    Args:
        scene: The house.
        receptacles: Keys of its receptacles.
        max_size: Maximum width and height of the plan, pixels.
        with_picture: Whether to trace a picture, which takes most of the time.
    """
    floor = _floor(scene)
    projection = fit_projection(floor, *max_size)
    present = sorted((scene.by_key[key] for key in receptacles), key=lambda thing: thing.box.top)
    whole = floor.buffer(_WALL_THICKNESS, join_style="mitre")
    walls = to_pixels(whole.difference(floor), projection)
    furniture = {thing.name: projection.pixels(_footprint(thing)) for thing in present}
    colors = {thing.name: _mean_color(thing.mesh) for thing in present}
    picture = None
    if with_picture:
        mask = np.asarray(fill_mask(to_pixels(whole, projection), projection.size, PICTURE_SCALE))
        picture = np.dstack([_trace_picture(scene, receptacles, projection, walls), mask])
    rooms = _label_positions(scene, {thing.name: thing.room for thing in present}, furniture, projection, walls)
    return FloorPlan(projection, picture, to_pixels(floor, projection), walls, furniture, colors, rooms)


def fill_mask(area: Area, size: tuple[int, int], scale: float = 1.0) -> Image.Image:
    """Return a mask that is white inside an area.

    Args:
        area: Area in pixels.
        size: Width and height of the area's plan.
        scale: Pixels of the mask per pixel of the area.
    """
    mask = Image.new("L", (round(size[0] * scale), round(size[1] * scale)))
    draw = ImageDraw.Draw(mask)
    for part in getattr(area, "geoms", [area]):
        draw.polygon([(x * scale, y * scale) for x, y in part.exterior.coords], fill=255)
        for ring in part.interiors:
            draw.polygon([(x * scale, y * scale) for x, y in ring.coords], fill=0)
    return mask


def _floor(scene: Scene) -> Area:
    """Return what a cut through the walls at eye level leaves around the navigation mesh, (x, z) in metres."""
    mesh, area = scene.structure, scene.navmesh.area
    low = float(mesh.vertices[:, 1].min()) if len(mesh.vertices) else 0.0
    solid = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    cut = trimesh.intersections.mesh_plane(solid, [0, 1, 0], [0, low + _EYE_LEVEL, 0])
    lines = shapely.linestrings(np.round(cut[:, :, [0, 2]], 3)) if len(cut) else []
    pieces = shapely.get_parts(shapely.polygonize(shapely.get_parts(shapely.union_all(lines))))
    inside = [piece for piece in pieces if piece.intersection(area).area > 0.05]
    return _fill_furniture_holes(shapely.union_all([area, *inside]))


def _fill_furniture_holes(floor: Area) -> Area:
    """Fill the holes of a floor that are not walls: small ones, and those thicker than walls."""

    def is_wall(hole: Polygon) -> bool:
        return bool(hole.area > _MAX_FURNITURE_AREA or hole.buffer(-_MAX_WALL_THICKNESS / 2).is_empty)

    parts = [
        Polygon(part.exterior, [ring for ring in part.interiors if is_wall(Polygon(ring))])
        for part in getattr(floor, "geoms", [floor])
    ]
    return shapely.union_all(parts)


def fit_projection(floor: Area, width: int, height: int) -> PlanProjection:
    """Return the projection that shows a floor as large as possible.

    Args:
        floor: The floor, (x, z) in metres.
        width: Maximum width of the plan, pixels.
        height: Maximum height of the plan, pixels.
    """
    low_x, low_z, high_x, high_z = floor.bounds
    across, along = high_x - low_x + 2 * _MARGIN, high_z - low_z + 2 * _MARGIN
    is_rotated = along > 1.15 * across
    right, down = (along, across) if is_rotated else (across, along)
    return PlanProjection(
        low_x - _MARGIN, low_z - _MARGIN, across, along, min(width / right, height / down), is_rotated
    )


def _footprint(thing: Receptacle) -> NDArray[np.float64]:
    """Return the corners of a receptacle's oriented bounding box from above, (N, 2)."""
    corners = thing.pose.apply(Box.bounding(thing.mesh.vertices).corners())[:, [0, 2]]
    hull = shapely.MultiPoint(corners).convex_hull
    return np.asarray(hull.exterior.coords)[:-1] if isinstance(hull, Polygon) else corners[:2]


def _mean_color(mesh: Mesh) -> tuple[int, int, int]:
    """Return the mean colour of the upper side of a mesh."""
    corners = mesh.vertices[mesh.faces]
    upward = np.maximum(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 1], 0.0)
    shares = upward if upward.any() else np.ones(len(upward))
    red, green, blue = (round(float(channel)) for channel in np.average(mesh.colors[:, :3], axis=0, weights=shares))
    return red, green, blue


def to_pixels(area: Area, projection: PlanProjection) -> Area:
    """Project an area from metres to pixels."""
    return shapely.transform(area, projection.pixels)


def _trace_picture(scene: Scene, receptacles: Sequence[str], projection: PlanProjection, walls: Area) -> Picture:
    """Return the house without lintels from above, with shadows, (height, width, 3)."""
    color, height = _view_from_above(scene, receptacles, projection)
    solid = np.asarray(fill_mask(walls, projection.size, PICTURE_SCALE)) > 0
    shadow = _shadow(np.where(solid, _MAX_HEIGHT, height), PICTURE_SCALE * projection.scale)
    color *= (1 - (1 - _SHADOW_BRIGHTNESS) * shadow)[:, :, None]
    return np.asarray((1 - _HAZE) * color + _HAZE * 252, dtype=np.uint8)


def _view_from_above(
    scene: Scene, receptacles: Sequence[str], projection: PlanProjection
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return colours (height, width, 3) from 0 to 255, and heights above the floor (height, width), metres."""
    right, down = (PICTURE_SCALE * pixels for pixels in projection.size)
    columns, rows = (down, right) if projection.is_rotated else (right, down)
    angle = 2 * float(np.arctan(projection.width / 2 / _ALTITUDE))
    camera = Camera(columns, rows, angle, _ALTITUDE, 0.0, 2 * _ALTITUDE)
    simulator = RaycastSimulator(camera, sensors=("rgb", "depth"))
    above = BodyPose(
        projection.left + projection.width / 2, projection.top + projection.depth / 2, 0.0, -float(np.pi / 2)
    )
    simulator.reset(replace(scene, structure=_lower_part(scene.structure)), receptacles, (), above)
    view = simulator.observe(above)
    color = np.minimum(view.rgb / np.float32(_FADE), np.float32(255))
    height = np.float32(scene.navmesh.height + _ALTITUDE) - view.depth
    return (np.rot90(color, k=-1), np.rot90(height, k=-1)) if projection.is_rotated else (color, height)


def _lower_part(mesh: Mesh) -> Mesh:
    low = float(mesh.vertices[:, 1].min()) if len(mesh.vertices) else 0.0
    is_low = mesh.vertices[mesh.faces][:, :, 1].min(axis=1) < low + _MAX_HEIGHT
    return Mesh(mesh.vertices, mesh.faces[is_low], mesh.colors[is_low])


def _shadow(height: NDArray[np.float32], scale: float) -> NDArray[np.float32]:
    """Return how much of each pixel lies in the shadow of something higher, from 0 to 1.

    Args:
        height: Height of each pixel, metres.
        scale: Pixels per metre.
    """
    # Low shadows show the shape of furniture. Longer ones would only darken the floor.
    low = np.minimum(height - np.median(height), np.float32(_MAX_SHADOW_HEIGHT))
    shadow = np.zeros(height.shape, dtype=bool)
    for offset in range(1, round(_MAX_SHADOW_HEIGHT * _SHADOW_LENGTH * scale)):
        shadow[offset:, offset:] |= low[:-offset, :-offset] > low[offset:, offset:] + np.float32(
            offset / scale / _SHADOW_LENGTH + 0.02
        )
    return np.asarray(ndimage.gaussian_filter(shadow.astype(np.float32), 0.02 * scale), dtype=np.float32)


def _label_positions(
    scene: Scene,
    owners: Mapping[str, str | None],
    furniture: Mapping[str, NDArray[np.float64]],
    projection: PlanProjection,
    walls: Area,
) -> dict[str, tuple[float, float]]:
    """Return where each room's label covers the least furniture and walls, in pixels.

    Args:
        scene: The house.
        owners: Room of each receptacle, or None.
        furniture: Outlines in pixels, by name.
        projection: Projection from metres to pixels.
        walls: Walls, in pixels.
    """
    owned = [name for name, room in owners.items() if room is not None]
    outlines = np.asarray([Polygon(furniture[name]).convex_hull for name in owned])
    low_x, low_z, high_x, high_z = scene.navmesh.area.bounds
    xs, zs = np.meshgrid(np.arange(low_x, high_x, 0.2), np.arange(low_z, high_z, 0.2))
    inside = shapely.contains_xy(scene.navmesh.area, xs, zs)
    points = projection.pixels(np.column_stack([xs[inside], zs[inside]]))
    nearest = shapely.distance(outlines[:, None], shapely.points(points)[None]).argmin(axis=0)
    owner = np.array([owners[name] for name in owned])[nearest]
    solid = MultiPolygon([outline for outline in outlines if isinstance(outline, Polygon)])
    coverage = _LabelCoverage(fill_mask(solid, projection.size), fill_mask(walls, projection.size))
    positions = {}
    for room in scene.rooms:
        mine = points[owner == room.name]
        if len(mine):
            away = np.linalg.norm(mine - mine.mean(axis=0), axis=1)
            half = ROOM_LETTER_WIDTH * len(room.name) / 2 + 4
            x, y = mine[(coverage.count_pixels(mine, half, 10) + 2 * away).argmin()]
            positions[room.name] = (float(x), float(y))
    return positions


class _LabelCoverage:
    """Counts pixels of furniture under a label, and pixels of walls four times.

    Args:
        furniture, walls: Masks of the whole plan.
    """

    def __init__(self, furniture: Image.Image, walls: Image.Image) -> None:
        weight = (np.asarray(furniture) > 0).astype(np.int64) + 4 * (np.asarray(walls) > 0)
        # Summed-area table: the sum over any rectangle follows from four of its values.
        self._sums = np.pad(weight.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))

    def count_pixels(self, middles: NDArray[np.float64], half_width: float, half_height: float) -> NDArray[np.int64]:
        """Return the counts under labels with these centres, (N, 2)."""
        rows, columns = self._sums.shape
        half = np.array([half_width, half_height])
        most = np.array([columns - 1, rows - 1])
        left, top = np.clip(np.rint(middles - half), 0, most).astype(int).T
        right, bottom = np.clip(np.rint(middles + half), 0, most).astype(int).T
        sums = self._sums
        return np.asarray(sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left])
