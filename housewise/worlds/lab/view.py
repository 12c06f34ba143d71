"""The picture that the person sees: colours and instances, traced with the embedded ray caster."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from math import radians
from typing import Any

import numpy as np
from numpy.typing import NDArray

from housewise.worlds.house.scene import Mesh
from housewise.worlds.house.simulator.base import BodyPose, Camera
from housewise.worlds.house.simulator.raycast import CameraRays, MeshLayer, camera_rotation
from housewise.worlds.lab.appearance import appearance, look_of
from housewise.worlds.lab.device_shapes import Look
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.layout import LabLayout
from housewise.worlds.lab.parts import COLORS
from housewise.worlds.lab.placement import Place, places
from housewise.worlds.lab.state import ROOMS, Body, LabState, Thing

PICTURE_SIZE = 300
FIELD_OF_VIEW = 70.0
"""Horizontal and vertical field of view, degrees."""
EYE_HEIGHT = 1.5

_CELL = 0.05
_DARKNESS = (0.28, 0.29, 0.35)
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
    """The building and all things in one search tree.

    Args:
        parts: Instance number, mesh in the world frame, and whether it is visible in the dark, of each part.

    Attributes:
        glow: (triangles + 1,) whether each triangle is visible in the dark.
    """

    def __init__(self, parts: list[tuple[int, Mesh, bool]]) -> None:
        super().__init__(0, [(owner, mesh) for owner, mesh, _ in parts])
        # As with the colours, the last row is that of rays without a hit.
        self.glow = np.repeat([*(glow for *_, glow in parts), False], [*(len(mesh.faces) for _, mesh, _ in parts), 1])


@dataclass(frozen=True, eq=False)
class Trace:
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
        size: Width and height of pictures, pixels.
    """

    def __init__(self, layout: LabLayout, size: int = PICTURE_SIZE) -> None:
        self.layout = layout
        self.camera = Camera(size, size, radians(FIELD_OF_VIEW), EYE_HEIGHT)
        self._rays = CameraRays(self.camera)
        self._rooms, self._corner = _room_grid(layout)
        self._layers: OrderedDict[Any, tuple[SceneLayer, tuple[str, ...]]] = OrderedDict()
        self._traces: OrderedDict[Any, Trace] = OrderedDict()
        self._hands: dict[Look, tuple[NDArray[np.int64], NDArray[np.float32]]] = {}

    def picture(self, state: LabState) -> LabPicture:
        """Return the picture that the person sees."""
        trace = self.trace(state)
        color = trace.layer.color.take(trace.triangle, axis=0, mode="wrap")
        factors = self._light(state)[self._rooms_at(state.body, trace.distance)]
        factors[trace.layer.glow.take(trace.triangle, mode="wrap")] = 1.0
        factors *= (1.0 - 0.22 * np.clip(trace.distance / 9.0, 0.0, 1.0))[:, None]
        color *= factors
        if state.held is not None:
            pixels, shades = self._hand(self._look(state, state[state.held]))
            lit = self._light(state)[self._rooms_at(state.body, np.zeros(1, dtype=np.float32))[0]]
            color[pixels] = shades * lit
        rgb = np.clip(color, 0, 255).astype(np.uint8)
        return LabPicture(rgb.reshape(*trace.instances.shape, 3), trace.instances, trace.ids)

    def _rooms_at(self, body: Body, distance: NDArray[np.float32]) -> NDArray[np.int8]:
        """Return the number of the room of the hit of each pixel (or of the person, for one distance of zero)."""
        # Points just before walls lie in the room in front of them.
        along = np.maximum(0.0, np.where(np.isfinite(distance), distance, 0.0) - 0.08)[:, None]
        ahead = self._rays.directions[: len(along)] @ camera_rotation(camera_pose(body)).astype(np.float32)[[0, 2]].T
        cells = ((ahead * along + np.array([body.x - self._corner[0], body.z - self._corner[1]])) / _CELL).astype(int)
        columns, rows = (np.clip(cells[:, axis], 0, self._rooms.shape[axis] - 1) for axis in (0, 1))
        return np.asarray(self._rooms[columns, rows])

    def trace(self, state: LabState) -> Trace:
        """Return what the rays of the picture hit. The last results are kept."""
        key = (state.body, self._scene_key(state))
        if key in self._traces:
            self._traces.move_to_end(key)
            return self._traces[key]
        found = self._traces[key] = self._trace(state)
        while len(self._traces) > _KEPT:
            self._traces.popitem(last=False)
        return found

    def _trace(self, state: LabState) -> Trace:
        layer, ids = self._scene_layer(state)
        body, rays = state.body, self._rays
        rays.aim(np.array([body.x, EYE_HEIGHT, body.z]), camera_rotation(camera_pose(body)))
        rays.trace(layer.triangles)
        triangle, distance = rays.triangle, rays.distance
        owner = layer.owner.take(triangle, mode="wrap")
        if state.held is not None:
            owner[self._hand(self._look(state, state[state.held]))[0]] = 0
        shape = (self.camera.height, self.camera.width)
        return Trace(owner.reshape(shape), ids, layer, triangle, distance)

    def _scene_layer(self, state: LabState) -> tuple[SceneLayer, tuple[str, ...]]:
        """Return the search tree of the scene, and the id of each instance number."""
        key = self._scene_key(state)
        if key in self._layers:
            self._layers.move_to_end(key)
            return self._layers[key]
        ids, parts = [""], [(0, self.layout.structure, False)]
        for id, place in places(state, self.layout.fixtures).items():
            shape = appearance(self._look(state, state[id]))
            parts += [
                (len(ids), Mesh(place.apply(mesh.vertices), mesh.faces, mesh.colors), glows)
                for mesh, glows in ((shape.solid, False), (shape.glow, True))
                if len(mesh.faces)
            ]
            ids.append(id)
        found = self._layers[key] = (SceneLayer(parts), tuple(ids))
        while len(self._layers) > _KEPT:
            self._layers.popitem(last=False)
        return found

    def _scene_key(self, state: LabState) -> Any:
        return (state.things, state.powered, state.held)

    def _look(self, state: LabState, thing: Thing) -> Look:
        palette = self.layout.palettes.get(thing.room)
        return look_of(state, thing, palette.wood if palette else COLORS["brown"], self.layout.style)

    def _hand(self, look: Look) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the pixels that the held thing covers, and their colours."""
        if look not in self._hands:
            shape = appearance(look)
            mesh = Mesh.join([shape.solid, shape.glow])
            width, _, depth = KINDS[look.kind].size
            turned = Place(_HAND[0], _HAND[1], -_HAND[2] - max(0.0, max(width, depth) - 0.2), 0, (1.0, 1.0, 1.0))
            layer = MeshLayer(0, [(0, Mesh(turned.apply(mesh.vertices), mesh.faces, mesh.colors))])
            self._rays.aim(np.zeros(3), np.eye(3))
            self._rays.trace(layer.triangles)
            pixels = np.flatnonzero(self._rays.triangle >= 0)
            self._hands[look] = (pixels, layer.color[self._rays.triangle[pixels]])
        return self._hands[look]

    def _light(self, state: LabState) -> NDArray[np.float32]:
        """Return the factor of the light of each room (rooms, 3). The corridor has light of its own."""
        factors = [
            self.layout.light[name] if name not in ROOMS or state.has_power(name) else _DARKNESS
            for name in (planned.room.kind for planned in self.layout.rooms)
        ]
        return np.array(factors, dtype=np.float32)


def camera_pose(body: Body) -> BodyPose:
    """Return the pose of the camera of a person."""
    return BodyPose(body.x, body.z, -radians(body.heading), radians(body.pitch))


def _room_grid(layout: LabLayout) -> tuple[NDArray[np.int8], tuple[float, float]]:
    """Return the number of the room of each cell of the floor (columns, rows), and the corner of the first cell."""
    outline = layout.plan.outline
    columns, rows = (int(np.ceil(length / _CELL)) + 1 for length in (outline.width, outline.depth))
    grid = np.zeros((columns, rows), dtype=np.int8)
    for number, planned in enumerate(layout.rooms):
        rect = planned.rect
        x0, z0 = round((rect.x0 - outline.x0) / _CELL), round((rect.z0 - outline.z0) / _CELL)
        x1, z1 = round((rect.x1 - outline.x0) / _CELL), round((rect.z1 - outline.z0) / _CELL)
        grid[x0 : x1 + 1, z0 : z1 + 1] = number
    return grid, (outline.x0, outline.z0)
