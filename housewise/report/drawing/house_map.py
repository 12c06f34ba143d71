"""The map of an episode as SVG: the house from above, the robot's path, and the objects that were moved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from housewise.playback.floor_plan import ROOM_LETTER_WIDTH, Area, FloorPlan
from housewise.playback.object_outcomes import ObjectOutcome
from housewise.playback.replay import Replay
from housewise.report.drawing.images import compress, data_uri
from housewise.report.drawing.label_layout import LabelLayout
from housewise.report.drawing.svg import Point, join, mark, path, tag
from housewise.worlds.house.simulator.base import BodyPose

_PATH_COLORS = ((47, 56, 150), (118, 48, 168), (200, 48, 120), (235, 110, 30), (250, 190, 40))
_PATH_SEGMENTS = 72
# Widths of letters relative to the size of a wide font.
_LETTER, _BOLD_LETTER = 0.6, 0.68
_OBJECT_FONT = 12.0
_FURNITURE_FONT = 9.0
_PLAN_GAP = 19.0
# Minimum distance in pixels from which a line connects a name with its object.
_FAR = 26.0
_ROBOT = "M14 0L-9 10L-4.5 0L-9 -10Z"


def map_svg(plan: FloorPlan, replay: Replay, outcomes: Sequence[ObjectOutcome], title: str) -> Markup:
    """Return the map of an episode.

    Args:
        plan: Floor plan of the house.
        replay: The replayed episode.
        outcomes: Outcome of each object.
        title: Text for screen readers.
    """
    labels = LabelLayout(plan.projection.size)
    # Earlier calls get the free space first; the layers are stacked in another order below.
    arrows, dots = _moves(plan, replay, outcomes, labels)
    ends = draw_ends(plan, replay.states[0].body, replay.states[-1].body, "the robot", labels)
    names = _object_names(plan, replay, outcomes, labels)
    rooms = _room_names(plan, labels)
    stops = _stops(plan, replay, labels)
    things = _furniture_names(plan, replay, outcomes, labels)
    way = _points(plan.projection.pixels([(moment.body.x, moment.body.z) for moment in replay.states]))
    return frame_map(plan, title, draw_house(plan), things, draw_walk(way), arrows, rooms, stops, ends, dots, names)


def frame_map(plan: FloorPlan, title: str, *layers: Markup) -> Markup:
    """Return the drawn layers of a map, lowest first, as an SVG image with a title for screen readers."""
    width, height = plan.projection.size
    size = f"0 0 {width} {height}"
    return tag("svg", tag("title", title), *layers, viewBox=size, class_="map", role="img")


def path_color(share: float) -> tuple[int, int, int]:
    """Return the colour of the path after a share of the steps, from 0 to 1."""
    at = np.clip(share, 0, 1) * (len(_PATH_COLORS) - 1)
    red, green, blue = (
        int(np.interp(at, range(len(_PATH_COLORS)), [stage[channel] for stage in _PATH_COLORS])) for channel in range(3)
    )
    return red, green, blue


def path_gradient() -> str:
    """Return the colours of the path as a CSS gradient."""
    return "linear-gradient(90deg," + ",".join(css_color(stage) for stage in _PATH_COLORS) + ")"


def draw_house(plan: FloorPlan) -> Markup:
    """Draw the ray-traced picture of the house, or its floor if there is none; then outlines of furniture and walls."""
    width, height = plan.projection.size
    if plan.picture is None:
        ground = tag("path", d=_rings(plan.floor), class_="floor", fill_rule="evenodd")
        colors = {name: css_color(color) for name, color in plan.colors.items()}
    else:
        ground = tag("image", href=data_uri(compress(plan.picture)), width=width, height=height)
        colors = {}
    outlines = [
        tag("path", tag("title", name), d=path(_points(corners), closed=True), fill=colors.get(name))
        for name, corners in plan.furniture.items()
    ]
    return join(
        [
            ground,
            tag("g", *outlines, class_="furniture" if plan.picture is not None else "furniture plain"),
            tag("path", d=_rings(plan.walls), class_="walls", fill_rule="evenodd"),
        ]
    )


def _rings(area: Area) -> str:
    parts = getattr(area, "geoms", [area])
    return "".join(
        path(_points(np.asarray(ring.coords)[:-1]), closed=True)
        for part in parts
        for ring in (part.exterior, *part.interiors)
    )


def draw_walk(points: Sequence[Point]) -> Markup:
    """Draw a path from dark to light. Points are in pixels, a step apart."""
    bounds = np.unique(np.linspace(0, len(points) - 1, _PATH_SEGMENTS + 1).round().astype(int)).tolist()
    chunks = []
    for start, end in pairwise(bounds):
        way = _distinct(points[start : end + 1])
        if len(way) > 1:
            chunks.append(tag("path", d=path(way), stroke=css_color(path_color(start / len(points)))))
    halo = _distinct(points)
    under = [tag("path", d=path(halo), class_="halo")] if len(halo) > 1 else []
    return tag("g", *under, *chunks, class_="walk")


def draw_ends(plan: FloorPlan, first: BodyPose, last: BodyPose, who: str, labels: LabelLayout) -> Markup:
    """Draw the poses of somebody at the start and at the end."""
    marks = []
    for name, pose, share in (("start", first, 0.0), ("end", last, 1.0)):
        x, y = map_point(plan, pose.x, pose.z)
        color = css_color(path_color(share))
        turn = np.rad2deg(plan.projection.heading(pose.yaw))
        place = f"translate({x:.1f} {y:.1f}) rotate({turn:.0f})"
        title = tag("title", f"{who} at the {name}")
        marks.append(tag("path", title, d=_ROBOT, fill=color, transform=place, class_="robot"))
        labels.block(x, y, 20, 20)
        spot = labels.place_beside(x, y, 30, 12)
        if spot is not None:
            marks.append(tag("text", name, x=spot[0], y=spot[1] + 4))
    return tag("g", *marks, class_="ends")


def draw_stop(x: float, y: float, number: int, what: str, share: float) -> list[Markup]:
    """Draw a numbered dot in the colour of the path after a share of the steps."""
    color = css_color(path_color(share))
    return [
        tag("circle", tag("title", what), cx=x, cy=y, r=7.5, stroke=color),
        tag("text", str(number), x=x, y=y + 3.2),
    ]


def map_point(plan: FloorPlan, x: float, z: float) -> Point:
    """Return the pixel of a point (x, z), metres."""
    return _points(plan.projection.pixels((x, z)))[0]


def _stops(plan: FloorPlan, replay: Replay, labels: LabelLayout) -> Markup:
    """Draw a numbered dot where each plan was requested; dots that would overlap are left out."""
    kept: list[Point] = []
    marks = []
    for number, index in replay.plan_states.items():
        body = replay.states[index].body
        x, y = map_point(plan, body.x, body.z)
        if any(np.hypot(x - a, y - b) < _PLAN_GAP for a, b in kept) or not labels.take_if_free(x, y, 15, 15):
            continue
        kept.append((x, y))
        what = f"plan {number + 1} was asked for here"
        marks += draw_stop(x, y, number + 1, what, index / len(replay.states))
    return tag("g", *marks, class_="stops")


def _moves(
    plan: FloorPlan, replay: Replay, outcomes: Sequence[ObjectOutcome], labels: LabelLayout
) -> tuple[Markup, Markup]:
    """Draw an arrow for each moved object, an outline where each object started and a filled sign where it ended."""
    arrows, dots = [], []
    for outcome in outcomes:
        start, end = _start_and_end(plan, replay, outcome)
        labels.block(*start, 20, 20)
        labels.block(*end, 16, 16)
        if outcome.is_displaced:
            arrows.append(_arrow(start, end, outcome.end_status))
        description = f"{outcome.name}: {outcome.start} → {outcome.end} ({outcome.description})"
        dots.append(mark(outcome.start_status, *start, 8, hollow=True, title=description))
        dots.append(mark(outcome.end_status, *end, 5.2, title=description))
    return tag("g", *arrows), tag("g", *dots)


def _start_and_end(plan: FloorPlan, replay: Replay, outcome: ObjectOutcome) -> tuple[Point, Point]:
    """Return an object's first and last pixel. One without a position is drawn at the robot's last one."""
    first, last = replay.states[0], replay.states[-1]
    robot = (last.body.x, last.body.z)
    start, end = _points(
        plan.projection.pixels([first.positions.get(outcome.name, robot), last.positions.get(outcome.name, robot)])
    )
    return start, end


def _arrow(start: Point, end: Point, kind: str) -> Markup:
    """Draw a curved arrow whose head stops short of the sign."""
    here, there = np.array(start), np.array(end)
    along = there - here
    length = float(np.hypot(*along))
    if length < 24:
        return Markup("")
    bend = (here + there) / 2 + np.array([along[1], -along[0]]) * 0.16
    ahead = (there - bend) / np.hypot(*(there - bend))
    side = np.array([-ahead[1], ahead[0]])
    tip = there - 9 * ahead
    foot = tip - 10 * ahead
    head = path(_points(np.array([tip, foot + 5 * side, foot - 5 * side])), closed=True)
    leave = here + 9 * (bend - here) / np.hypot(*(bend - here))
    curve = f"M{leave[0]:.1f} {leave[1]:.1f}Q{bend[0]:.1f} {bend[1]:.1f} {foot[0]:.1f} {foot[1]:.1f}"
    return tag(
        "g",
        tag("path", d=curve, class_="under"),
        tag("path", d=curve, class_="shaft"),
        tag("path", d=head, class_="head"),
        class_=f"arrow {kind}",
    )


def _object_names(plan: FloorPlan, replay: Replay, outcomes: Sequence[ObjectOutcome], labels: LabelLayout) -> Markup:
    """Draw names beside objects, with a line to those that are farther away.

    Names that fit nowhere are left out; they are in the tooltip of the sign and in the list beside the map.
    """
    texts = []
    for outcome in outcomes:
        _, (x, y) = _start_and_end(plan, replay, outcome)
        width = _BOLD_LETTER * _OBJECT_FONT * len(outcome.name)
        spot = labels.place_beside(x, y, width, _OBJECT_FONT + 2)
        if spot is None:
            continue
        edge = (min(max(x, spot[0] - width / 2), spot[0] + width / 2), spot[1])
        if np.hypot(edge[0] - x, edge[1] - y) > _FAR:
            texts.append(tag("path", d=path([(x, y), edge]), class_=outcome.end_status))
        texts.append(tag("text", outcome.name, x=spot[0], y=spot[1] + 4, class_=outcome.end_status))
    return tag("g", *texts, class_="names")


def _furniture_names(plan: FloorPlan, replay: Replay, outcomes: Sequence[ObjectOutcome], labels: LabelLayout) -> Markup:
    """Draw short names of furniture that fit, those of the episode first."""
    used = {place for outcome in outcomes for place in (outcome.start, outcome.end)}
    rooms = sorted((room.name for room in replay.task.scene.rooms), key=len, reverse=True)
    texts = []
    usable = {thing.name for thing in replay.task.scene.receptacles if thing.usable}
    for name in sorted(usable & set(plan.furniture), key=lambda name: (name not in used, name)):
        corners = plan.furniture[name]
        x, y = corners.mean(axis=0)
        short = next((name.removeprefix(f"{room} ") for room in rooms if name.startswith(f"{room} ")), name)
        width = (_BOLD_LETTER if name in used else _LETTER) * _FURNITURE_FONT * len(short)
        spot = labels.place_within(float(x), float(y), width, _FURNITURE_FONT + 1, float(np.ptp(corners[:, 1])))
        if spot is not None:
            texts.append(tag("text", short, x=spot[0], y=spot[1] + 3, class_="used" if name in used else None))
    return tag("g", *texts, class_="things")


def _room_names(plan: FloorPlan, labels: LabelLayout) -> Markup:
    texts = []
    for name, (x, y) in plan.rooms.items():
        size = (ROOM_LETTER_WIDTH * len(name), 16)
        spot = labels.place_within(x, y, *size, 120) or labels.place_beside(x, y, *size)
        if spot is not None:
            texts.append(tag("text", name.upper(), x=spot[0], y=spot[1] + 5))
    return tag("g", *texts, class_="rooms")


def _points(array: NDArray[np.float64]) -> list[Point]:
    return [(float(x), float(y)) for x, y in array]


def _distinct(points: Iterable[Point]) -> list[Point]:
    """Return points without repetitions."""
    kept: list[Point] = []
    for point in points:
        if not kept or np.hypot(point[0] - kept[-1][0], point[1] - kept[-1][1]) > 0.3:
            kept.append(point)
    return kept


def css_color(color: Sequence[int]) -> str:
    """Return an RGB colour in CSS."""
    return f"rgb({color[0]},{color[1]},{color[2]})"
