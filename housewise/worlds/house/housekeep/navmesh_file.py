"""Reads ``.navmesh`` files of habitat-sim, which hold navigation meshes of the Recast/Detour library.

A file has habitat-sim's header and tiles in Detour's format (``DetourNavMesh.h``, data version 7).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry import Polygon

from housewise.core.errors import DataError
from housewise.core.files import read_bytes
from housewise.worlds.house.geometry import FARTHEST
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.polygon_navmesh import PolygonMesh, PolygonNavMesh

_SET_HEADER = struct.Struct("<4sii5f2i")
_TILE_REFERENCE = struct.Struct("<II")
_TILE_HEADER = struct.Struct("<4s4iI9i3f3f3ff")
_POLYGON = np.dtype(
    [("link", "<u4"), ("verts", "<u2", 6), ("neighbours", "<u2", 6), ("flags", "<u2"), ("count", "u1"), ("kind", "u1")]
)
_DETAIL = np.dtype([("vert_base", "<u4"), ("tri_base", "<u4"), ("vert_count", "u1"), ("tri_count", "u1"), ("", "<u2")])
_LINK_BYTES = 12
_MAX_FLOOR_HEIGHT = 1.0
"""Height y in metres below which a vertex is on the floor. Roofs can also be walkable."""
_MERGE = 1e-3
# Path planning considers all pairs of corners. The largest navigation mesh of the data has 293 corners.
_MAX_CORNERS = 4000
_LEAST_AREA = 0.1


@dataclass(frozen=True, eq=False)
class _Tile:
    """The convex polygons of one tile.

    Attributes:
        corners: Corners of each polygon, (K, 3).
        neighbours: For each edge of each polygon, the number of the polygon behind it, or -1.
        vertices: Vertices of the detail triangles of each polygon.
    """

    corners: list[NDArray[np.float64]]
    neighbours: list[list[int]]
    vertices: list[NDArray[np.float64]]


def read_navmesh(path: Path) -> NavMesh:
    """Read the walkable floor of a ``.navmesh`` file.

    As in Housekeep, the floor is the island with the most vertices below a height of 1 m. Its vertices are the
    viewpoints, at which Housekeep's robot stops to look at something.

    Raises:
        DataError: If the file is damaged or has another version.
    """
    with _readable(path):
        return _navmesh(*_floor(path))


def read_polygon_navmesh(path: Path) -> PolygonNavMesh:
    """Read the same floor as ``read_navmesh``, as a mesh of polygons with the navigation of Habitat.

    Raises:
        DataError: If the file is damaged or has another version.
    """
    with _readable(path):
        tile, island = _floor(path)
        places = {number: place for place, number in enumerate(island)}
        rings = [tile.corners[number][:, [0, 2]] for number in island]
        neighbours = [[places.get(other, -1) for other in tile.neighbours[number]] for number in island]
        return PolygonNavMesh(PolygonMesh(rings, neighbours), _navmesh(tile, island))


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); fetch the file again") from error
    except (struct.error, ValueError, IndexError, shapely.errors.ShapelyError) as error:
        raise DataError(f"{path}: not a readable navigation mesh ({error}); fetch the file again") from error


def _floor(path: Path) -> tuple[_Tile, list[int]]:
    """Return the tile of the floor and the numbers of its polygons."""
    islands = [(tile, island) for tile in _tiles(read_bytes(path)) for island in _islands(tile)]
    tile, island = max(islands, key=lambda floor: len(_low_vertices(*floor)))
    if not len(_low_vertices(tile, island)):
        raise ValueError(f"no walkable place lies below {_MAX_FLOOR_HEIGHT} m")
    return tile, island


def _navmesh(tile: _Tile, island: list[int]) -> NavMesh:
    vertices = _low_vertices(tile, island)
    shapes = [Polygon(tile.corners[number][:, [0, 2]]) for number in island]
    # Neighbouring polygons share corners only up to rounding, so they are grown, joined and shrunk.
    area = shapely.union_all([shape.buffer(_MERGE, join_style="mitre") for shape in shapes])
    area = area.buffer(-_MERGE, join_style="mitre").simplify(_MERGE)
    if not area.area >= _LEAST_AREA:
        raise ValueError(f"its polygons have no area of {_LEAST_AREA} square metres")
    if shapely.count_coordinates(area) > _MAX_CORNERS:
        raise ValueError(f"its floor has more than {_MAX_CORNERS} corners")
    return NavMesh(area, float(np.median(vertices[:, 1])), np.unique(vertices[:, [0, 2]].round(6), axis=0))


def _tiles(data: bytes) -> list[_Tile]:
    magic, version, count, *_ = _SET_HEADER.unpack_from(data)
    if magic != b"TESM" or version != 1:
        raise ValueError(f"starts with {magic!r}, version {version}, expected b'TESM', version 1")
    offset, tiles = _SET_HEADER.size, []
    for _ in range(count):
        _, size = _TILE_REFERENCE.unpack_from(data, offset)
        offset += _TILE_REFERENCE.size
        tiles.append(_tile(data[offset : offset + size]))
        offset += size
    return tiles


def _tile(data: bytes) -> _Tile:
    header = _TILE_HEADER.unpack_from(data)
    if header[0] != b"VAND" or header[1] != 7:
        raise ValueError(f"tile starts with {header[0]!r}, version {header[1]}, expected b'VAND', version 7")
    polygon_count, vertex_count, link_count, detail_count, detail_vertices, detail_triangles = header[6:12]
    if min(header[6:12]) < 0:
        raise ValueError("a tile has a negative number of parts")
    offset = _TILE_HEADER.size
    vertices = _points(data, vertex_count, offset)
    offset += vertex_count * 12
    polygons = np.frombuffer(data, _POLYGON, polygon_count, offset)
    offset += polygon_count * _POLYGON.itemsize + link_count * _LINK_BYTES
    details = np.frombuffer(data, _DETAIL, detail_count, offset)
    offset += detail_count * _DETAIL.itemsize
    extra = _points(data, detail_vertices, offset)
    offset += detail_vertices * 12
    triangles = np.frombuffer(data, "u1", detail_triangles * 4, offset).reshape(-1, 4)
    if details["tri_count"].sum(dtype=np.int64) > detail_triangles:
        raise ValueError("its polygons have more triangles than their tile")
    corners = [vertices[polygon["verts"][: polygon["count"]]] for polygon in polygons]
    return _Tile(
        corners,
        [[int(n) - 1 if n < 0x8000 else -1 for n in p["neighbours"][: p["count"]]] for p in polygons],
        [_detail_vertices(corners[i], detail, extra, triangles) for i, detail in enumerate(details)],
    )


def _points(data: bytes, count: int, offset: int) -> NDArray[np.float64]:
    points = np.frombuffer(data, "<f4", count * 3, offset).reshape(-1, 3)
    if not (np.abs(points) < FARTHEST).all():
        raise ValueError(f"a vertex lies more than {FARTHEST:.0f} m away")
    return points.astype(np.float64)


def _detail_vertices(
    corners: NDArray[np.float64], detail: np.void, extra: NDArray[np.float64], triangles: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """Return the vertices of the detail triangles of one polygon, once for each triangle."""
    vert_base, tri_base, vert_count, tri_count = map(int, detail.tolist()[:4])
    own = np.concatenate([corners, extra[vert_base : vert_base + vert_count]])
    used = triangles[tri_base : tri_base + tri_count, :3]
    return own[used.ravel()]


def _islands(tile: _Tile) -> list[list[int]]:
    """Return the connected groups of polygons."""
    seen: set[int] = set()
    islands = []
    for start in range(len(tile.corners)):
        if start in seen:
            continue
        island, queue = [], [start]
        seen.add(start)
        while queue:
            number = queue.pop()
            island.append(number)
            fresh = [n for n in tile.neighbours[number] if n >= 0 and n not in seen]
            seen.update(fresh)
            queue.extend(fresh)
        islands.append(island)
    return islands


def _low_vertices(tile: _Tile, island: list[int]) -> NDArray[np.float64]:
    vertices = np.concatenate([tile.vertices[number] for number in island])
    return vertices[vertices[:, 1] < _MAX_FLOOR_HEIGHT]
