"""The embedded simulator, which traces rays with Embree and needs neither a GPU nor OpenGL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.geometry import Array, Pose
from housewise.worlds.house.object_placeholders import placeholder_mesh
from housewise.worlds.house.scene import Mesh, Scene
from housewise.worlds.house.simulator.base import SENSORS, BodyPose, Camera, Observation, Sensor
from housewise.worlds.house.simulator.embree import Rays, Triangles
from housewise.worlds.house.simulator.house_simulator import HouseSimulator
from housewise.worlds.house.simulator.shading import SKY, shaded_colors

_STATIC, _MOVING = 0, 1
_NEAR = 1e-3
"""Distance from the plane of the lens at which a corner counts as beside it, metres."""


class MeshLayer:
    """Meshes in one search tree.

    Args:
        number: Number of the layer.
        parts: Instance number and mesh in the world frame of each part.

    Attributes:
        owner: (triangles + 1,) instance number of each triangle.
        color: (triangles + 1, 3) shaded RGB.
        triangles: Search tree of the triangles.
        starts: Number of the first corner of each part that has corners.
    """

    def __init__(self, number: int, parts: Sequence[tuple[int, Mesh]]) -> None:
        mesh = Mesh.join([mesh for _, mesh in parts])
        counts = [len(mesh.vertices) for _, mesh in parts if len(mesh.vertices)]
        self.starts = np.cumsum([0, *counts[:-1]]) if counts else np.zeros(0, dtype=np.int64)
        owners = [np.full(len(mesh.faces), number, dtype=np.int32) for number, mesh in parts]
        # The last row is that of rays without a hit, whose triangle is -1.
        self.owner = np.concatenate([*owners, np.zeros(1, dtype=np.int32)])
        self.color = np.concatenate([shaded_colors(mesh), np.array([SKY], dtype=np.float32)])
        self.triangles = Triangles(mesh.vertices, mesh.faces, number)


_STATIC_LAYERS: WeakValueDictionary[tuple[Scene, tuple[str, ...]], MeshLayer] = WeakValueDictionary()
"""Layers of the static parts of houses that simulators use now, by scene and keys of the furniture."""


class CameraRays(Rays):
    """The rays of a camera.

    Attributes:
        directions: (pixels, 3) unit vectors in the camera's frame, where -z is ahead.
        cosine: (pixels,) cosine of the angle between each ray and the optical axis.
    """

    def __init__(self, camera: Camera) -> None:
        directions = _directions(camera)
        super().__init__(directions)
        self.directions = directions.reshape(-1, 3)
        self._camera = camera
        self.cosine = -directions[..., 2].ravel()

    def __reduce__(self) -> tuple[Any, ...]:
        """Make a copy allocate its own packets."""
        return type(self), (self._camera,)

    def packets_around(self, layer: MeshLayer, lens: Array, rotation: Array) -> list[int]:
        """Return the numbers of the packets whose rays may hit a layer.

        These are the packets of the rectangles around the parts of the layer in the image, and a pixel more.

        Args:
            layer: The layer.
            lens: (3,) origin of the rays in the world.
            rotation: (3, 3) from the camera's frame to the world.
        """
        shown = np.zeros(self.tiles, dtype=bool)
        for across, down in self._rectangles(layer, lens, rotation):
            shown[down, across] = True
        packets: list[int] = np.flatnonzero(shown).tolist()
        return packets

    def _rectangles(self, layer: MeshLayer, lens: Array, rotation: Array) -> Iterator[tuple[slice, slice]]:
        """Yield the columns and rows of packets around each part of a layer that is not behind the camera."""
        if not len(layer.starts):
            return
        right, up, back = rotation.T @ (layer.triangles.vertices - lens).T
        half, ahead = np.tan(self._camera.field_of_view / 2), np.maximum(-back, _NEAR)
        pixels = self._camera.width / 2 / half / ahead
        places = np.stack([self._camera.width / 2 + right * pixels, self._camera.height / 2 - up * pixels])
        per_tile = np.array([[self.tile[1]], [self.tile[0]]])
        most = np.array([[self.tiles[1]], [self.tiles[0]]])
        first = np.clip((np.minimum.reduceat(places, layer.starts, axis=1) - 1) // per_tile, 0, most).astype(int)
        last = np.clip((np.maximum.reduceat(places, layer.starts, axis=1) + 1) // per_tile + 1, 0, most).astype(int)
        nearest, farthest = (kind.reduceat(-back, layer.starts) for kind in (np.minimum, np.maximum))
        # What is beside the lens as well as in front of it may be anywhere in the image.
        first[:, nearest <= _NEAR], last[:, nearest <= _NEAR] = 0, most
        last[:, farthest < -_NEAR] = 0
        for (left, top), (after, below) in zip(first.T.tolist(), last.T.tolist(), strict=True):
            yield slice(left, after), slice(top, below)


class RaycastSimulator(HouseSimulator):
    """The embedded simulator; implements housewise.worlds.house.simulator.base.Simulator.

    Args:
        camera: The robot's camera.
        sensors: Arrays of each observation; fewer are faster.
    """

    def __init__(self, camera: Camera | None = None, sensors: Sequence[Sensor] = SENSORS) -> None:
        super().__init__(camera, sensors)
        self._picture = CameraRays(self.camera)
        self._middle = CameraRays(replace(self.camera, width=1, height=1))

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """See Simulator.reset. Simulators of the same house share its search tree."""
        furniture = self._number_contents(scene, receptacles, objects)
        house = (scene, self.keys[1 : len(furniture) + 1])
        layer = _STATIC_LAYERS.get(house)
        if layer is None:
            placed = [(self._number[thing.key], thing.mesh.transform(thing.pose)) for thing in furniture]
            layer = _STATIC_LAYERS[house] = MeshLayer(_STATIC, [(0, scene.structure), *placed])
        self._static = layer
        self.navmesh = scene.navmesh
        self._shapes = {thing.key: placeholder_mesh(thing.category, thing.size) for thing in objects}
        self._placed: dict[str, Mesh | None] = {}
        self._moving: MeshLayer | None = None
        for thing in objects:
            self.move_object(thing.key, thing.pose)
        self.body = body.moved_to(scene.navmesh.snap(body.point))

    def observe(self, body: BodyPose | None = None) -> Observation:
        """See Simulator.observe."""
        distance, owner, color = self._trace(body or self.body, self._picture)
        shape = (self.camera.height, self.camera.width)
        images: dict[str, NDArray[Any]] = {"instance": owner.reshape(shape)}
        if "depth" in self.sensors:
            along = distance * self._picture.cosine
            images["depth"] = np.clip(along, self.camera.min_depth, self.camera.max_depth).reshape(shape)
        if "rgb" in self.sensors:
            fade = 1.0 - 0.25 * np.clip(distance / 8.0, 0.0, 1.0)
            images["rgb"] = np.clip(color() * fade[:, None], 0, 255).astype(np.uint8).reshape(*shape, 3)
        if "semantic" in self.sensors:
            images["semantic"] = self._kind_of.take(owner).reshape(shape)
        return Observation(**images)

    def visible(self, body: BodyPose | None = None) -> frozenset[str]:
        """See Simulator.visible."""
        _, owner, _ = self._trace(body or self.body, self._picture)
        return self.visible_in(owner)

    def aimed_at(self, reach: float) -> str | None:
        """See Simulator.aimed_at."""
        distance, owner, _ = self._trace(self.body, self._middle)
        return self.keys[owner[0]] or None if distance[0] <= reach else None

    def move_object(self, key: str, pose: Pose | None) -> None:
        """See Simulator.move_object."""
        self._placed[key] = None if pose is None else self._shapes[key].transform(pose)
        self._moving = None

    def close(self) -> None:
        """See Simulator.close. There is nothing to release."""

    def _trace(
        self, body: BodyPose, rays: CameraRays
    ) -> tuple[NDArray[np.float32], NDArray[np.int32], Callable[[], NDArray[np.float32]]]:
        """Trace the rays; return the distance and the instance number of each hit, and a function for the colours."""
        if self._moving is None:
            shown = [(self._number[key], mesh) for key, mesh in self._placed.items() if mesh is not None]
            self._moving = MeshLayer(_MOVING, shown)
        moving = self._moving
        lens = np.array([body.x, self.navmesh.height + self.camera.above_floor, body.z])
        rotation = camera_rotation(body)
        rays.aim(lens, rotation)
        # Where an object touches furniture, the hit of the layer traced last counts.
        rays.trace(moving.triangles, rays.packets_around(moving, lens, rotation))
        rays.trace(self._static.triangles)
        triangle, on_object = rays.triangle, np.flatnonzero(rays.layer == _MOVING)
        owner = self._static.owner.take(triangle, mode="wrap")
        owner[on_object] = moving.owner[triangle[on_object]]

        def color() -> NDArray[np.float32]:
            colors = self._static.color.take(triangle, axis=0, mode="wrap")
            colors[on_object] = moving.color[triangle[on_object]]
            return colors

        return rays.distance, owner, color


def _directions(camera: Camera) -> NDArray[np.float32]:
    """Return unit vectors (height, width, 3) through the pixels in the camera's frame, where -z is ahead."""
    half = np.tan(camera.field_of_view / 2)
    right = (np.arange(camera.width) + 0.5) / camera.width * 2 - 1
    up = 1 - (np.arange(camera.height) + 0.5) / camera.height * 2
    ahead = -np.ones((camera.height, camera.width))
    rays = np.stack([*np.meshgrid(right * half, up * half * camera.height / camera.width), ahead])
    return np.asarray(np.moveaxis(rays / np.linalg.norm(rays, axis=0), 0, -1), dtype=np.float32)


def camera_rotation(body: BodyPose) -> Array:
    """Return the (3, 3) rotation from the camera's frame to the world: pitch about x, then yaw about y."""
    cos_yaw, sin_yaw = np.cos(body.yaw), np.sin(body.yaw)
    cos_pitch, sin_pitch = np.cos(body.pitch), np.sin(body.pitch)
    turn = np.array([[cos_yaw, 0, sin_yaw], [0, 1, 0], [-sin_yaw, 0, cos_yaw]])
    tilt = np.array([[1, 0, 0], [0, cos_pitch, -sin_pitch], [0, sin_pitch, cos_pitch]])
    return np.asarray(turn @ tilt, dtype=np.float64)
