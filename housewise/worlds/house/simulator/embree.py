"""Traces packets of rays with Embree's C interface.

embreex traces one ray at a time. Packets of neighbouring rays are two to three times as fast.
"""

from __future__ import annotations

import ctypes
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from itertools import repeat
from typing import Any

import embreex  # noqa: F401 - makes Embree's library loadable on Windows
import numpy as np
from numpy.typing import ArrayLike, NDArray

from housewise.worlds.house.geometry import Array

# Embree's constants (its headers rtcore_*.h).
_TRIANGLES, _INDICES, _VERTICES, _UINT3, _FLOAT3 = 0, 0, 1, 0x5003, 0x9003
_ROBUST, _COHERENT, _ALL_FEATURES = 1 << 2, 1 << 16, 0xFFFFFFFF
_TAKES_PACKETS_OF = {16: 34, 8: 33, 4: 32}
# The rows of a packet: twelve numbers of each ray and eight of its hit; some builds of Embree have a ninth.
_ORIGIN, _DIRECTION, _FAR, _MASK, _TRIANGLE, _LAYER, _ROWS = slice(0, 3), slice(4, 7), 8, 9, 17, 18, 21
# Rows and columns of the pixels that share a packet, by the width of packets.
_TILES = {16: (4, 4), 8: (2, 4), 4: (2, 2)}


@dataclass(frozen=True)
class _Embree:
    """The loaded library.

    Attributes:
        library: Embree's functions.
        device: Embree's device, to which its scenes belong.
        width: Number of rays in a packet.
        intersect: Embree's function that traces a packet.
    """

    library: ctypes.PyDLL
    device: ctypes.c_void_p
    width: int
    intersect: Callable[[Any, Any, Any, Any], None]


@lru_cache(maxsize=1)
def _embree() -> _Embree:
    """Load Embree; later calls return the same library.

    Raises:
        ImportError: If embreex is installed without Embree 4.
    """
    files = [file for file in metadata.files("embreex") or () if "embree4" in file.name]
    if not files:
        raise ImportError("embreex has no library of Embree 4; reinstall it: pip install 'embreex>=4.4'")
    library = ctypes.PyDLL(str(files[0].locate()))
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    library.rtcSetSharedGeometryBuffer.argtypes = [pointer, *[ctypes.c_int] * 3, pointer, size, size, size]
    library.rtcGetDeviceProperty.restype = ctypes.c_ssize_t
    for name in ("rtcNewDevice", "rtcNewScene", "rtcNewGeometry"):
        getattr(library, name).restype = pointer
    # Search trees of houses are built quickly, and the workers of a run need the other cores.
    device = pointer(library.rtcNewDevice(b"threads=1"))
    width = next((width for width, key in _TAKES_PACKETS_OF.items() if library.rtcGetDeviceProperty(device, key)), 4)
    intersect = getattr(library, f"rtcIntersect{width}")
    intersect.restype = None
    return _Embree(library, device, width, intersect)


class Triangles:
    """Triangles in an Embree search tree.

    Args:
        vertices: (N, 3), metres.
        faces: (M, 3) vertex numbers.
        number: Number of the layer, which rays that hit the triangles return.
    """

    def __init__(self, vertices: ArrayLike, faces: ArrayLike, number: int) -> None:
        # Embree does not copy the arrays, and reads a little past the last vertex.
        self._vertices = np.append(np.asarray(vertices), np.zeros((1, 3)), axis=0).astype(np.float32, order="C")
        self._faces = np.asarray(faces).astype(np.uint32, order="C")
        if not np.isfinite(self._vertices).all():
            raise ValueError("a corner of a triangle is not finite")
        self._number = number
        self.handle = self._build(number)

    def __reduce__(self) -> tuple[Any, ...]:
        """Make a copy build its own search tree."""
        return type(self), (self.vertices, self.faces, self._number)

    @property
    def vertices(self) -> NDArray[np.float32]:
        """(N, 3) corners, metres."""
        return self._vertices[:-1]

    @property
    def faces(self) -> NDArray[np.uint32]:
        """(M, 3) vertex numbers."""
        return self._faces

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
    """A ray through every pixel of an image, in packets of neighbouring rays.

    Args:
        directions: (height, width, 3) unit vectors in the camera's frame.

    Attributes:
        tile: Rows and columns of the pixels of a packet. Packets are numbered row by row.
        tiles: Rows and columns of the packets of the image.
    """

    def __init__(self, directions: NDArray[np.float32]) -> None:
        height, across, _ = directions.shape
        width = _embree().width
        self.tile = high, wide = _TILES[width]
        self.tiles = rows, columns = -(-height // high), -(-across // wide)
        # The image is padded to whole tiles; each pixel has a lane in the packet of its tile.
        spare = ((0, rows * high - height), (0, columns * wide - across), (0, 0))
        directions = np.pad(directions, spare, mode="edge")
        lanes = np.arange(rows * columns * width).reshape(rows, columns, high, wide).swapaxes(1, 2)
        lanes = lanes.reshape(rows * high, columns * wide)
        self._local = np.empty((3, lanes.size), dtype=np.float32)
        self._local[:, lanes] = np.moveaxis(directions, -1, 0)
        self._packets = _aligned_zeros((rows * columns, _ROWS, width))
        self._numbers = self._packets.view(np.int32)
        self._numbers[:, _MASK] = -1
        lane = lanes[:height, :across].ravel()
        self._first = lane // width * (_ROWS * width) + lane % width
        first, apart = self._packets.ctypes.data, self._packets.strides[0]
        self._addresses = [_argument(first + number * apart) for number in range(len(self._packets))]
        self._all_lanes = _aligned_zeros((width,)).view(np.int32)
        self._all_lanes[:] = -1
        self._arguments = np.array([_COHERENT, _ALL_FEATURES, *[0] * 8], dtype=np.uint32)

    def aim(self, lens: Array, rotation: Array) -> None:
        """Set the origin (3,) of the rays, and rotate them by a matrix (3, 3) from the camera's frame to the world."""
        packets, _, width = self._packets.shape
        # Embree does not return from tracing a ray that is not finite.
        if not (np.isfinite(lens.astype(np.float32)).all() and np.isfinite(rotation).all()):
            raise ValueError(f"the pose of the camera is not finite: {lens}")
        directions = rotation.astype(np.float32) @ self._local
        self._packets[:, _ORIGIN] = lens[:, None]
        self._packets[:, _DIRECTION] = directions.reshape(3, packets, width).swapaxes(0, 1)
        self._packets[:, _FAR] = np.inf
        self._numbers[:, _TRIANGLE : _LAYER + 1] = -1

    def trace(self, layer: Triangles, packets: Sequence[int] | None = None) -> None:
        """Find the nearest hits of the rays, also against the layers traced before.

        Args:
            layer: The triangles.
            packets: Numbers of the packets that are traced, or None for all.
        """
        addresses = self._addresses if packets is None else [self._addresses[number] for number in packets]
        lanes, arguments = (_argument(array.ctypes.data) for array in (self._all_lanes, self._arguments))
        scene = _argument(layer.handle.value)
        deque(map(_embree().intersect, repeat(lanes), repeat(scene), addresses, repeat(arguments)), maxlen=0)

    @property
    def distance(self) -> NDArray[np.float32]:
        """(pixels,) distance of the hits in metres, inf for no hit."""
        return self._read(self._packets, _FAR)

    @property
    def triangle(self) -> NDArray[np.int32]:
        """(pixels,) index of the triangles that are hit, -1 for no hit."""
        return self._read(self._numbers, _TRIANGLE)

    @property
    def layer(self) -> NDArray[np.int32]:
        """(pixels,) number of the layers that are hit, -1 for no hit."""
        return self._read(self._numbers, _LAYER)

    def _read(self, packets: NDArray[Any], row: int) -> NDArray[Any]:
        return np.asarray(packets.reshape(-1).take(self._first + row * packets.shape[2]))


def _argument(address: int | None) -> Any:
    """Return an address as an argument of ctypes that is converted once, and not in each of thousands of calls."""
    return ctypes.c_void_p.from_param(address)


def _aligned_zeros(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return zeros at a memory address that is aligned for Embree's vector instructions."""
    spare = np.zeros(4 * int(np.prod(shape)) + 64, dtype=np.uint8)
    start = -spare.ctypes.data % 64
    return spare[start : start + 4 * int(np.prod(shape))].view(np.float32).reshape(shape)
