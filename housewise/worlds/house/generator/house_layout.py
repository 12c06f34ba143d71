"""Draws the layout of a house: its rooms, their rectangles, and the doors between them.

Of many random drafts the one with the least cost is used. The cost depends on the shapes of the rooms and on the pairs
of rooms that doors connect. Small houses are split recursively into rooms. Larger houses have the day rooms at one end
and the private rooms along both sides of a corridor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from housewise.core.errors import UserError
from housewise.worlds.house.generator.rectangles import Rect
from housewise.worlds.house.generator.room_program import HOUSE, RoomProgram
from housewise.worlds.house.scene import Room

WALL = 0.12
"""Thickness of every wall, metres."""

_MAX_DRAFTS = 150
_GOOD_DRAFTS = 12
_CORRIDOR_WIDTH = (1.5, 1.8)
_JAMB = 0.12
_SKETCH_LIMIT = 12.0


class GenerationError(UserError):
    """No house or episode could be generated for a seed."""


@dataclass(frozen=True)
class PlannedRoom:
    """A room and its rectangle, which extends to the middles of its walls."""

    room: Room
    rect: Rect

    @property
    def interior(self) -> Rect:
        """The floor between the walls."""
        return self.rect.expand(-WALL / 2)


@dataclass(frozen=True)
class Door:
    """A gap in the wall between two rooms.

    Attributes:
        rooms: Indices of the two rooms.
        gap: Rectangle of the gap, as deep as the wall is thick.
        axis: Axis along which the wall runs: 0 for x, 1 for z.
    """

    rooms: tuple[int, int]
    gap: Rect
    axis: int

    def expand(self, into: float, beside: float) -> Rect:
        """Return the gap extended into both rooms and, if positive, to both sides along the wall, metres."""
        along, across = (beside, into) if self.axis == 0 else (into, beside)
        gap = self.gap
        return Rect(gap.x0 - along, gap.z0 - across, gap.x1 + along, gap.z1 + across)


@dataclass(frozen=True)
class HouseLayout:
    """The layout of a house.

    Attributes:
        rooms: Rooms, with the living room first.
        doors: Doors between rooms, which connect all rooms.
        entrance: The front door, which is closed; both of its rooms are the room behind it.
        outline: Rectangle of the house, which extends to the middles of the outer walls.
    """

    rooms: tuple[PlannedRoom, ...]
    doors: tuple[Door, ...]
    entrance: Door
    outline: Rect


def draw_layout(kinds: Sequence[str], rng: np.random.Generator, program: RoomProgram = HOUSE) -> HouseLayout:
    """Draw the layout of a house.

    Args:
        kinds: Kinds of its rooms.
        rng: Random number generator.
        program: Sizes of the kinds, and the doors between them.

    Raises:
        GenerationError: If no draft is good enough.
    """
    rects = _mirror_randomly(_best_sketch(program, kinds, rng), rng)
    pairs = _connect_rooms(program, kinds, rects)
    if pairs is None:
        raise GenerationError(f"doors cannot connect all rooms: {', '.join(kinds)}")
    outline = Rect.bounding(rects)
    extra = _shortcuts(program, kinds, rects, pairs, rng)
    doors = [_door(program, kinds, rects, pair, rng) for pair in [*pairs, *extra]]
    return HouseLayout(_name_rooms(kinds, rects), tuple(doors), _entrance(program, kinds, rects, outline, rng), outline)


def _best_sketch(program: RoomProgram, kinds: Sequence[str], rng: np.random.Generator) -> list[Rect]:
    best, least, good = [], _SKETCH_LIMIT, 0
    for _ in range(_MAX_DRAFTS):
        rects = _sketch(program, kinds, rng)
        cost = _cost(program, kinds, rects)
        good += cost < _SKETCH_LIMIT
        if cost < least:
            best, least = rects, cost
        if good == _GOOD_DRAFTS:
            break
    if not best:
        raise GenerationError(f"no good floor plan for {', '.join(kinds)}")
    return best


def _sketch(program: RoomProgram, kinds: Sequence[str], rng: np.random.Generator) -> list[Rect]:
    """Draw a rectangle for each room, which together fill one rectangle."""
    areas = {place: rng.uniform(*program.areas[kind]) for place, kind in enumerate(kinds) if kind != "corridor"}
    if "corridor" in kinds:
        rects = _along_corridor(program, kinds, areas, rng)
    else:
        total = sum(areas.values())
        width = np.sqrt(total * rng.uniform(1.0, 1.5))
        rects = _split_recursively(_round(Rect(0, 0, width, total / width)), areas, rng)
    return [rects[place] for place in range(len(kinds))]


def _along_corridor(
    program: RoomProgram, kinds: Sequence[str], areas: dict[int, float], rng: np.random.Generator
) -> dict[int, Rect]:
    """Draw a house with the day rooms on the left, and the other rooms above and below a corridor on the right."""
    day = {place: area for place, area in areas.items() if kinds[place] in program.day}
    night = [int(place) for place in rng.permutation([place for place in areas if place not in day])]
    cut = int(rng.integers(1, len(night)))
    upper, lower = night[:cut], night[cut:]
    above, below = (sum(areas[place] for place in band) for band in (upper, lower))
    corridor = rng.uniform(*_CORRIDOR_WIDTH)
    depth = np.sqrt((sum(areas.values()) + 7) / rng.uniform(1.1, 1.7))
    left, right = sum(day.values()) / depth, (above + below) / (depth - corridor)
    near = (depth - corridor) * above / (above + below)
    rects = _split_recursively(_round(Rect(0, 0, left, depth)), day, rng)
    rects |= _split_in_row(_round(Rect(left, 0, left + right, near)), upper, areas)
    rects |= _split_in_row(_round(Rect(left, near + corridor, left + right, depth)), lower, areas)
    rects[kinds.index("corridor")] = _round(Rect(left, near, left + right, near + corridor))
    return rects


def _split_recursively(rect: Rect, areas: dict[int, float], rng: np.random.Generator) -> dict[int, Rect]:
    """Split a rectangle recursively, mostly across its longer side, until each part has one room."""
    places = list(areas)
    if len(places) == 1:
        return {places[0]: rect}
    order = [places[pick] for pick in rng.permutation(len(places))]
    cut = int(rng.integers(1, len(order)))
    first, second = ({place: areas[place] for place in part} for part in (order[:cut], order[cut:]))
    share = sum(first.values()) / sum(areas.values())
    axis = int((rect.width > rect.depth) == (rng.uniform() < 0.2))
    (low, high), across = rect.span(axis), rect.span(1 - axis)
    cut_at = low + share * (high - low)
    one, other = (_round(Rect.from_spans(axis, along, across)) for along in ((low, cut_at), (cut_at, high)))
    return _split_recursively(one, first, rng) | _split_recursively(other, second, rng)


def _split_in_row(rect: Rect, places: Sequence[int], areas: dict[int, float]) -> dict[int, Rect]:
    """Divide a rectangle along x in proportion to the rooms' areas."""
    ends = np.cumsum([areas[place] for place in places]) / sum(areas[place] for place in places)
    borders = [rect.x0, *(rect.x0 + ends * rect.width)]
    return {
        place: _round(Rect(low, rect.z0, high, rect.z1))
        for place, low, high in zip(places, borders[:-1], borders[1:], strict=True)
    }


def _round(rect: Rect, digits: int = 2) -> Rect:
    """Round coordinates, by default to centimetres, so that neighbours share their sides exactly."""
    return Rect(*(round(float(value), digits) for value in (rect.x0, rect.z0, rect.x1, rect.z1)))


def _mirror_randomly(rects: list[Rect], rng: np.random.Generator) -> list[Rect]:
    """Mirror and transpose a draft at random."""
    flip_x, flip_z, swap = rng.uniform(size=3) < 0.5
    outline = Rect.bounding(rects)
    if flip_x:
        rects = [_round(Rect(outline.x1 - r.x1, r.z0, outline.x1 - r.x0, r.z1)) for r in rects]
    if flip_z:
        rects = [_round(Rect(r.x0, outline.z1 - r.z1, r.x1, outline.z1 - r.z0)) for r in rects]
    if swap:
        rects = [Rect(r.z0, r.x0, r.z1, r.x1) for r in rects]
    return rects


def _cost(program: RoomProgram, kinds: Sequence[str], rects: Sequence[Rect]) -> float:
    """Return the cost of a draft, infinite if doors cannot connect its rooms."""
    shapes = sum(_shape_cost(program, kind, rect) for kind, rect in zip(kinds, rects, strict=True))
    pairs = _connect_rooms(program, kinds, rects) if shapes <= _SKETCH_LIMIT else None
    if pairs is None:
        return float("inf")
    return shapes + 0.5 * sum(_door_cost(program, kinds, pair) - 0.5 for pair in pairs)


def _shape_cost(program: RoomProgram, kind: str, rect: Rect) -> float:
    short, long = sorted((rect.width - WALL, rect.depth - WALL))
    lacking = max(0.0, program.least_sides[kind] - short)
    narrow = 0.0 if kind == "corridor" else max(0.0, long / max(short, 0.1) - 1.5)
    return (_SKETCH_LIMIT + 1 if lacking > 0.15 else 20 * lacking) + 3 * narrow**2


def _connect_rooms(program: RoomProgram, kinds: Sequence[str], rects: Sequence[Rect]) -> list[tuple[int, int]] | None:
    """Return the pairs of rooms of a minimum spanning tree of doors, or None without one.

    Only some kinds of rooms may have more than one door.
    """
    count = len(kinds)
    group, used, chosen = list(range(count)), [0] * count, []
    for one, other in sorted(_possible_doors(program, kinds, rects), key=lambda pair: _door_cost(program, kinds, pair)):
        ends = [place for place in (one, other) if kinds[place] not in program.through]
        if group[one] == group[other] or any(used[place] for place in ends):
            continue
        chosen.append((one, other))
        group = [group[one] if mark == group[other] else mark for mark in group]
        used[one], used[other] = used[one] + 1, used[other] + 1
    return chosen if len(chosen) == count - 1 else None


def _possible_doors(program: RoomProgram, kinds: Sequence[str], rects: Sequence[Rect]) -> list[tuple[int, int]]:
    """Return the pairs of rooms whose kinds may share a door and that share a long enough wall."""
    return [
        (one, other)
        for one, other in combinations(range(len(kinds)), 2)
        if frozenset((kinds[one], kinds[other])) in program.door_costs
        and _shared_wall(rects[one], rects[other]) is not None
    ]


def _door_cost(program: RoomProgram, kinds: Sequence[str], pair: tuple[int, int]) -> float:
    return program.door_costs[frozenset((kinds[pair[0]], kinds[pair[1]]))]


def _shortcuts(
    program: RoomProgram,
    kinds: Sequence[str],
    rects: Sequence[Rect],
    pairs: list[tuple[int, int]],
    rng: np.random.Generator,
) -> list[tuple[int, int]]:
    """Draw additional doors between day rooms, so that some houses have cycles."""
    return [
        pair
        for pair in _possible_doors(program, kinds, rects)
        if pair not in pairs
        and all(kinds[place] in program.open for place in pair)
        and _door_cost(program, kinds, pair) <= 1
        and rng.uniform() < 0.5
    ]


def _shared_wall(one: Rect, other: Rect) -> tuple[int, float, float, float] | None:
    """Return the axis, line, start and end of the wall between two rooms if it is long enough for a door, or None."""
    for axis in (0, 1):
        (low, high), (low_too, high_too) = one.span(1 - axis), other.span(1 - axis)
        line = high if high == low_too else low if low == high_too else None
        start = max(one.span(axis)[0], other.span(axis)[0]) + WALL / 2 + _JAMB
        end = min(one.span(axis)[1], other.span(axis)[1]) - WALL / 2 - _JAMB
        # Rounded so that mirroring a draft cannot remove a door.
        if line is not None and round(end - start, 4) >= 0.9:
            return axis, line, start, end
    return None


def _door(
    program: RoomProgram, kinds: Sequence[str], rects: Sequence[Rect], pair: tuple[int, int], rng: np.random.Generator
) -> Door:
    shared = _shared_wall(rects[pair[0]], rects[pair[1]])
    assert shared is not None
    axis, line, start, end = shared
    opening = kinds[pair[0]] in program.open and kinds[pair[1]] in program.open
    width = min(rng.uniform(1.2, 1.8) if opening else rng.uniform(0.92, 1.0), end - start)
    # Doors near a corner leave long walls for furniture. Wide openings look better near the middle.
    place = rng.uniform(0.3, 0.7) if opening else rng.choice([0.0, 1.0])
    return Door(pair, _gap(axis, line, start + place * (end - start - width), width), axis)


def _gap(axis: int, line: float, start: float, width: float) -> Rect:
    return _round(Rect.from_spans(axis, (start, start + width), (line - WALL / 2, line + WALL / 2)), 3)


def _entrance(
    program: RoomProgram, kinds: Sequence[str], rects: Sequence[Rect], outline: Rect, rng: np.random.Generator
) -> Door:
    """Draw the front door in an outer wall of the most suitable room."""
    for kind in program.entrances:
        for place in (place for place, name in enumerate(kinds) if name == kind):
            walls = [
                (axis, line, *rects[place].span(axis))
                for axis in (0, 1)
                for line in rects[place].span(1 - axis)
                if line in outline.span(1 - axis)
            ]
            if walls:
                axis, line, low, high = walls[int(rng.integers(len(walls)))]
                room = high - low - 2 * _JAMB - WALL - 0.95
                start = low + WALL / 2 + _JAMB + room * rng.choice([0.0, 0.5, 1.0])
                return Door((place, place), _gap(axis, line, start, 0.95), axis)
    raise GenerationError("no room has an outer wall for the front door")


def _name_rooms(kinds: Sequence[str], rects: Sequence[Rect]) -> tuple[PlannedRoom, ...]:
    seen: Counter[str] = Counter()
    rooms = []
    for kind, rect in zip(kinds, rects, strict=True):
        rooms.append(PlannedRoom(Room(f"{kind} {seen[kind]}", kind), rect))
        seen[kind] += 1
    return tuple(rooms)
