import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from housewise.worlds.house.geometry import (
    IDENTITY,
    Box,
    Pose,
    Quat,
    forward_vector,
    vec3,
    yaw_from_rotation,
    yaw_rotation,
)

METRES = st.floats(-50, 50)
POINTS = arrays.arrays(np.float64, st.tuples(st.integers(1, 12), st.just(3)), elements=METRES)
VECTORS = st.tuples(METRES, METRES, METRES)
YAWS = st.floats(-20, 20)


@st.composite
def quaternions(draw: st.DrawFn) -> Quat:
    parts = np.array(draw(st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1)))
    x, y, z, w = (float(part) for part in parts / np.linalg.norm(parts))
    return (x, y, z, w)


@given(POINTS, VECTORS)
def test_a_pose_without_rotation_translates(points: np.ndarray, position: tuple[float, float, float]) -> None:
    assert Pose(position, IDENTITY).apply(points) == pytest.approx(points + position)


@given(POINTS, VECTORS, quaternions())
def test_a_pose_keeps_distances(points: np.ndarray, position: tuple[float, float, float], rotation: Quat) -> None:
    placed = Pose(position, rotation).apply(points)
    before = np.linalg.norm(points - points[0], axis=1)
    assert np.linalg.norm(placed - placed[0], axis=1) == pytest.approx(before, abs=1e-9)


def test_a_quarter_turn_maps_forward_to_left() -> None:
    # Forward is -z, and left of it is -x.
    turned = Pose((1.0, 2.0, 3.0), yaw_rotation(np.pi / 2)).apply([[0.0, 0.0, -1.0], [0.0, 5.0, 0.0]])
    assert turned == pytest.approx(np.array([[0.0, 2.0, 3.0], [1.0, 7.0, 3.0]]))


@given(POINTS)
def test_a_bounding_box_is_the_smallest_box(points: np.ndarray) -> None:
    box = Box.bounding(points)
    assert (points >= np.array(box.low)).all() and (points <= np.array(box.high)).all()
    for axis in range(3):
        assert box.low[axis] in points[:, axis] and box.high[axis] in points[:, axis]
    assert box.top == box.high[1]


@given(VECTORS, st.tuples(*[st.floats(0, 10)] * 3))
def test_a_box_has_the_given_size_and_centre(
    centre: tuple[float, float, float], size: tuple[float, float, float]
) -> None:
    box = Box.from_centre(centre, size)
    assert box.size == pytest.approx(size, abs=1e-9)
    assert box.centre == pytest.approx(centre, abs=1e-9)
    again = Box.bounding(box.corners())
    assert (again.low, again.high) == (box.low, box.high)
    assert box.corners().shape == (8, 3)


@given(YAWS)
def test_yaw_is_recovered_from_its_rotation(yaw: float) -> None:
    apart = yaw_from_rotation(yaw_rotation(yaw)) - yaw
    assert np.angle(np.exp(1j * apart)) == pytest.approx(0.0, abs=1e-9)


@given(YAWS)
def test_forward_vectors_agree_with_rotations(yaw: float) -> None:
    ahead = Pose((0.0, 0.0, 0.0), yaw_rotation(yaw)).apply([[0.0, 0.0, -1.0]])[0]
    assert forward_vector(yaw) == pytest.approx(ahead, abs=1e-9)


def test_vec3_returns_floats() -> None:
    assert vec3(np.array([1, 2, 3], dtype=np.float32)) == (1.0, 2.0, 3.0)
    assert all(type(part) is float for part in vec3(np.ones(3)))
    with pytest.raises(ValueError):
        vec3([1.0, 2.0])
