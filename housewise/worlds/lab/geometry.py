"""The space of a lab with a layout: what is in view and in reach, and where a step leads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import atan, atan2, cos, degrees, hypot, radians, sin, tan
from typing import Any

import numpy as np
import shapely

from housewise.worlds.house.geometry import Array
from housewise.worlds.lab.actions import LabAction
from housewise.worlds.lab.camera_picture import EYE_HEIGHT, FIELD_OF_VIEW, PICTURE_SIZE, LabView, scene_key
from housewise.worlds.lab.layout import DANGER_RADIUS, SAFETY_MARGIN, LabLayout, draw_lab_layout
from housewise.worlds.lab.placement import ThingPlace, places
from housewise.worlds.lab.recent_results import RecentResults
from housewise.worlds.lab.scenarios import LabScenario
from housewise.worlds.lab.situation import FLIPPER
from housewise.worlds.lab.state import Body, LabState
from housewise.worlds.lab.surroundings import Glimpse, closed_holders, is_enclosed

REACH = 2.0
"""Greatest distance from a thing that is used, metres."""
FARTHEST_VIEW = 8.0
"""Greatest distance from a thing that is seen clearly, metres."""
VISIBLE_PIXELS = 40
"""Least number of pixels of a thing that is seen, in a picture of 300 x 300 pixels."""
VISIBLE_PIXELS_OF: Mapping[str, int] = {"dart": 20, "lever": 25}
"""The same for thin kinds, which would be seen from too near only."""
PITCH_LIMIT = 60.0
"""Greatest angle above or below the horizon, degrees."""

_STAND_DISTANCES = (0.75, 1.0, 1.3, 0.55, 1.6)
_STAND_DISTANCES_LARGE = (1.4, 1.1, 1.7, 0.8, 0.55)
_STAND_ANGLES = (0, 30, -30, 60, -60, 90, -90, 135, -135, 180)
_INTO_ROOM = 0.5
_HEADINGS = tuple(float(heading) for heading in range(0, 360, 45))
_KEPT = 8


def open_lab_space(scenario: LabScenario) -> LabSpace:
    """Return the space of a scenario, in the layout of its seed."""
    return LabSpace(draw_lab_layout(scenario.fixtures, scenario.seed, scenario.split))


class LabSpace:
    """The space of a lab with a layout; implements housewise.worlds.lab.surroundings.Surroundings.

    Distances are horizontal, from the person to the nearest point of a thing's footprint.

    Args:
        layout: The layout.
        visible_pixels: Least number of pixels of a thing that is seen, by kind; others have VISIBLE_PIXELS.
    """

    def __init__(self, layout: LabLayout, visible_pixels: Mapping[str, int] = VISIBLE_PIXELS_OF) -> None:
        self.layout = layout
        self.view = LabView(layout)
        self._least = visible_pixels
        self._places: RecentResults[dict[str, ThingPlace]] = RecentResults(_KEPT)
        self._glimpses: RecentResults[tuple[Glimpse, ...]] = RecentResults(_KEPT)

    def glimpses(self, state: LabState) -> tuple[Glimpse, ...]:
        """See Surroundings.glimpses. Things of the room are in view by their pixels in the picture."""
        # Every role of a turn asks for them.
        return self._glimpses.get((state.body, state.room, scene_key(state)), lambda: self._find_glimpses(state))

    def _find_glimpses(self, state: LabState) -> tuple[Glimpse, ...]:
        trace, where = self.view.trace(state), self.places(state)
        flat = trace.instances.ravel()
        counts = np.bincount(flat, minlength=len(trace.ids))
        columns = np.tile(np.arange(PICTURE_SIZE), PICTURE_SIZE)
        sums = np.bincount(flat, weights=columns, minlength=len(trace.ids))
        found = []
        for number in np.flatnonzero(counts):
            id = trace.ids[number]
            if (
                not id
                or state[id].room != state.room
                or counts[number] < self._least.get(state[id].kind, VISIBLE_PIXELS)
            ):
                continue
            distance = where[id].distance(state.body.x, state.body.z)
            if distance <= FARTHEST_VIEW:
                aside = (sums[number] / counts[number] + 0.5) / PICTURE_SIZE * 2 - 1
                bearing = degrees(atan(aside * tan(radians(FIELD_OF_VIEW / 2))))
                found.append(Glimpse(id, round(distance, 2), round(bearing, 1), int(counts[number])))
        return tuple(sorted(found, key=lambda glimpse: (glimpse.distance, glimpse.id)))

    def in_reach(self, state: LabState, id: str) -> bool:
        """See Surroundings.in_reach."""
        return self.distance(state, id) <= REACH and any(glimpse.id == id for glimpse in self.glimpses(state))

    def distance(self, state: LabState, id: str) -> float:
        """Return the distance of a thing from the person, metres; 0 for what is in the hand."""
        return 0.0 if id == state.held else self.places(state)[id].distance(state.body.x, state.body.z)

    def is_in_danger(self, state: LabState) -> bool:
        """See Surroundings.is_in_danger. A flipper in another room is behind a wall."""
        near = self._dangers(state, state.room)
        return any(place.distance(state.body.x, state.body.z) < DANGER_RADIUS for place in near)

    def places(self, state: LabState) -> dict[str, ThingPlace]:
        """Return the place of every thing that is not in the hand, by id."""
        return self._places.get((state.things, state.held), lambda: places(state, self.layout.fixtures))

    def move(self, state: LabState, action: LabAction) -> LabState | None:
        """See Surroundings.move."""
        body, amount = state.body, float(action.argument)
        if action.verb in ("RotateLeft", "RotateRight"):
            turn = amount if action.verb == "RotateRight" else -amount
            return replace(state, body=replace(body, heading=(body.heading + turn) % 360))
        if action.verb in ("LookUp", "LookDown"):
            pitch = body.pitch + (amount if action.verb == "LookUp" else -amount)
            if abs(pitch) > PITCH_LIMIT:
                return None
            return replace(state, body=replace(body, pitch=pitch))
        ahead = amount if action.verb == "MoveForward" else -amount
        x = body.x + ahead * sin(radians(body.heading))
        z = body.z - ahead * cos(radians(body.heading))
        room = self.layout.room_at(x, z)
        if not self.layout.navmesh.sees((body.x, body.z), (x, z)):
            return None
        return replace(state, room=room, body=replace(body, x=x, z=z), near=frozenset())

    def go_to_room(self, state: LabState, room: str) -> LabState:
        """See Surroundings.go_to_room. The person stops behind the door and looks at most of the furniture."""
        doors = [np.array(door.gap.centre) for door in self.layout.doors_of(room)]
        here = (state.body.x, state.body.z)
        door = min(doors, key=lambda point: self.layout.navmesh.distance(here, point))
        inside = self.layout.interior(room).expand(-_INTO_ROOM)
        goal = np.clip(door, (inside.x0, inside.z0), (inside.x1, inside.z1))
        x, z = self._snap(goal, self._danger_zone(state), room)
        return replace(state, room=room, body=Body(x, z, self._best_heading(room, x, z), -10.0), near=frozenset())

    def _best_heading(self, room: str, x: float, z: float) -> float:
        """Return the direction, by 45 degrees, in which most of the furniture of a room is."""
        interior = self.layout.interior(room).polygon()
        inside = [item for item in self.layout.fixtures.values() if interior.contains(shapely.Point(item.x, item.z))]
        bearings = np.array([degrees(atan2(item.x - x, z - item.z)) for item in inside])
        away = [np.abs((bearings - heading + 180) % 360 - 180) for heading in _HEADINGS]
        return _HEADINGS[int(np.argmax([(angles < FIELD_OF_VIEW / 2).sum() - angles.sum() / 1e5 for angles in away]))]

    def go_to_thing(self, state: LabState, id: str) -> LabState | None:
        """See Surroundings.go_to_thing. The person stops where the thing is in reach and in view."""
        if id == state.held:
            return state
        *_, outermost = id, *(holder.id for holder in closed_holders(state, id))
        place = self.places(state)[outermost]
        reserve = None
        for body in self._stands(state, place):
            there = replace(state, room=self.layout.room_at(body.x, body.z), body=body, near=frozenset((id,)))
            reserve = reserve or there
            if is_enclosed(state, id) or any(glimpse.id == id for glimpse in self.glimpses(there)):
                return there
        return reserve

    def _stands(self, state: LabState, place: ThingPlace) -> Iterator[Body]:
        """Yield where one can stand in front of a place and look at it, the best first."""
        area, danger = self.layout.navmesh, self._danger_zone(state)
        front = radians(90 * place.quarter)
        height = place.y + place.size[1] / 2
        late = []
        for distance in _STAND_DISTANCES_LARGE if max(place.size) > 1.0 else _STAND_DISTANCES:
            for angle in _STAND_ANGLES:
                toward = front + radians(angle)
                across, away = sin(toward), cos(toward)
                # The person stands at a distance from the edge of the footprint.
                rect = place.footprint
                edge = min(
                    rect.width / 2 / abs(across) if abs(across) > 1e-6 else np.inf,
                    rect.depth / 2 / abs(away) if abs(away) > 1e-6 else np.inf,
                )
                x, z = place.x + across * (edge + distance), place.z + away * (edge + distance)
                if not area.contains((x, z)):
                    continue
                heading = degrees(atan2(place.x - x, -(place.z - z))) % 360
                pitch = degrees(atan2(height - EYE_HEIGHT, hypot(place.x - x, place.z - z)))
                body = Body(x, z, round(heading), float(round(np.clip(pitch, -PITCH_LIMIT, PITCH_LIMIT))))
                if danger.distance(shapely.Point(x, z)) > 0:
                    yield body
                else:
                    late.append(body)
        yield from late

    def _snap(self, goal: Array, danger: Any, room: str) -> tuple[float, float]:
        """Return the nearest point of a room where one can stand, outside of a dangerous area."""
        free = self.layout.navmesh.area.intersection(self.layout.interior(room).polygon()).difference(danger)
        nearest = shapely.shortest_line(shapely.Point(goal), free).coords[-1]
        return float(nearest[0]), float(nearest[1])

    def _dangers(self, state: LabState, room: str | None = None) -> list[ThingPlace]:
        """Return the places of the active flippers, of a room or of all rooms."""
        where = self.places(state)
        active = [thing for thing in state.things if thing.kind == FLIPPER and "on" in thing.flags]
        return [where[thing.id] for thing in active if room in (None, thing.room)]

    def _danger_zone(self, state: LabState) -> Any:
        zones = [place.footprint.polygon().buffer(DANGER_RADIUS + SAFETY_MARGIN) for place in self._dangers(state)]
        return shapely.union_all(zones)
