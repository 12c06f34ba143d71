import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from housewise.playback.floor_plan import PICTURE_SCALE, draw_floor_plan
from housewise.playback.object_outcomes import (
    list_object_outcomes,
)
from housewise.playback.replay import find_task, replay_record
from housewise.playback.simulators import PlaybackSimulator
from housewise.report.drawing.control_characters import neutralize_text
from housewise.report.drawing.house_map import map_svg
from housewise.report.drawing.label_layout import LabelLayout
from housewise.report.drawing.scene_tree import RoomRow, choose_rows, room_of, tree_svg
from housewise.report.drawing.svg import gauge, mark, tag
from housewise.systems.personalize.record import read_house_records
from housewise.worlds.house.simulator.base import Camera
from tests.housewise.playback.outcomes import BOOK, MUG

KINDS = ("right", "wrong", "unseen")


def test_trees_have_the_same_rows_and_differ_in_what_moved(run_folder: Path) -> None:
    shown = [RoomRow("kitchen 0", ("kitchen 0 sink 1", "kitchen 0 shelf 2"), 3), RoomRow("bathroom 0", (), 0)]
    before, after = (ElementTree.fromstring(tree_svg(shown, [MUG, BOOK], late, "x <y>")) for late in (False, True))
    assert before.get("viewBox") == after.get("viewBox")
    kinds = [
        [kind for leaf in tree.iter("g") if (kind := leaf.get("class", "")).startswith("leaf")]
        for tree in (before, after)
    ]
    assert kinds == [["leaf wrong moved", "leaf right moved"], ["leaf right moved", "leaf wrong moved"]]


def test_branches_hold_every_object(run_folder: Path) -> None:
    for record in read_house_records(run_folder / "episodes"):
        shown = {place for branch in choose_rows(record, list_object_outcomes(record)) for place in branch.places}
        assert {*record.initial_state.placements.values(), *record.final.placements.values()} - {"robot"} <= shown


def test_rooms_are_told_by_the_longest_name() -> None:
    assert room_of("bedroom 10 bed 3", ["bedroom 1", "bedroom 10"]) == "bedroom 10"
    assert room_of("window 3", ["bedroom 1"]) == ""


def test_map_shows_house_and_moves(run_folder: Path) -> None:
    record = next(read_house_records(run_folder / "episodes"))
    task = find_task(record)
    played = replay_record(record, task, PlaybackSimulator(Camera(8, 6)), 0)
    plan = draw_floor_plan(task.scene, task.episode.receptacles)
    width, height = plan.projection.size
    assert plan.picture.shape == (PICTURE_SCALE * height, PICTURE_SCALE * width, 4)
    assert set(plan.rooms) == {room.name for room in task.scene.rooms}
    assert 0.6 < (plan.picture[:, :, 3] > 0).mean() <= 1.0
    things = list_object_outcomes(record)
    drawn = ElementTree.fromstring(map_svg(plan, played, things, "a map"))
    texts = {text.text for text in drawn.iter("text")}
    assert {thing.name for thing in things} <= texts
    assert {room.upper() for room in plan.rooms} <= texts
    arrows = [group for group in drawn.iter("g") if (group.get("class") or "").startswith("arrow")]
    assert 1 <= len(arrows) <= sum(thing.is_displaced for thing in things)
    boxes = [label_box(text) for text in drawn.iter("text") if text.text and not text.text.isdigit()]
    across, down = plan.projection.size
    assert all(left >= 0 and top >= 0 and right <= across and bottom <= down for left, top, right, bottom in boxes)
    assert not [(one, other) for one, other in combinations(boxes, 2) if overlap(one, other)]


def label_box(text: ElementTree.Element) -> tuple[float, float, float, float]:
    """About where a label is: at least as wide as narrow letters make it."""
    size = {True: 12.0, False: 9.0}[text.get("class") in ("right", "wrong", "unseen") or (text.text or "").isupper()]
    x, y, half = float(text.get("x", 0)), float(text.get("y", 0)), 0.25 * size * len(text.text or "")
    return x - half, y - 0.7 * size, x + half, y


def overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def test_right_and_wrong_differ_in_shape() -> None:
    shapes = {kind: re.findall(r"<(\w+)", mark(kind)) + re.findall(r' d="([^"]*)"', mark(kind)) for kind in KINDS}
    assert len({tuple(shape) for shape in shapes.values()}) == len(KINDS)
    assert "<rect" in gauge(0.4) and "<rect" not in gauge(-0.4) and "dasharray" in gauge(-0.4)


@given(st.lists(st.tuples(*[st.integers(0, 300)] * 2, *[st.integers(4, 90)] * 2), max_size=25))
def test_what_is_placed_covers_nothing(wanted: list[tuple[int, int, int, int]]) -> None:
    boxes = LabelLayout((300, 300))
    placed = []
    for x, y, width, height in wanted:
        if spot := boxes.place_beside(x, y, width, height):
            placed.append((spot[0] - width / 2, spot[1] - height / 2, spot[0] + width / 2, spot[1] + height / 2))
    assert not any(overlap(one, other) for one, other in combinations(placed, 2))


def test_what_turns_or_controls_writing_is_seen_and_does_nothing() -> None:
    assert neutralize_text("a\x1b[31mb\u202ec\ud800\x00\td\n") == "a␛[31mb‹U+202E›c\ufffd␀\td\n"
    assert "\u202e" not in tag("text", "x\u202ey", title="\u202e")


def test_svg_is_escaped() -> None:
    assert tag("text", "<b>&", x=1.0, class_='"x"') == '<text x="1" class="&#34;x&#34;">&lt;b&gt;&amp;</text>'
