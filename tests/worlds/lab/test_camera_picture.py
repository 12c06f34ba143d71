"""Pictures: what changes the state changes the picture, and what looks alike is told apart by colour and label."""

from dataclasses import replace

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray

from housewise.worlds.lab.appearance import appearance
from housewise.worlds.lab.device_shapes import LABELS, Look
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.marks import draw_marks, find_marks
from housewise.worlds.lab.state import LabState
from tests.worlds.lab.labs import before, scenario, space, with_flag, with_new


def pixels(state: LabState, id: str) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """The picture, and the mask of a thing in it."""
    picture = space().view.picture(state)
    return picture.rgb, picture.instances == picture.ids.index(id)


def mean_color(state: LabState, id: str) -> NDArray[np.float64]:
    """The mean colour of a thing."""
    rgb, mask = pixels(state, id)
    assert mask.any()
    return np.asarray(rgb[mask].mean(axis=0))


def middle(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The mean row and column of a mask."""
    return np.asarray(np.argwhere(mask).mean(axis=0))


def test_every_kind_has_a_shape_near_its_size() -> None:
    for key, kind in KINDS.items():
        for color in kind.colors:
            shape = appearance(Look(key, color))
            points = np.concatenate([shape.solid.vertices, shape.glow.vertices])
            # Columns and cabinets of devices reach below them, labels and cables a little beyond.
            size = np.ptp(points[points[:, 1] >= -1e-6], axis=0)
            assert (size <= np.array(kind.size) * 1.5 + 0.12).all(), (key, size)
            assert size.max() >= 0.7 * max(kind.size), (key, size)


@pytest.mark.parametrize(
    ("kind", "on", "flag"),
    [
        ("bowl", "table_2", "broken"), ("trophy", "table_2", "broken"), ("yellow_mug", "table_2", "coffee"),
        ("hammer", "embiggenator_1", "large"), ("", "time_machine_1", "open"), ("", "fuse_box_1", "open"),
        ("", "portal_generator_1", "on"), ("", "laser_monitor_1", "on"), ("", "gravity_flipper_1", "on"),
    ],
)  # fmt: skip
def test_visible_states_change_the_pixels_of_a_thing(kind: str, on: str, flag: str) -> None:
    state = with_new(scenario().state, kind, on, spot=5) if kind else scenario().state
    id = f"{kind}_9" if kind else on
    there = before(space(), state, id)
    (first, _), (second, _) = pixels(there, id), pixels(with_flag(there, id, flag), id)
    changed = (first != second).any(axis=-1)
    assert changed.sum() >= 10
    _, after = pixels(with_flag(there, id, flag), id)
    assert changed[after].any()


def test_large_things_are_larger_and_floating_ones_higher() -> None:
    there = before(space(), with_new(scenario().state, "apple", "table_2", spot=5), "apple_9")
    _, usual = pixels(there, "apple_9")
    _, large = pixels(with_flag(there, "apple_9", "large"), "apple_9")
    _, floating = pixels(with_flag(there, "apple_9", "floating"), "apple_9")
    assert large.sum() > 2 * usual.sum()
    assert middle(floating)[0] < middle(usual)[0] - 10


def test_a_carrot_is_orange_whatever_it_was() -> None:
    there = before(space(), with_new(scenario().state, "bowl", "table_2", spot=5), "bowl_9")
    red, _, blue = mean_color(there, "bowl_9")
    assert blue > red
    carrot = replace(there["bowl_9"], kind="carrot", original="bowl", color="orange")
    red, _, blue = mean_color(there.with_thing(carrot), "bowl_9")
    assert red > 2 * blue


@pytest.mark.parametrize(("color", "channel"), [("red", 0), ("green", 1), ("blue", 2)])
def test_colours_are_seen(color: str, channel: int) -> None:
    state = with_new(scenario().state, "yellow_mug", "table_2", color=color, spot=5)
    assert np.argmax(mean_color(before(space(), state, "yellow_mug_9"), "yellow_mug_9")) == channel


def test_rooms_without_power_are_dark_but_the_lamp_of_the_fuse_box_is_seen() -> None:
    there = before(space(), scenario().state, "fuse_box_1")
    dark = replace(there, powered=there.powered - {"break room"})
    (lit, mask), (unlit, _) = pixels(there, "fuse_box_1"), pixels(dark, "fuse_box_1")
    assert unlit.mean() < 0.5 * lit.mean()
    green = (lit[mask].astype(int)[:, 1] - lit[mask].astype(int)[:, 0]).max()
    red = (unlit[mask].astype(int)[:, 0] - unlit[mask].astype(int)[:, 1]).max()
    assert green > 80 and red > 80


def test_screens_glow_with_power_only() -> None:
    there = before(space(), scenario().state, "laser_monitor_1")
    _, mask = pixels(there, "laser_monitor_1")
    dark = replace(there, powered=frozenset())
    brightest = [int(pixels(state, "laser_monitor_1")[0][mask][:, 1].max()) for state in (there, dark)]
    assert brightest[0] > 150 and brightest[1] < 90


def test_monitors_have_one_shape_and_differ_by_colour_and_label() -> None:
    shapes = {kind: appearance(Look(kind, KINDS[kind].colors[0])) for kind in LABELS}
    corners = 7 * 8  # of the boxes of the body, before the label
    bodies = {kind: shape.solid.vertices[:corners] for kind, shape in shapes.items()}
    assert all(np.allclose(body, bodies["laser_monitor"]) for body in bodies.values())
    colors = {tuple(shape.solid.colors[0]) for shape in shapes.values()}
    labels = {shape.solid.vertices[corners:].tobytes() for shape in shapes.values()}
    assert len(colors) == len(labels) == len(LABELS) == len(set(LABELS.values()))


def test_labels_are_legible_from_near() -> None:
    """A label has two brightnesses in its rows, with more changes than a plain plate."""
    there = before(space(), scenario().state, "gravity_flipper_monitor_1")
    rgb, mask = pixels(there, "gravity_flipper_monitor_1")
    rows = np.flatnonzero(mask.any(axis=1))
    changes = [
        int((np.abs(np.diff((rgb[row].mean(axis=1) > 110)[mask[row]].astype(int))) > 0).sum()) for row in rows[:60]
    ]
    assert max(changes) >= 12


def test_the_held_thing_is_seen_in_the_hand_but_not_marked() -> None:
    state = with_new(scenario().state, "yellow_mug", "table_2", spot=5)
    there = before(space(), state, "table_2")
    holding = replace(there, held="yellow_mug_9")
    picture = space().view.picture(holding)
    assert "yellow_mug_9" not in picture.ids
    corner = picture.rgb[150:, 150:].astype(int)
    yellow = (corner[..., 0] > 120) & (corner[..., 2] < 0.55 * corner[..., 0])
    assert yellow.sum() > 300
    assert "yellow_mug_9" not in {each.id for each in space().glimpses(holding)}


def test_marks_outline_the_pixels_of_each_thing() -> None:
    lab = space()
    state = before(lab, scenario().state, "laser_monitor_1")
    picture, glimpses = lab.view.picture(state), lab.glimpses(state)
    marks = find_marks(picture, glimpses)
    assert [mark.id for mark in marks] == [each.id for each in glimpses]
    assert [mark.index for mark in marks] == list(range(1, len(marks) + 1))
    for mark, glimpse in zip(marks, glimpses, strict=True):
        area = shapely.union_all([shapely.Polygon(points).buffer(0) for points in mark.polygons])
        inside = np.argwhere(picture.instances == picture.ids.index(mark.id))[:, ::-1] + 0.5
        covered = shapely.contains(area.buffer(1.0), shapely.points(inside)).mean()
        assert covered > 0.95 and area.area >= 0.8 * glimpse.pixels, mark
    assert (draw_marks(picture, marks) != picture.rgb).any()


def test_pictures_are_the_same_again_and_depend_on_nothing_but_the_state() -> None:
    state = space().go_to_room(scenario().state, scenario().state.room)
    first = space().view.picture(state)
    space().view.picture(replace(state, body=replace(state.body, heading=10.0)))
    space().view.picture(with_flag(state, "laser_monitor_1", "infected"))
    second = space().view.picture(replace(state))
    assert (first.rgb == second.rgb).all() and (first.instances == second.instances).all()
