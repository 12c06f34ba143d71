"""The sensors of the embedded simulator made with trimesh's ray casting, which uses Embree as well."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import trimesh
from numpy.typing import NDArray

from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.scene import Mesh, Scene
from housewise.worlds.house.simulator.base import BodyPose, Camera, Observation
from housewise.worlds.house.simulator.raycast import RaycastSimulator


class TrimeshSimulator(RaycastSimulator):
    """The embedded simulator with another renderer of depth, instances and kinds.

    Its own camera model and search tree show errors of the embedded ones. Objects stay where they are at the start.
    """

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """See Simulator.reset."""
        super().reset(scene, receptacles, objects, body)
        furniture = {key: thing.mesh.transform(thing.pose) for key, thing in scene.by_key.items()}
        things = [furniture.get(key) or self._placed[key] for key in self.keys[1:]]
        parts = [scene.structure, *(mesh for mesh in things if mesh is not None)]
        mesh = Mesh.join(parts)
        self._mesh = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
        self._corner, self._normal = self._mesh.triangles[:, 0], self._mesh.face_normals
        # The last one is that of rays without a hit, whose triangle is -1.
        owners = [np.full(len(part.faces), number, dtype=np.int32) for number, part in enumerate(parts)]
        self._owner = np.concatenate([*owners, np.zeros(1, dtype=np.int32)])
        self._rays = _ray_directions(self.camera)

    def observe(self, body: BodyPose | None = None) -> Observation:
        """See Simulator.observe; without colours."""
        body, camera = body or self.body, self.camera
        turn = trimesh.transformations.euler_matrix(body.yaw, body.pitch, 0.0, "ryxz")[:3, :3]
        directions = self._rays @ turn.T
        lens = np.array([body.x, self.navmesh.height + camera.above_floor, body.z])
        triangle = self._mesh.ray.intersects_first(np.tile(lens, (len(directions), 1)), directions)
        normal = self._normal[triangle]
        away = np.einsum("ij,ij->i", normal, self._corner[triangle] - lens)
        distance = away / np.einsum("ij,ij->i", normal, directions)
        along = np.where(triangle < 0, camera.max_depth, distance * -self._rays[:, 2])
        depth = along.clip(camera.min_depth, camera.max_depth).astype(np.float32)
        owner = self._owner[triangle]
        shape = (camera.height, camera.width)
        kinds = self._kind_of[owner].reshape(shape)
        return Observation(owner.reshape(shape), depth=depth.reshape(shape), semantic=kinds)


def _ray_directions(camera: Camera) -> NDArray[np.float64]:
    """Return unit vectors (pixels, 3) through the pixels, in the camera's frame."""
    half = np.tan(camera.field_of_view / 2)
    right = ((np.arange(camera.width) + 0.5) / camera.width * 2 - 1) * half
    up = (1 - (np.arange(camera.height) + 0.5) / camera.height * 2) * half * camera.height / camera.width
    rays = np.stack([*np.meshgrid(right, up), -np.ones((camera.height, camera.width))], axis=-1).reshape(-1, 3)
    return np.asarray(rays / np.linalg.norm(rays, axis=1, keepdims=True))
