"""The embedded simulator: traces the house's triangles with Embree; no GPU, no OpenGL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from numpy.typing import NDArray

from household.episode import HouseObject
from household.geometry import Array, Pose, forward_of
from household.names import spoken
from household.navigation import NavMesh
from household.proxies import object_mesh
from household.scene import Mesh, Scene
from household.simulator.base import SENSORS, STEP, TURN, Action, BodyPose, Camera, Observation, Sensor

_LOOK_LIMIT = np.deg2rad(85.0)
_LIGHT = np.array([0.4, 0.8, 0.45]) / np.linalg.norm([0.4, 0.8, 0.45])
_SKY = (196, 214, 228)
_BUMP = 1e-3


class _Layer:
    """Triangles that are traced together, each belonging to one numbered thing.

    Args:
        parts: (thing's number, mesh in the world frame).
    """

    def __init__(self, parts: Sequence[tuple[int, Mesh]]) -> None:
        mesh = Mesh.join([mesh for _, mesh in parts])
        owners = [np.full(len(mesh.faces), number, dtype=np.int32) for number, mesh in parts]
        # The last row answers for rays that hit nothing (Embree numbers those -1).
        self.owner = np.concatenate([*owners, np.zeros(1, dtype=np.int32)])
        self.color = np.concatenate([mesh.colors, [_SKY]]).astype(np.float32)
        corners = mesh.vertices[mesh.faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        shade = np.where(normals[:, 1] > 0.5, 1.0, 0.62 + 0.3 * np.abs(normals @ _LIGHT))
        self.color[:-1] *= shade[:, None].astype(np.float32)
        self._scene = EmbreeScene()
        if len(mesh.faces):
            TriangleMesh(self._scene, mesh.vertices.astype(np.float32), mesh.faces.astype(np.int32))
        self._empty = not len(mesh.faces)

    def trace(self, origins: NDArray[np.float32], directions: NDArray[np.float32]) -> tuple[Array, NDArray[np.int32]]:
        """Distance (inf for none) and triangle (-1 for none) that each ray meets first."""
        if self._empty:
            return np.full(len(origins), np.inf), np.full(len(origins), -1, dtype=np.int32)
        hit = self._scene.run(origins, directions, output=1)
        triangle = hit["primID"]
        return np.where(triangle < 0, np.inf, hit["tfar"]), triangle


class RaycastSimulator:
    """See household.simulator.base.Simulator.

    Args:
        camera: the robot's.
        sensors: which arrays an observation carries; fewer are faster.
    """

    def __init__(self, camera: Camera | None = None, sensors: Sequence[Sensor] = SENSORS) -> None:
        self.camera = camera or Camera()
        self.sensors = frozenset(sensors)
        self._rays = _pixel_rays(self.camera)
        self._house: tuple[Scene, tuple[str, ...]] | None = None
        self._static = _Layer([])

    @property
    def navmesh(self) -> NavMesh:
        return self._scene.navmesh

    @property
    def body(self) -> BodyPose:
        return self._body

    @property
    def keys(self) -> tuple[str, ...]:
        return self._keys

    @property
    def kinds(self) -> tuple[str, ...]:
        return self._kinds

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """See Simulator.reset; the furniture is kept when only the objects differ from the last time."""
        present = set(receptacles)
        furniture = [thing for thing in scene.receptacles if thing.key in present or thing.kind == "door"]
        order = {key: number for number, key in enumerate(receptacles)}
        furniture.sort(key=lambda thing: order.get(thing.key, len(order)))
        self._keys = ("", *(thing.key for thing in furniture), *(thing.key for thing in objects))
        self._number = {key: number for number, key in enumerate(self._keys)}
        kinds = ["", *(thing.kind for thing in furniture), *(spoken(thing.category) for thing in objects)]
        self._kinds = ("", *sorted(set(kinds[1:])))
        self._kind_of = np.array([self._kinds.index(kind) for kind in kinds], dtype=np.int32)
        house = (scene, self._keys[1 : len(furniture) + 1])
        if self._house is None or self._house[0] is not scene or self._house[1] != house[1]:
            placed = [(self._number[thing.key], thing.mesh.placed(thing.pose)) for thing in furniture]
            self._static = _Layer([(0, scene.structure), *placed])
            self._house = house
        self._scene = scene
        self._shapes = {thing.key: object_mesh(thing.category, thing.size) for thing in objects}
        self._poses: dict[str, Pose | None] = {thing.key: thing.pose for thing in objects}
        self._moving: _Layer | None = None
        self._body = body.at(scene.navmesh.snap(body.point))

    def act(self, action: Action) -> bool:
        """See Simulator.act."""
        body = self._body
        if action == Action.MOVE_FORWARD:
            goal = body.point + STEP * forward_of(body.yaw)[[0, 2]]
            self._body = body.at(self._scene.navmesh.move(body.point, goal))
            return bool(np.linalg.norm(self._body.point - goal) > _BUMP)
        if action in (Action.TURN_LEFT, Action.TURN_RIGHT):
            self._body = replace(body, yaw=body.yaw + (TURN if action == Action.TURN_LEFT else -TURN))
        elif action in (Action.LOOK_UP, Action.LOOK_DOWN):
            pitch = body.pitch + (TURN if action == Action.LOOK_UP else -TURN)
            self._body = replace(body, pitch=float(np.clip(pitch, -_LOOK_LIMIT, _LOOK_LIMIT)))
        return False

    def stand(self, body: BodyPose) -> None:
        """See Simulator.stand."""
        self._body = body

    def observe(self, body: BodyPose | None = None) -> Observation:
        """See Simulator.observe."""
        directions = self._directions(body or self._body)
        distance, owner, color = self._trace(body or self._body, directions)
        shape = (self.camera.height, self.camera.width)
        depth = rgb = semantic = None
        if "depth" in self.sensors:
            along = np.where(np.isfinite(distance), distance * self._rays[1], self.camera.max_depth)
            depth = np.clip(along, self.camera.min_depth, self.camera.max_depth).astype(np.float32).reshape(shape)
        if "rgb" in self.sensors:
            fade = 1.0 - 0.25 * np.clip(distance / 8.0, 0.0, 1.0)
            rgb = np.clip(color() * fade[:, None], 0, 255).astype(np.uint8).reshape(*shape, 3)
        if "semantic" in self.sensors:
            semantic = self._kind_of[owner].reshape(shape)
        return Observation(
            np.empty((0, 0, 3), np.uint8) if rgb is None else rgb,
            np.empty((0, 0), np.float32) if depth is None else depth,
            owner.reshape(shape),
            np.empty((0, 0), np.int32) if semantic is None else semantic,
        )

    def visible(self, body: BodyPose | None = None) -> frozenset[str]:
        """See Simulator.visible."""
        standing = body or self._body
        _, owner, _ = self._trace(standing, self._directions(standing))
        return self.things(owner)

    def things(self, instance: NDArray[np.int32]) -> frozenset[str]:
        """Keys of the things in an instance image."""
        present = np.bincount(instance.ravel(), minlength=1)
        return frozenset(self._keys[number] for number in np.flatnonzero(present) if number)

    def aimed_at(self, reach: float) -> str | None:
        """See Simulator.aimed_at."""
        ahead = _rotation(self._body) @ np.array([0.0, 0.0, -1.0])
        distance, owner, _ = self._trace(self._body, ahead[None].astype(np.float32))
        return self._keys[owner[0]] or None if distance[0] <= reach else None

    def move_object(self, key: str, pose: Pose | None) -> None:
        """See Simulator.move_object."""
        self._poses[key] = pose
        self._moving = None

    def close(self) -> None:
        """Nothing to release."""

    def _directions(self, body: BodyPose) -> NDArray[np.float32]:
        return np.asarray(self._rays[0] @ _rotation(body).T.astype(np.float32), dtype=np.float32)

    def _trace(
        self, body: BodyPose, directions: NDArray[np.float32]
    ) -> tuple[Array, NDArray[np.int32], Callable[[], NDArray[np.float32]]]:
        """Distance, owner and (on call) colour that each ray from the lens meets."""
        lens = np.array([body.x, self._scene.navmesh.height + self.camera.above_floor, body.z], dtype=np.float32)
        origins = np.broadcast_to(lens, directions.shape).copy()
        if self._moving is None:
            self._moving = self._object_layer()
        distance, triangle = self._static.trace(origins, directions)
        near, small = self._moving.trace(origins, directions)
        closer = near < distance
        owner = np.where(closer, self._moving.owner[small], self._static.owner[triangle])

        def color() -> NDArray[np.float32]:
            moving = self._moving or self._static
            return np.where(closer[:, None], moving.color[small], self._static.color[triangle])

        return np.minimum(near, distance), owner, color

    def _object_layer(self) -> _Layer:
        present = [(key, pose) for key, pose in self._poses.items() if pose is not None]
        return _Layer([(self._number[key], self._shapes[key].placed(pose)) for key, pose in present])


@lru_cache(maxsize=8)
def _pixel_rays(camera: Camera) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Unit directions (pixels, 3) in the camera's frame (-z ahead), and their cosine to the optical axis."""
    half = np.tan(camera.field_of_view / 2)
    columns = (np.arange(camera.width) + 0.5) / camera.width * 2 - 1
    rows = 1 - (np.arange(camera.height) + 0.5) / camera.height * 2
    across, up = np.meshgrid(columns * half, rows * half * camera.height / camera.width)
    rays = np.stack([across.ravel(), up.ravel(), -np.ones(across.size)], axis=1)
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    return rays.astype(np.float32), (-rays[:, 2]).astype(np.float32)


def _rotation(body: BodyPose) -> Array:
    """(3, 3) matrix from the camera's frame to the world: pitch about x, then yaw about y."""
    cos_yaw, sin_yaw = np.cos(body.yaw), np.sin(body.yaw)
    cos_pitch, sin_pitch = np.cos(body.pitch), np.sin(body.pitch)
    turn = np.array([[cos_yaw, 0, sin_yaw], [0, 1, 0], [-sin_yaw, 0, cos_yaw]])
    tilt = np.array([[1, 0, 0], [0, cos_pitch, -sin_pitch], [0, sin_pitch, cos_pitch]])
    return np.asarray(turn @ tilt, dtype=np.float64)
