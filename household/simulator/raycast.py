"""The embedded simulator: traces the house's triangles with Embree; no GPU, no OpenGL."""

from __future__ import annotations

import ctypes
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import metadata
from itertools import repeat
from typing import Any

import embreex  # noqa: F401 - on Windows it makes Embree's library loadable
import numpy as np
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

_STATIC, _MOVING = 0, 1

# Embree's constants (its headers rtcore_*.h).
_TRIANGLES, _INDICES, _VERTICES, _UINT3, _FLOAT3 = 0, 0, 1, 0x5003, 0x9003
_ROBUST, _COHERENT, _ALL_FEATURES = 1 << 2, 1 << 16, 0xFFFFFFFF
_TAKES_PACKETS_OF = {16: 34, 8: 33, 4: 32}
# The rows of a packet: twelve numbers of each ray, eight of what it meets; some builds of Embree have a ninth.
_ORIGIN, _DIRECTION, _FAR, _MASK, _TRIANGLE, _LAYER, _ROWS = slice(0, 3), slice(4, 7), 8, 9, 17, 18, 21
# The pixels, rows by columns, whose rays share a packet.
_TILES = {16: (4, 4), 8: (2, 4), 4: (2, 2)}


@dataclass(frozen=True)
class _Embree:
    """Embree itself: embreex traces one ray at a time, packets of neighbouring rays are two to three times as fast.

    Attributes:
        library: Embree's functions.
        device: what Embree's scenes belong to.
        width: how many rays a packet holds.
    """

    library: ctypes.PyDLL
    device: ctypes.c_void_p
    width: int


@lru_cache(maxsize=1)
def _embree() -> _Embree:
    """Embree, loaded once.

    Raises:
        ImportError: when embreex comes without Embree 4.
    """
    files = [file for file in metadata.files("embreex") or () if "embree4" in file.name]
    if not files:
        raise ImportError("embreex brings no Embree 4 along; install it anew: pip install 'embreex>=4.4'")
    library = ctypes.PyDLL(str(files[0].locate()))
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    library.rtcSetSharedGeometryBuffer.argtypes = [pointer, *[ctypes.c_int] * 3, pointer, size, size, size]
    library.rtcGetDeviceProperty.restype = ctypes.c_ssize_t
    for name in ("rtcNewDevice", "rtcNewScene", "rtcNewGeometry"):
        getattr(library, name).restype = pointer
    # Houses are built in a blink; the cores are for the workers of a run.
    device = pointer(library.rtcNewDevice(b"threads=1"))
    width = next((width for width, key in _TAKES_PACKETS_OF.items() if library.rtcGetDeviceProperty(device, key)), 4)
    return _Embree(library, device, width)


class _Layer:
    """Triangles that are traced together, each belonging to one numbered thing.

    Args:
        number: of the layer.
        parts: (thing's number, mesh in the world frame).

    Attributes:
        owner: (triangles + 1,) number of the thing that each triangle belongs to.
        color: (triangles + 1, 3) RGB as lit.
        scene: Embree's.
    """

    def __init__(self, number: int, parts: Sequence[tuple[int, Mesh]]) -> None:
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
        # Embree reads these where they are, and a little past the last vertex.
        self._vertices = np.append(mesh.vertices, np.zeros((1, 3)), axis=0).astype(np.float32, order="C")
        self._faces = mesh.faces.astype(np.uint32, order="C")
        self.scene = self._build(number)

    def _build(self, number: int) -> ctypes.c_void_p:
        """Embree's search tree over the triangles."""
        library, device = _embree().library, _embree().device
        scene = ctypes.c_void_p(library.rtcNewScene(device))
        weakref.finalize(self, library.rtcReleaseScene, scene)
        library.rtcSetSceneFlags(scene, _ROBUST)
        geometry = ctypes.c_void_p(library.rtcNewGeometry(device, _TRIANGLES))
        for kind, form, rows, count in (
            (_VERTICES, _FLOAT3, self._vertices, len(self._vertices) - 1),
            (_INDICES, _UINT3, self._faces, len(self._faces)),
        ):
            stride = rows.strides[0]
            library.rtcSetSharedGeometryBuffer(geometry, kind, 0, form, rows.ctypes.data, 0, stride, count)
        library.rtcCommitGeometry(geometry)
        library.rtcAttachGeometryByID(scene, geometry, number)
        library.rtcReleaseGeometry(geometry)
        library.rtcCommitScene(scene)
        if error := library.rtcGetDeviceError(device):
            raise RuntimeError(f"Embree cannot build a scene of {len(self._faces)} triangles: error {error}")
        return scene


class _Rays:
    """A ray through every pixel of a picture, in packets of neighbours as Embree takes them.

    Args:
        camera: tells the picture's size and angle.

    Attributes:
        cosine: (pixels,) of the angle between each ray and the optical axis.
    """

    def __init__(self, camera: Camera) -> None:
        width = _embree().width
        high, wide = _TILES[width]
        rows, columns = -(-camera.height // high), -(-camera.width // wide)
        directions = _directions(camera, rows * high, columns * wide)
        # The picture is made up to whole tiles; each pixel has a lane in the packet of its tile.
        lanes = np.arange(rows * columns * width).reshape(rows, columns, high, wide).swapaxes(1, 2)
        lanes = lanes.reshape(rows * high, columns * wide)
        self._local = np.empty((3, lanes.size), dtype=np.float32)
        self._local[:, lanes] = np.moveaxis(directions, -1, 0)
        self._packets = _aligned((rows * columns, _ROWS, width))
        self._numbers = self._packets.view(np.int32)
        self._numbers[:, _MASK] = -1
        lane = lanes[: camera.height, : camera.width].ravel()
        self._first = lane // width * (_ROWS * width) + lane % width
        self.cosine = -directions[: camera.height, : camera.width, 2].ravel()
        self._addresses = [ctypes.c_void_p(packet.ctypes.data) for packet in self._packets]
        self._all_lanes = _aligned((width,)).view(np.int32)
        self._all_lanes[:] = -1
        self._arguments = np.array([_COHERENT, _ALL_FEATURES, *[0] * 8], dtype=np.uint32)

    def aim(self, lens: Array, rotation: Array) -> None:
        """Send the rays out from the lens (3,), turned by a matrix (3, 3) from the camera's frame to the world."""
        packets, _, width = self._packets.shape
        directions = rotation.astype(np.float32) @ self._local
        self._packets[:, _ORIGIN] = lens[:, None]
        self._packets[:, _DIRECTION] = directions.reshape(3, packets, width).swapaxes(0, 1)
        self._packets[:, _FAR] = np.inf
        self._numbers[:, _TRIANGLE : _LAYER + 1] = -1

    def trace(self, layer: _Layer) -> None:
        """Shorten the rays to where they meet a layer."""
        intersect = getattr(_embree().library, f"rtcIntersect{_embree().width}")
        lanes, arguments = (ctypes.c_void_p(array.ctypes.data) for array in (self._all_lanes, self._arguments))
        calls = map(intersect, repeat(lanes), repeat(layer.scene), self._addresses, repeat(arguments))
        deque(calls, maxlen=0)

    @property
    def distance(self) -> NDArray[np.float32]:
        """(pixels,) metres to what the rays meet, inf for nothing."""
        return self._read(self._packets, _FAR)

    @property
    def triangle(self) -> NDArray[np.int32]:
        """(pixels,) what the rays meet, -1 for nothing."""
        return self._read(self._numbers, _TRIANGLE)

    @property
    def layer(self) -> NDArray[np.int32]:
        """(pixels,) number of the layer of what the rays meet, -1 for nothing."""
        return self._read(self._numbers, _LAYER)

    def _read(self, packets: NDArray[Any], row: int) -> NDArray[Any]:
        return np.asarray(packets.reshape(-1).take(self._first + row * packets.shape[2]))


class RaycastSimulator:
    """See household.simulator.base.Simulator.

    Args:
        camera: the robot's.
        sensors: which arrays an observation carries; fewer are faster.
    """

    def __init__(self, camera: Camera | None = None, sensors: Sequence[Sensor] = SENSORS) -> None:
        self.camera = camera or Camera()
        self.sensors = frozenset(sensors)
        self._picture = _Rays(self.camera)
        self._middle = _Rays(replace(self.camera, width=1, height=1))
        self._house: tuple[Scene, tuple[str, ...]] | None = None
        self._static = _Layer(_STATIC, [])

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
            self._static = _Layer(_STATIC, [(0, scene.structure), *placed])
            self._house = house
        self._scene = scene
        self._shapes = {thing.key: object_mesh(thing.category, thing.size) for thing in objects}
        self._placed: dict[str, Mesh | None] = {}
        self._moving: _Layer | None = None
        for thing in objects:
            self.move_object(thing.key, thing.pose)
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
        distance, owner, color = self._trace(body or self._body, self._picture)
        shape = (self.camera.height, self.camera.width)
        depth = rgb = semantic = None
        if "depth" in self.sensors:
            along = distance * self._picture.cosine
            depth = np.clip(along, self.camera.min_depth, self.camera.max_depth).reshape(shape)
        if "rgb" in self.sensors:
            fade = 1.0 - 0.25 * np.clip(distance / 8.0, 0.0, 1.0)
            rgb = np.clip(color() * fade[:, None], 0, 255).astype(np.uint8).reshape(*shape, 3)
        if "semantic" in self.sensors:
            semantic = self._kind_of.take(owner).reshape(shape)
        return Observation(
            np.empty((0, 0, 3), np.uint8) if rgb is None else rgb,
            np.empty((0, 0), np.float32) if depth is None else depth,
            owner.reshape(shape),
            np.empty((0, 0), np.int32) if semantic is None else semantic,
        )

    def visible(self, body: BodyPose | None = None) -> frozenset[str]:
        """See Simulator.visible."""
        _, owner, _ = self._trace(body or self._body, self._picture)
        return self.things(owner)

    def things(self, instance: NDArray[np.int32]) -> frozenset[str]:
        """Keys of the things in an instance image."""
        present = np.bincount(instance.ravel(), minlength=1)
        return frozenset(self._keys[number] for number in np.flatnonzero(present) if number)

    def aimed_at(self, reach: float) -> str | None:
        """See Simulator.aimed_at."""
        distance, owner, _ = self._trace(self._body, self._middle)
        return self._keys[owner[0]] or None if distance[0] <= reach else None

    def move_object(self, key: str, pose: Pose | None) -> None:
        """See Simulator.move_object."""
        self._placed[key] = None if pose is None else self._shapes[key].placed(pose)
        self._moving = None

    def close(self) -> None:
        """Nothing to release."""

    def _trace(
        self, body: BodyPose, rays: _Rays
    ) -> tuple[NDArray[np.float32], NDArray[np.int32], Callable[[], NDArray[np.float32]]]:
        """Distance, owner and (on call) colour that each ray from the lens meets."""
        moving = self._moving = self._moving or self._object_layer()
        lens = np.array([body.x, self._scene.navmesh.height + self.camera.above_floor, body.z])
        rays.aim(lens, _rotation(body))
        # Where an object touches furniture the later layer wins.
        rays.trace(moving)
        rays.trace(self._static)
        triangle, on_object = rays.triangle, np.flatnonzero(rays.layer == _MOVING)
        owner = self._static.owner.take(triangle, mode="wrap")
        owner[on_object] = moving.owner[triangle[on_object]]

        def color() -> NDArray[np.float32]:
            colors = self._static.color.take(triangle, axis=0, mode="wrap")
            colors[on_object] = moving.color[triangle[on_object]]
            return colors

        return rays.distance, owner, color

    def _object_layer(self) -> _Layer:
        return _Layer(_MOVING, [(self._number[key], mesh) for key, mesh in self._placed.items() if mesh is not None])


def _directions(camera: Camera, rows: int, columns: int) -> NDArray[np.float32]:
    """Unit vectors (rows, columns, 3) through the pixels in the camera's frame (-z ahead), from the upper left on."""
    half = np.tan(camera.field_of_view / 2)
    right = (np.arange(columns) + 0.5) / camera.width * 2 - 1
    up = 1 - (np.arange(rows) + 0.5) / camera.height * 2
    rays = np.stack([*np.meshgrid(right * half, up * half * camera.height / camera.width), -np.ones((rows, columns))])
    return np.asarray(np.moveaxis(rays / np.linalg.norm(rays, axis=0), 0, -1), dtype=np.float32)


def _aligned(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Zeros at an address that Embree's vector instructions can read from."""
    spare = np.zeros(4 * int(np.prod(shape)) + 64, dtype=np.uint8)
    start = -spare.ctypes.data % 64
    return spare[start : start + 4 * int(np.prod(shape))].view(np.float32).reshape(shape)


def _rotation(body: BodyPose) -> Array:
    """(3, 3) matrix from the camera's frame to the world: pitch about x, then yaw about y."""
    cos_yaw, sin_yaw = np.cos(body.yaw), np.sin(body.yaw)
    cos_pitch, sin_pitch = np.cos(body.pitch), np.sin(body.pitch)
    turn = np.array([[cos_yaw, 0, sin_yaw], [0, 1, 0], [-sin_yaw, 0, cos_yaw]])
    tilt = np.array([[1, 0, 0], [0, cos_pitch, -sin_pitch], [0, sin_pitch, cos_pitch]])
    return np.asarray(turn @ tilt, dtype=np.float64)
