"""The map of an attempt in the lab as SVG: the lab from above, the person's path, and where subgoals were reached."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from math import hypot

import numpy as np
from markupsafe import Markup

from housewise.playback.floor_plan import ROOM_LETTER_WIDTH, FloorPlan
from housewise.report.drawing.house_map import draw_ends, draw_house, draw_stop, draw_walk, frame_map, map_point
from housewise.report.drawing.label_layout import LabelLayout
from housewise.report.drawing.svg import Point, tag
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.lab.camera_picture import camera_pose
from housewise.worlds.lab.kinds import FURNITURE, KINDS
from housewise.worlds.lab.state import Body

_FONT, _LETTER, _BOLD_LETTER = 9.0, 0.6, 0.68
_LINE = 16.0
_STRIDE = 0.25
# Where the number of a subgoal is drawn if another one is at the same place, in diameters.
_AROUND = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1), (2, 0), (-2, 0))
_DIAMETER = 17.0


def lab_map_svg(
    plan: FloorPlan,
    navmesh: NavMesh,
    bodies: Sequence[Body],
    reached: Mapping[str, int],
    used: Collection[str],
    title: str,
) -> Markup:
    """Return the map of an attempt.

    Args:
        plan: Floor plan of the lab.
        navmesh: Where the person walks between the places where they stopped.
        bodies: Where the person stood, at the beginning and after each action.
        reached: Number of actions after which each subgoal was reached, by its name, in their order.
        used: Ids of devices and furniture with which something was done.
        title: Text for screen readers.
    """
    labels = LabelLayout(plan.projection.size)
    way = list(_way(plan, navmesh, bodies))
    stops = _stops(plan, bodies, reached, labels)
    ends = draw_ends(plan, camera_pose(bodies[0]), camera_pose(bodies[-1]), "the person", labels)
    rooms = _room_names(plan, labels)
    things = _names(plan, used, labels)
    return frame_map(plan, title, draw_house(plan), things, draw_walk(way), rooms, ends, stops)


def _way(plan: FloorPlan, navmesh: NavMesh, bodies: Sequence[Body]) -> Iterator[Point]:
    """Yield the person's path in short steps, pixels. Between two stops it is the shortest one."""
    yield map_point(plan, bodies[0].x, bodies[0].z)
    for start, end in pairwise(bodies):
        corners = navmesh.path((start.x, start.z), (end.x, end.z))
        for (x, z), (to_x, to_z) in pairwise(corners.tolist()):
            steps = max(1, round(hypot(to_x - x, to_z - z) / _STRIDE))
            for share in np.linspace(0, 1, steps + 1)[1:]:
                yield map_point(plan, x + share * (to_x - x), z + share * (to_z - z))


def _stops(plan: FloorPlan, bodies: Sequence[Body], reached: Mapping[str, int], labels: LabelLayout) -> Markup:
    """Draw a number where each subgoal was reached, and its name where there is space."""
    marks = []
    for number, (name, turn) in enumerate(reached.items(), 1):
        body = bodies[min(turn, len(bodies) - 1)]
        x, y = map_point(plan, body.x, body.z)
        spots = ((x + right * _DIAMETER, y + down * _DIAMETER) for right, down in _AROUND)
        x, y = next((spot for spot in spots if labels.take_if_free(*spot, 15, 15)), (x, y))
        marks += draw_stop(x, y, number, f"{name}: reached here, turn {turn}", turn / max(1, len(bodies) - 1))
    return tag("g", *marks, class_="stops")


def _room_names(plan: FloorPlan, labels: LabelLayout) -> Markup:
    """Draw the names of rooms, a line for each word, as rooms of the lab are narrow."""
    texts = []
    for name, (x, y) in plan.rooms.items():
        lines = name.upper().split()
        size = (ROOM_LETTER_WIDTH * max(map(len, lines)), _LINE * len(lines))
        x, y = labels.place_within(x, y, *size, 160) or (x, y)
        # Distances follow the size of the letters, which is larger on phones.
        first = f"{0.4 - 0.6 * (len(lines) - 1):.1f}em"
        spans = [tag("tspan", line, x=x, dy="1.2em" if place else first) for place, line in enumerate(lines)]
        texts.append(tag("text", *spans, x=x, y=y))
    return tag("g", *texts, class_="rooms")


def _names(plan: FloorPlan, used: Collection[str], labels: LabelLayout) -> Markup:
    """Draw the names of devices and furniture that fit: those that were used first, then devices."""
    texts = []

    def order(id: str) -> tuple[bool, bool, str]:
        return id not in used, _kind(id) in FURNITURE, id

    for id in sorted(plan.furniture, key=order):
        corners = plan.furniture[id]
        x, y = corners.mean(axis=0)
        name = KINDS[_kind(id)].name
        width = (_BOLD_LETTER if id in used else _LETTER) * _FONT * len(name)
        spot = labels.place_around(float(x), float(y), width, _FONT + 1, float(np.ptp(corners[:, 1])) / 2)
        if spot is not None:
            texts.append(tag("text", name, x=spot[0], y=spot[1] + 3, class_="used" if id in used else None))
    return tag("g", *texts, class_="things")


def _kind(id: str) -> str:
    """Return the kind of a thing by its id."""
    return id.rpartition("_")[0]
