"""Embree's own interface, called directly: packets of rays against triangles.

embreex traces one ray at a time; packets of neighbouring rays are two to three times as fast.
"""

from __future__ import annotations

import ctypes
import weakref
from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from itertools import repeat
from typing import Any

import embreex  # noqa: F401 - on Windows it makes Embree's library loadable
import numpy as np
from numpy.typing import ArrayLike, NDArray

from housewise.worlds.house.geometry import Array

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
    """Embree itself.

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


class Triangles:
    """Triangles in Embree's search tree.

    Args:
        vertices: (N, 3), metres.
        faces: (M, 3) vertex numbers.
        number: what rays that meet them tell as their layer.
    """

    def __init__(self, vertices: ArrayLike, faces: ArrayLike, number: int) -> None:
        # Embree reads these where they are, and a little past the last vertex.
        self._vertices = np.append(np.asarray(vertices), np.zeros((1, 3)), axis=0).astype(np.float32, order="C")
        self._faces = np.asarray(faces).astype(np.uint32, order="C")
        if not np.isfinite(self._vertices).all():
            raise ValueError("a corner of a triangle is not a place")
        self._number = number
        self.handle = self._build(number)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy builds a search tree of its own."""
        return type(self), (self._vertices[:-1], self._faces, self._number)

    def _build(self, number: int) -> ctypes.c_void_p:
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


class Rays:
    """A ray through every pixel of a picture, in packets of neighbours as Embree takes them.

    Args:
        directions: (height, width, 3) unit vectors in the camera's frame.
    """

    def __init__(self, directions: NDArray[np.float32]) -> None:
        height, across, _ = directions.shape
        width = _embree().width
        high, wide = _TILES[width]
        rows, columns = -(-height // high), -(-across // wide)
        # The picture is made up to whole tiles; each pixel has a lane in the packet of its tile.
        spare = ((0, rows * high - height), (0, columns * wide - across), (0, 0))
        directions = np.pad(directions, spare, mode="edge")
        lanes = np.arange(rows * columns * width).reshape(rows, columns, high, wide).swapaxes(1, 2)
        lanes = lanes.reshape(rows * high, columns * wide)
        self._local = np.empty((3, lanes.size), dtype=np.float32)
        self._local[:, lanes] = np.moveaxis(directions, -1, 0)
        self._packets = _aligned((rows * columns, _ROWS, width))
        self._numbers = self._packets.view(np.int32)
        self._numbers[:, _MASK] = -1
        lane = lanes[:height, :across].ravel()
        self._first = lane // width * (_ROWS * width) + lane % width
        first, apart = self._packets.ctypes.data, self._packets.strides[0]
        self._addresses = [ctypes.c_void_p(first + number * apart) for number in range(len(self._packets))]
        self._all_lanes = _aligned((width,)).view(np.int32)
        self._all_lanes[:] = -1
        self._arguments = np.array([_COHERENT, _ALL_FEATURES, *[0] * 8], dtype=np.uint32)

    def aim(self, lens: Array, rotation: Array) -> None:
        """Send the rays out from the lens (3,), turned by a matrix (3, 3) from the camera's frame to the world."""
        packets, _, width = self._packets.shape
        # Embree never comes back from a ray that starts or leads nowhere.
        if not (np.isfinite(lens.astype(np.float32)).all() and np.isfinite(rotation).all()):
            raise ValueError(f"the robot is nowhere, or looks nowhere: {lens}")
        directions = rotation.astype(np.float32) @ self._local
        self._packets[:, _ORIGIN] = lens[:, None]
        self._packets[:, _DIRECTION] = directions.reshape(3, packets, width).swapaxes(0, 1)
        self._packets[:, _FAR] = np.inf
        self._numbers[:, _TRIANGLE : _LAYER + 1] = -1

    def trace(self, layer: Triangles) -> None:
        """Shorten the rays to where they meet triangles."""
        intersect = getattr(_embree().library, f"rtcIntersect{_embree().width}")
        lanes, arguments = (ctypes.c_void_p(array.ctypes.data) for array in (self._all_lanes, self._arguments))
        calls = map(intersect, repeat(lanes), repeat(layer.handle), self._addresses, repeat(arguments))
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
        """(pixels,) number of the triangles' layer that the rays meet, -1 for nothing."""
        return self._read(self._numbers, _LAYER)

    def _read(self, packets: NDArray[Any], row: int) -> NDArray[Any]:
        return np.asarray(packets.reshape(-1).take(self._first + row * packets.shape[2]))


def _aligned(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Zeros at an address that Embree's vector instructions can read from."""
    spare = np.zeros(4 * int(np.prod(shape)) + 64, dtype=np.uint8)
    start = -spare.ctypes.data % 64
    return spare[start : start + 4 * int(np.prod(shape))].view(np.float32).reshape(shape)
