"""The lab's pictures made with trimesh's ray casting, which uses Embree as well."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
import trimesh
from numpy.typing import NDArray

from housewise.worlds.house.geometry import Array
from housewise.worlds.house.simulator.base import Camera
from housewise.worlds.house.simulator.embree import Triangles
from housewise.worlds.house.simulator.raycast import CameraRays
from housewise.worlds.lab.camera_picture import LabView
from housewise.worlds.lab.layout import LabLayout


class TrimeshLabView(LabView):
    """Draws pictures of a lab with trimesh's rays in place of the embedded ones.

    Args:
        layout: The layout.
    """

    def __init__(self, layout: LabLayout) -> None:
        super().__init__(layout)
        self._rays = TrimeshRays(self.camera)


class TrimeshRays(CameraRays):
    """The rays of a camera, traced by trimesh. Search trees are kept as long as the triangles are.

    Args:
        camera: The camera.
    """

    def __init__(self, camera: Camera) -> None:
        super().__init__(camera)
        self._meshes: WeakKeyDictionary[Triangles, trimesh.Trimesh] = WeakKeyDictionary()
        self._lens, self._turned = np.zeros(3), self.directions
        self._hits, self._lengths = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)

    def aim(self, lens: Array, rotation: Array) -> None:
        """See Rays.aim."""
        self._lens, self._turned = lens, self.directions @ rotation.T.astype(np.float32)

    def trace(self, layer: Triangles, packets: Sequence[int] | None = None) -> None:
        """See Rays.trace, for a single layer and all packets."""
        mesh = self._meshes.get(layer)
        if mesh is None:
            mesh = self._meshes[layer] = trimesh.Trimesh(layer.vertices, layer.faces, process=False)
        hits = mesh.ray.intersects_first(np.broadcast_to(self._lens, self._turned.shape), self._turned)
        normals = mesh.face_normals[hits]
        away = np.einsum("ij,ij->i", normals, mesh.triangles[hits, 0] - self._lens)
        lengths = away / np.einsum("ij,ij->i", normals, self._turned)
        self._hits, self._lengths = hits.astype(np.int32), np.where(hits < 0, np.inf, lengths).astype(np.float32)

    @property
    def triangle(self) -> NDArray[np.int32]:
        """See Rays.triangle."""
        return self._hits

    @property
    def distance(self) -> NDArray[np.float32]:
        """See Rays.distance."""
        return self._lengths
