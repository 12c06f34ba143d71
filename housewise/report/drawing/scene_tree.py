"""The scene graph before and after an episode as SVG trees: house, rooms, receptacles, objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from housewise.playback.object_outcomes import HAND, ObjectOutcome
from housewise.report.drawing.svg import Point, mark, tag
from housewise.systems.personalize.record import HouseRecord

_ROW = 19.0
_GAP = 7.0
_WIDTH = 580
_HOUSE_X, _ROOM_X, _PLACE_X, _THING_X = 14.0, 44.0, 182.0, 372.0
_LETTER = 6.5
_MAX_WANTED = 4


@dataclass(frozen=True)
class RoomRow:
    """A room in the tree.

    Attributes:
        room: Name of the room.
        places: Receptacles that are drawn, in order.
        more: Number of further receptacles that the robot saw.
    """

    room: str
    places: tuple[str, ...]
    more: int


def choose_rows(record: HouseRecord, found: Sequence[ObjectOutcome]) -> list[RoomRow]:
    """Return the rooms and receptacles to draw: those that hold objects before or after, were used or are wanted."""
    rooms = _rooms(record)
    used = {outcome.start for outcome in found} | {outcome.end for outcome in found} - {HAND}
    used |= {place for line in record.actions for pair in line.moves.values() for place in pair}
    used |= {line.destination for line in record.actions if line.destination}
    for outcome in found:
        if not outcome.is_correct and len(outcome.correct_places) <= _MAX_WANTED:
            used |= set(outcome.correct_places)
    known = _places_seen(record)
    result = []
    for room in rooms:
        shown = sorted((name for name in used if room_of(name, rooms) == room), key=_number)
        seen = {name for name in known if room_of(name, rooms) == room and name != room}
        result.append(RoomRow(room, tuple(shown), len(seen - set(shown))))
    return result


def tree_svg(shown: Sequence[RoomRow], found: Sequence[ObjectOutcome], after: bool, title: str) -> Markup:
    """Return one tree. The trees before and after have the same rows, so that only objects move.

    Args:
        shown: Rooms and receptacles.
        found: Outcome of each object.
        after: Whether the final state is drawn.
        title: Text for screen readers.
    """
    tree = _Tree(found, after)
    for branch in shown:
        tree.add_room(branch)
    tree.add_hand()
    tree.add_house()
    return tree.render(title)


def room_of(place: str, rooms: Sequence[str]) -> str:
    """Return the room whose name a receptacle's name begins with, or an empty text."""
    fitting = [room for room in rooms if place == room or place.startswith(f"{room} ")]
    return max(fitting, key=len, default="")


def _rooms(record: HouseRecord) -> list[str]:
    """Return rooms in the record's order. Records of other programs may name them only in the robot's knowledge."""
    return record.initial_state.rooms or list(record.plans[0].scene_graph if record.plans else {})


def _places_seen(record: HouseRecord) -> set[str]:
    known = {place for plan in record.plans for places in plan.scene_graph.values() for place in places}
    things = set(record.initial_state.placements)
    return known | {name for line in record.actions for name in line.discovered if name not in things}


class _Tree:
    """A tree that is drawn row by row.

    Args:
        outcomes: Outcome of each object.
        after: Whether the final state is drawn.
    """

    def __init__(self, outcomes: Sequence[ObjectOutcome], after: bool) -> None:
        self._outcomes = sorted(outcomes, key=lambda outcome: outcome.name)
        self._after = after
        self._y = _GAP + _ROW / 2
        self._edges: list[Markup] = []
        self._nodes: list[Markup] = []
        self._rooms: list[float] = []

    def add_room(self, branch: RoomRow) -> None:
        """Draw a room with its receptacles."""
        first, tips = self._y, []
        for place in branch.places:
            tips.append(self._add_place(place, place.removeprefix(f"{branch.room} ")))
        if branch.more or not branch.places:
            told = f"+ {branch.more} more, {'empty' if branch.places else 'all empty'}"
            self._nodes.append(_text("more", _PLACE_X, self._y, told if branch.more else "nothing seen there"))
            tips.append(self._y)
            self._y += _ROW
        middle = (first + self._y - _ROW) / 2
        self._edges += [_edge((_end_of(_ROOM_X, branch.room), middle), (_PLACE_X - 6, tip)) for tip in tips]
        self._nodes += [_dot("room", _ROOM_X, middle, 4.5), _text("room", _ROOM_X + 9, middle, branch.room)]
        self._rooms.append(middle)
        self._y += _GAP

    def add_hand(self) -> None:
        """Draw the object in the hand at the end; the tree of the start leaves the row empty."""
        if any(outcome.end == HAND for outcome in self._outcomes):
            if self._after:
                self._add_place(HAND, HAND)
            else:
                self._y += _ROW

    def add_house(self) -> None:
        """Draw the root."""
        if self._rooms:
            middle = (self._rooms[0] + self._rooms[-1]) / 2
            self._edges += [_edge((_HOUSE_X + 8, middle), (_ROOM_X - 6, room)) for room in self._rooms]
            self._nodes.append(tag("path", d=f"M{_HOUSE_X - 9} {middle}l9 -9l9 9h-3v8h-12v-8Z", class_="house"))

    def render(self, title: str) -> Markup:
        """Return the tree as SVG."""
        content = (tag("title", title), tag("g", *self._edges, class_="edges"), *self._nodes)
        return tag("svg", *content, viewBox=f"0 0 {_WIDTH} {self._y:.0f}", class_="tree", role="img")

    def _add_place(self, place: str, short: str) -> float:
        """Draw a receptacle with its objects. Return the vertical position of its node."""
        leaves = self._objects_at(place, self._after)
        middle = self._y + (max(1, len(leaves)) - 1) * _ROW / 2
        for row, outcome in enumerate(leaves):
            at = self._y + row * _ROW
            self._edges.append(_edge((_end_of(_PLACE_X, short), middle), (_THING_X - 9, at)))
            self._nodes.append(_leaf(outcome, outcome.end_status if self._after else outcome.start_status, at))
        kind = "place" if leaves else "place empty"
        self._nodes += [_dot(kind, _PLACE_X, middle, 3.5), _text(kind, _PLACE_X + 9, middle, short)]
        self._y += _ROW * max(1, *(len(self._objects_at(place, after)) for after in (False, True)))
        return middle

    def _objects_at(self, place: str, after: bool) -> list[ObjectOutcome]:
        return [outcome for outcome in self._outcomes if (outcome.end if after else outcome.start) == place]


def _leaf(outcome: ObjectOutcome, kind: str, y: float) -> Markup:
    """Draw an object. Its shape tells right from wrong as well as its colour."""
    return tag(
        "g",
        tag(
            "title",
            f"{outcome.name}: {outcome.description}; wanted on {', '.join(outcome.correct_places) or 'nothing here'}",
        ),
        mark(kind, _THING_X, y, 6.4),
        tag("text", outcome.name, x=_THING_X + 13, y=y + 4),
        class_=f"leaf {kind}{' moved' if outcome.is_displaced else ''}",
    )


def _end_of(x: float, text: str) -> float:
    """Return where the name beside a node ends."""
    return x + 15 + _LETTER * len(text)


def _edge(start: Point, end: Point) -> Markup:
    (x0, y0), (x1, y1) = start, end
    bend = (x0 + x1) / 2
    return tag("path", d=f"M{x0:.1f} {y0:.1f}C{bend:.1f} {y0:.1f} {bend:.1f} {y1:.1f} {x1:.1f} {y1:.1f}")


def _dot(kind: str, x: float, y: float, radius: float) -> Markup:
    return tag("circle", cx=x, cy=y, r=radius, class_=kind)


def _text(kind: str, x: float, y: float, text: str) -> Markup:
    return tag("text", text, x=x, y=y + 4, class_=kind)


def _number(name: str) -> tuple[int, str]:
    last = name.rsplit(" ", 1)[-1]
    return (int(last) if last.isdigit() else -1, name)
