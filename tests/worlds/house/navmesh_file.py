"""Writes navigation mesh files in the format of habitat-sim."""

import struct
from collections.abc import Sequence
from pathlib import Path

Corner = tuple[float, float, float]


def pack_navmesh(polygons: Sequence[Sequence[Corner]]) -> bytes:
    """A tile set with one tile; polygons that share an edge are neighbours.

    Args:
        polygons: convex, three to six corners each, (x, y, z).
    """
    corners = list(dict.fromkeys(corner for polygon in polygons for corner in polygon))
    rings = [[corners.index(corner) for corner in polygon] for polygon in polygons]
    records = b"".join(_polygon(rings, number) for number in range(len(rings)))
    fans = [[(0, second, second + 1) for second in range(1, len(ring) - 1)] for ring in rings]
    starts = [sum(len(fan) for fan in fans[:number]) for number in range(len(fans))]
    details = b"".join(struct.pack("<IIBBH", 0, start, 0, len(fan), 0) for start, fan in zip(starts, fans, strict=True))
    triangles = b"".join(bytes((*triangle, 0)) for fan in fans for triangle in fan)
    vertices = b"".join(struct.pack("<3f", *corner) for corner in corners)
    low, high = [min(axis) for axis in zip(*corners, strict=True)], [max(axis) for axis in zip(*corners, strict=True)]
    counts = (len(rings), len(corners), 0, len(rings), 0, len(triangles) // 4, 0, 0, len(rings))
    header = struct.pack("<4s4iI9i3f3f3ff", b"VAND", 7, 0, 0, 0, 0, *counts, 1.5, 0.2, 0.2, *low, *high, 20.0)
    tile = header + vertices + records + details + triangles
    settings = struct.pack("<4sii5f2i", b"TESM", 1, 1, 0, 0, 0, 8, 8, 1, 64)
    return settings + struct.pack("<II", 1, len(tile)) + tile


def rectangle(low_x: float, low_z: float, high_x: float, high_z: float, height: float = 0.2) -> list[Corner]:
    """Return a horizontal rectangle."""
    return [(low_x, height, low_z), (low_x, height, high_z), (high_x, height, high_z), (high_x, height, low_z)]


def write_navmesh(path: Path, polygons: Sequence[Sequence[Corner]]) -> None:
    """Write a file; see pack_navmesh."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pack_navmesh(polygons))


def _polygon(rings: Sequence[Sequence[int]], number: int) -> bytes:
    ring = rings[number]
    neighbours = [0] * 6
    for edge, corner in enumerate(ring):
        ends = {corner, ring[(edge + 1) % len(ring)]}
        others = [other for other, shape in enumerate(rings) if other != number and ends <= set(shape)]
        neighbours[edge] = others[0] + 1 if others else 0
    padded = [*ring, *[0] * (6 - len(ring))]
    return struct.pack("<I6H6HHBB", 0xFFFFFFFF, *padded, *neighbours, 1, len(ring), 0)
