from pathlib import Path

import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from housewise.core.errors import DataError
from housewise.worlds.house.housekeep.navmesh_file import read_navmesh, read_polygon_navmesh
from housewise.worlds.house.navmesh import NavMesh
from tests.worlds.house.navmesh_file import pack_navmesh, rectangle
from tests.worlds.house.refusals import refusal

FLOOR = [rectangle(0, 0, 2, 3), rectangle(2, 0, 5, 3), [(5, 0.2, 0), (5, 0.2, 3), (7, 0.2, 3)]]
ROOF = [rectangle(0, 0, 2, 3, 2.5), rectangle(2, 0, 5, 3, 2.5), *[rectangle(x, 0, x + 1, 3, 2.5) for x in range(5, 9)]]
PACKED = pack_navmesh(FLOOR)


def read(path: Path, content: bytes) -> NavMesh:
    path.write_bytes(content)
    return read_navmesh(path)


def test_polygons_are_joined_to_one_floor(tmp_path: Path) -> None:
    navmesh = read(tmp_path / "a.navmesh", PACKED)
    whole = shapely.union(shapely.box(0, 0, 5, 3), shapely.Polygon([(5, 0), (5, 3), (7, 3)]))
    assert navmesh.area.symmetric_difference(whole).area < 0.02
    assert navmesh.height == pytest.approx(0.2)
    corners = {(0, 0), (0, 3), (2, 0), (2, 3), (5, 0), (5, 3), (7, 3)}
    assert {tuple(point) for point in navmesh.viewpoints.tolist()} == corners


def test_roofs_are_ignored(tmp_path: Path) -> None:
    navmesh = read(tmp_path / "a.navmesh", pack_navmesh([*ROOF, *FLOOR]))
    assert navmesh.height == pytest.approx(0.2)
    assert navmesh.area.bounds == pytest.approx((0, 0, 7, 3), abs=0.01)
    roof = tmp_path / "roof.navmesh"
    assert "no walkable place lies below 1.0 m" in refusal(lambda: read(roof, pack_navmesh(ROOF)), roof)


def test_the_island_with_more_vertices_is_used(tmp_path: Path) -> None:
    navmesh = read(tmp_path / "a.navmesh", pack_navmesh([rectangle(20, 20, 30, 30), *FLOOR]))
    assert navmesh.area.bounds == pytest.approx((0, 0, 7, 3), abs=0.01)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "unpack"),
        (b"not a mesh at all, but long enough for a header", "starts with b'not '"),
        (b"TESM\x02" + PACKED[5:], "version 2"),
        (PACKED.replace(b"VAND", b"DNAV"), "tile starts with b'DNAV'"),
        (PACKED.replace(b"VAND\x07", b"VAND\x06"), "version 6"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "other.navmesh"
    assert told in refusal(lambda: read(path, content), path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.navmesh"
    refusal(lambda: read_navmesh(path), path)


@pytest.mark.parametrize("length", [*range(0, len(PACKED), 7), len(PACKED) - 1])
def test_truncated_files_are_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / "short.navmesh"
    refusal(lambda: read(path, PACKED[:length]), path)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, len(PACKED) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_random_damage_gives_only_the_documented_error(tmp_path: Path, damage: list[tuple[int, int]]) -> None:
    content = bytearray(PACKED)
    for place, value in damage:
        content[place] = value
    path = tmp_path / "damaged.navmesh"
    path.write_bytes(content)
    for reads in (read_navmesh, read_polygon_navmesh):
        try:
            navmesh = reads(path)
        except DataError as error:
            assert str(error).startswith(f"{path}: ") and "\n" not in str(error)
        else:
            assert navmesh.area.area > 0
            assert navmesh.distance(navmesh.viewpoints[0], navmesh.viewpoints[-1]) >= 0
