from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.geometry import Pose
from housewise.worlds.house.simulator.base import STEP, TURN, BodyPose, Camera, LowLevelAction
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from tests.worlds.house.toy import BED, COUNTER, DOOR, STOOL, TABLE, thing

# Looking along +z from the middle of the kitchen: the table, and above it the wall at z = 4.
SOUTH = np.pi
PLACES = st.tuples(st.floats(0.2, 7.9), st.floats(0.2, 3.8))
BODIES = st.builds(
    lambda place, yaw, pitch: BodyPose(*place, yaw, pitch), PLACES, st.floats(-np.pi, np.pi), st.floats(-1.4, 1.4)
)


def started(task: RearrangementTask, body: BodyPose | None = None, camera: Camera | None = None) -> RaycastSimulator:
    simulator = RaycastSimulator(camera)
    simulator.reset(task.scene, task.episode.receptacles, task.episode.objects, body or BodyPose(2.0, 2.0))
    return simulator


@given(st.floats(0.6, 3.7))
def test_depth_is_the_distance_to_the_wall(toy: RearrangementTask, distance: float) -> None:
    # The camera looks along -z from z = distance at the wall z = 0.
    depth = started(toy, BodyPose(3.0, 2.0)).observe(BodyPose(3.0, distance)).depth
    centre = depth[50:70, 50:78]
    assert centre == pytest.approx(np.full(centre.shape, distance), abs=0.01)
    assert depth.dtype == np.float32


def test_depth_is_within_the_sensors_range(toy: RearrangementTask) -> None:
    simulator = started(toy, camera=Camera(min_depth=2.0, max_depth=2.3))
    depth = simulator.observe(BodyPose(3.0, 2.5, 0.3)).depth
    assert (depth.min(), depth.max()) == pytest.approx((2.0, 2.3))


def test_floor_and_background_have_instance_number_zero(toy: RearrangementTask) -> None:
    seen = started(toy, camera=Camera(field_of_view=np.pi / 4)).observe(BodyPose(2.0, 2.0, 0.0, -1.4))
    assert not seen.instance.any() and not seen.semantic.any()
    assert seen.depth.min() > 1.4 and seen.depth.max() < 1.8


def test_instance_masks_agree_with_the_pinhole_camera(toy: RearrangementTask) -> None:
    # The bed is 1.6 m to 3.6 m ahead, with z from 0 to 1.6 and y from 0 to 0.5. The lens is at z = 2 and y = 1.5.
    body = BodyPose(4.5, 2.0, -np.pi / 2)
    simulator = started(toy)
    mask = simulator.observe(body).instance == simulator.keys.index(BED)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    # Its right edge is 0.4 m left of the axis, so its rightmost pixel is at its far end, 3.6 m ahead.
    assert columns.max() + 1 == pytest.approx(64 - 64 * 0.4 / 3.6, abs=1)
    assert rows.max() + 1 == pytest.approx(64 + 64 * 1.5 / 1.6, abs=1)
    assert rows.min() == pytest.approx(64 + 64 * 1.0 / 3.6, abs=1)


def test_semantic_numbers_are_those_of_the_kinds(toy: RearrangementTask) -> None:
    simulator = started(toy)
    assert simulator.keys == ("", COUNTER, TABLE, BED, STOOL, DOOR, "mug_1", "plate_1", "tea_towel_1")
    assert simulator.kinds == ("", "bed", "counter", "door", "mug", "plate", "stool", "table", "tea towel")
    seen = simulator.observe(BodyPose(2.0, 1.5, SOUTH, -0.5))
    for number in np.unique(seen.instance[seen.instance > 0]):
        kind = {simulator.kinds[other] for other in seen.semantic[seen.instance == number]}
        key = simulator.keys[number]
        assert kind == {key.split("-")[-1].rsplit("_", 1 if key[0] in "mt" else 2)[0].replace("_", " ")}
    assert simulator.keys.index("tea_towel_1") in seen.instance


@settings(max_examples=40)
@given(BODIES)
def test_visible_keys_are_those_in_the_instance_image(toy: RearrangementTask, body: BodyPose) -> None:
    simulator = started(toy)
    seen = simulator.observe(body)
    shown = {simulator.keys[number] for number in np.unique(seen.instance) if number}
    assert simulator.visible(body) == shown
    assert simulator.body == BodyPose(2.0, 2.0)
    simulator.stand(body)
    assert simulator.visible() == shown
    again = simulator.observe()
    assert all((getattr(again, name) == getattr(seen, name)).all() for name in ("rgb", "depth", "instance", "semantic"))


@settings(max_examples=40)
@given(BODIES)
def test_the_aim_is_the_object_at_the_image_centre(toy: RearrangementTask, body: BodyPose) -> None:
    simulator = started(toy, camera=Camera(width=129, height=129))
    simulator.stand(body)
    seen = simulator.observe()
    shown, along = simulator.keys[seen.instance[64, 64]], float(seen.depth[64, 64])
    if along < 5.0:
        met = simulator.aimed_at(100.0) or ""
        # A door is in the plane of its wall, so a ray may hit either first.
        assert met == shown or {met, shown} <= {"", *(key for key in simulator.keys if "-door_" in key)}
    if along > 0.5:
        assert simulator.aimed_at(along - 0.01) is None


@settings(max_examples=40)
@given(BODIES, st.sampled_from([Camera(), Camera(width=37, height=65, field_of_view=2.5, above_floor=0.5)]))
def test_packets_without_an_object_are_left_out_of_the_same_picture(
    toy: RearrangementTask, body: BodyPose, camera: Camera
) -> None:
    # Also objects in the air, through which the camera looks.
    poses = [Pose(moved.pose.position) for moved in toy.episode.objects]
    poses[0] = Pose((body.x + 0.05, camera.above_floor, body.z))
    views = []
    for traces_all in (False, True):
        simulator = started(toy, camera=camera)
        for moved, pose in zip(toy.episode.objects, poses, strict=True):
            simulator.move_object(moved.key, pose)
        if traces_all:
            simulator._picture.packets_around = lambda *_: None  # type: ignore[method-assign,assignment]
        views.append(simulator.observe(body))
    for name in ("rgb", "depth", "instance", "semantic"):
        assert (getattr(views[0], name) == getattr(views[1], name)).all()


def test_two_simulators_return_the_same_observation(toy: RearrangementTask) -> None:
    body = BodyPose(2.2, 2.4, 2.8, -0.6)
    one, other = started(toy).observe(body), started(toy).observe(body)
    for name in ("rgb", "depth", "instance", "semantic"):
        assert (getattr(one, name) == getattr(other, name)).all()
    assert one.rgb.std() > 10


def test_a_held_object_is_not_visible(toy: RearrangementTask) -> None:
    simulator = started(toy)
    body = BodyPose(2.0, 2.2, SOUTH, -0.6)
    assert "tea_towel_1" in simulator.visible(body)
    before = simulator.observe(body)
    simulator.move_object("tea_towel_1", None)
    after = simulator.observe(body)
    assert "tea_towel_1" not in simulator.visible(body)
    # The table is visible at its place.
    was = before.instance == simulator.keys.index("tea_towel_1")
    assert (after.instance[was] == simulator.keys.index(TABLE)).all()
    assert (after.depth[was] > before.depth[was]).all()


def test_a_moved_object_is_visible_at_its_new_place(toy: RearrangementTask) -> None:
    simulator = started(toy)
    table, counter = BodyPose(2.0, 2.2, SOUTH, -0.6), BodyPose(1.5, 2.0, np.pi / 2, -0.5)
    assert "tea_towel_1" in simulator.visible(table) and "tea_towel_1" not in simulator.visible(counter)
    simulator.move_object("tea_towel_1", Pose((0.4, 0.925, 1.6)))
    assert "tea_towel_1" not in simulator.visible(table) and "tea_towel_1" in simulator.visible(counter)


def test_every_reset_starts_over(toy: RearrangementTask) -> None:
    simulator = started(toy)
    body = BodyPose(2.0, 2.2, SOUTH, -0.6)
    first = simulator.observe(body)
    simulator.move_object("tea_towel_1", None)
    simulator.reset(toy.scene, toy.episode.receptacles, toy.episode.objects, BodyPose(2.0, 2.0))
    assert (simulator.observe(body).rgb == first.rgb).all()
    fewer = [thing("mug_1", TABLE, {BED}, (2.0, 3.4))]
    simulator.reset(toy.scene, (TABLE, BED), fewer, BodyPose(2.0, 2.0))
    assert simulator.keys == ("", TABLE, BED, DOOR, "mug_1")
    assert simulator.visible(body) == {TABLE, "mug_1"}
    assert COUNTER not in simulator.visible(BodyPose(1.5, 2.0, np.pi / 2, -0.5))


def test_walking_and_turning(toy: RearrangementTask) -> None:
    simulator = started(toy)
    assert not simulator.act(LowLevelAction.MOVE_FORWARD)
    assert simulator.body.point == pytest.approx([2.0, 2.0 - STEP])
    assert not simulator.act(LowLevelAction.TURN_LEFT)
    assert simulator.body.yaw == pytest.approx(TURN)
    simulator.act(LowLevelAction.MOVE_FORWARD)
    assert simulator.body.point == pytest.approx([2.0 - STEP * np.sin(TURN), 2.0 - STEP - STEP * np.cos(TURN)])
    for _ in range(36):
        simulator.act(LowLevelAction.TURN_RIGHT)
    assert np.angle(np.exp(1j * (simulator.body.yaw - TURN))) == pytest.approx(0, abs=1e-9)
    before = simulator.body
    assert not simulator.act(LowLevelAction.STOP) and not simulator.act(LowLevelAction.GRAB_RELEASE)
    assert simulator.body == before


def test_steps_end_at_walls_and_slide_along_furniture(toy: RearrangementTask) -> None:
    simulator = started(toy, BodyPose(3.0, 0.3))
    assert simulator.act(LowLevelAction.MOVE_FORWARD)
    assert simulator.body.point == pytest.approx([3.0, 0.2], abs=0.005)
    assert simulator.act(LowLevelAction.MOVE_FORWARD)
    assert simulator.body.point == pytest.approx([3.0, 0.2], abs=0.005)
    # A diagonal step against the counter's front at x = 0.6 slides along it.
    simulator.stand(BodyPose(0.8, 2.0, np.pi / 4))
    assert simulator.act(LowLevelAction.MOVE_FORWARD)
    assert simulator.body.point == pytest.approx([0.8, 2.0 - STEP * np.sqrt(0.5)], abs=0.005)


def test_the_pitch_of_the_camera_is_limited(toy: RearrangementTask) -> None:
    simulator = started(toy)
    for action, limit in ((LowLevelAction.LOOK_UP, np.deg2rad(85)), (LowLevelAction.LOOK_DOWN, -np.deg2rad(85))):
        seen = []
        for _ in range(20):
            assert not simulator.act(action)
            seen.append(simulator.body.pitch)
        assert seen[-1] == pytest.approx(limit)
        assert np.abs(np.diff(seen)).max() <= TURN + 1e-9
    assert simulator.body.point == pytest.approx([2.0, 2.0])


def test_the_start_is_snapped_to_the_navmesh(toy: RearrangementTask) -> None:
    assert started(toy, BodyPose(2.0, 3.2)).body.point == pytest.approx([2.0, 3.0], abs=0.005)


def test_unused_sensors_are_empty(toy: RearrangementTask) -> None:
    simulator = RaycastSimulator(sensors=("instance",))
    simulator.reset(toy.scene, toy.episode.receptacles, toy.episode.objects, BodyPose(2.0, 2.0))
    seen = simulator.observe()
    assert seen.rgb.size == seen.depth.size == seen.semantic.size == 0
    assert seen.instance.shape == (128, 128)


def test_a_wider_image_shows_more_at_the_sides(toy: RearrangementTask) -> None:
    body = BodyPose(2.0, 2.0, SOUTH, -0.4)
    square, wide = started(toy).observe(body), started(toy, camera=Camera(width=256)).observe(body)
    assert wide.rgb.shape == (128, 256, 3)
    # With twice the width and the same horizontal field of view, the vertical one is half as large.
    assert np.isin(np.unique(wide.instance), np.unique(square.instance)).all()


def test_the_height_of_the_lens_is_used(toy: RearrangementTask) -> None:
    for height in (0.8, 1.5):
        simulator = started(toy, camera=replace(Camera(), above_floor=height))
        assert simulator.observe(BodyPose(2.0, 2.0, 0.0, -1.4)).depth[64, 64] == pytest.approx(
            height / np.sin(1.4), abs=0.02
        )
