"""The picture that the person sees: colours and instances, traced with the embedded ray caster."""

from __future__ import annotations

import io
from collections.abc import Hashable
from dataclasses import dataclass
from math import radians

import numpy as np
import shapely
from numpy.typing import NDArray
from PIL import Image

from housewise.worlds.house.scene import Mesh
from housewise.worlds.house.simulator.base import BodyPose, Camera
from housewise.worlds.house.simulator.raycast import CameraRays, MeshLayer, camera_rotation
from housewise.worlds.lab.appearance import appearance, look_of
from housewise.worlds.lab.device_shapes import Look
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.layout import LabLayout
from housewise.worlds.lab.parts import COLORS
from housewise.worlds.lab.placement import ThingPlace, places
from housewise.worlds.lab.recent_results import RecentResults
from housewise.worlds.lab.state import Body, LabState, Thing

PICTURE_SIZE = 300
FIELD_OF_VIEW = 70.0
"""Horizontal and vertical field of view, degrees."""
EYE_HEIGHT = 1.5

_BEFORE = 0.05
_DARKNESS = (0.28, 0.29, 0.35)
_GLOWING = np.ones(3, dtype=np.float32)
_KEPT = 4
# Where the held thing appears, in the frame of the camera: to the right, up, ahead, metres.
_HAND = (0.22, -0.32, 0.55)


@dataclass(frozen=True, eq=False)
class LabPicture:
    """A picture.

    Attributes:
        rgb: (height, width, 3) uint8.
        instances: (height, width) int32, number of the thing at each pixel; 0 for the building.
        ids: Id of the thing of each number; ``ids[0]`` is empty.
    """

    rgb: NDArray[np.uint8]
    instances: NDArray[np.int32]
    ids: tuple[str, ...]


class SceneLayer(MeshLayer):
    """The building and all things in one search tree, in the light of their rooms.

    Args:
        parts: Instance number, mesh in the world frame, and factor of the light, (3,) or (faces, 3), of each part.
    """

    def __init__(self, parts: list[tuple[int, Mesh, NDArray[np.float32]]]) -> None:
        super().__init__(0, [(owner, mesh) for owner, mesh, _ in parts])
        light = np.concatenate([np.broadcast_to(factor, (len(mesh.faces), 3)) for _, mesh, factor in parts])
        self.color[:-1] *= light


@dataclass(frozen=True, eq=False)
class ViewTrace:
    """What the rays of a picture hit.

    Attributes:
        instances: (height, width) int32, see LabPicture.
        ids: See LabPicture.
        layer: The triangles.
        triangle: (pixels,) number of the triangle that is hit, -1 for no hit.
        distance: (pixels,) metres, inf for no hit.
    """

    instances: NDArray[np.int32]
    ids: tuple[str, ...]
    layer: SceneLayer
    triangle: NDArray[np.int32]
    distance: NDArray[np.float32]


class LabView:
    """Draws pictures of a lab.

    Args:
        layout: The layout.
    """

    def __init__(self, layout: LabLayout) -> None:
        self.layout = layout
        self.camera = Camera(PICTURE_SIZE, PICTURE_SIZE, radians(FIELD_OF_VIEW), EYE_HEIGHT)
        self._rays = CameraRays(self.camera)
        self._rooms = _face_rooms(layout)
        self._layers: RecentResults[tuple[SceneLayer, tuple[str, ...]]] = RecentResults(_KEPT)
        self._traces: RecentResults[ViewTrace] = RecentResults(_KEPT)
        self._hands: dict[Look, tuple[NDArray[np.int64], NDArray[np.float32]]] = {}

    def picture(self, state: LabState) -> LabPicture:
        """Return the picture that the person sees."""
        trace = self.trace(state)
        color = trace.layer.color.take(trace.triangle, axis=0, mode="wrap")
        color *= (1.0 - 0.22 / 9.0 * np.minimum(trace.distance, 9.0))[:, None]
        if state.held is not None:
            pixels, shades = self._hand(self._look(state, state[state.held]))
            color[pixels] = shades * self._light(state, state.room)
        rgb = np.minimum(color, 255.0, out=color).astype(np.uint8)
        return LabPicture(rgb.reshape(*trace.instances.shape, 3), trace.instances, trace.ids)

    def trace(self, state: LabState) -> ViewTrace:
        """Return what the rays of the picture hit. The last results are kept."""
        return self._traces.get((state.body, scene_key(state)), lambda: self._trace(state))

    def _trace(self, state: LabState) -> ViewTrace:
        layer, ids = self._scene_layer(state)
        body, rays = state.body, self._rays
        rays.aim(np.array([body.x, EYE_HEIGHT, body.z]), camera_rotation(camera_pose(body)))
        rays.trace(layer.triangles)
        triangle, distance = rays.triangle, rays.distance
        owner = layer.owner.take(triangle, mode="wrap")
        if state.held is not None:
            owner[self._hand(self._look(state, state[state.held]))[0]] = 0
        shape = (self.camera.height, self.camera.width)
        return ViewTrace(owner.reshape(shape), ids, layer, triangle, distance)

    def _scene_layer(self, state: LabState) -> tuple[SceneLayer, tuple[str, ...]]:
        """Return the search tree of the scene, and the id of each instance number."""
        return self._layers.get(scene_key(state), lambda: self._build_scene(state))

    def _build_scene(self, state: LabState) -> tuple[SceneLayer, tuple[str, ...]]:
        light = np.array([self._light(state, planned.room.kind) for planned in self.layout.rooms])
        ids, parts = [""], [(0, self.layout.structure, light[self._rooms])]
        for id, place in places(state, self.layout.fixtures).items():
            shape = appearance(self._look(state, state[id]))
            parts += [
                (len(ids), Mesh(place.apply(mesh.vertices), mesh.faces, mesh.colors), factor)
                for mesh, factor in ((shape.solid, self._light(state, state[id].room)), (shape.glow, _GLOWING))
                if len(mesh.faces)
            ]
            ids.append(id)
        return SceneLayer(parts), tuple(ids)

    def _look(self, state: LabState, thing: Thing) -> Look:
        palette = self.layout.palettes.get(thing.room)
        return look_of(state, thing, palette.wood if palette else COLORS["brown"], self.layout.style)

    def _hand(self, look: Look) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the pixels that the held thing covers, and their colours."""
        if look not in self._hands:
            shape = appearance(look)
            mesh = Mesh.join([shape.solid, shape.glow])
            width, _, depth = KINDS[look.kind].size
            turned = ThingPlace(_HAND[0], _HAND[1], -_HAND[2] - max(0.0, max(width, depth) - 0.2), 0, (1.0, 1.0, 1.0))
            layer = MeshLayer(0, [(0, Mesh(turned.apply(mesh.vertices), mesh.faces, mesh.colors))])
            self._rays.aim(np.zeros(3), np.eye(3))
            self._rays.trace(layer.triangles)
            pixels = np.flatnonzero(self._rays.triangle >= 0)
            self._hands[look] = (pixels, layer.color[self._rays.triangle[pixels]])
        return self._hands[look]

    def _light(self, state: LabState, room: str) -> NDArray[np.float32]:
        """Return the factor of the light of a room (3,). The corridor has light of its own."""
        return np.array(self.layout.light[room] if state.has_power(room) else _DARKNESS, dtype=np.float32)


def encode_png(rgb: NDArray[np.uint8]) -> bytes:
    """Return a picture (height, width, 3) as PNG."""
    stream = io.BytesIO()
    Image.fromarray(rgb).save(stream, "PNG")
    return stream.getvalue()


def scene_key(state: LabState) -> Hashable:
    """Return what the look of a lab depends on, besides where the person stands."""
    return state.things, state.powered, state.held


def camera_pose(body: Body) -> BodyPose:
    """Return the pose of the camera of a person."""
    return BodyPose(body.x, body.z, -radians(body.heading), radians(body.pitch))


def _face_rooms(layout: LabLayout) -> NDArray[np.int64]:
    """Return the number of the room in front of each face of the building."""
    corners = layout.structure.vertices[layout.structure.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    points = shapely.points((corners.mean(axis=1) + _BEFORE * normals)[:, [0, 2]])
    rects = [planned.rect.polygon() for planned in layout.rooms]
    return np.asarray(np.argmin([shapely.distance(rect, points) for rect in rects], axis=0))
