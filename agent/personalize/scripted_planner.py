"""The scripted planner: the demonstrator of LLM-Personalize, which knows what people want and needs no model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from housewise.agent.personalize.judgement_text import Judgements, objects_to_judge
from housewise.agent.personalize.plan_parser import ParsedStep
from housewise.agent.personalize.planner import (
    MAX_STEPS,
    Attempt,
    Plan,
    count_failures,
    listed_receptacles,
    unentered_rooms,
    untried_places,
    unvisited_receptacles,
)
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph

WantsFunction = Callable[[str, str], bool]
"""Whether people want an object on a receptacle, both by name."""
Distance = Callable[[str | None, str], float]
"""Length of the way from a room or receptacle (None: the robot) to another, metres."""
MoveOrder = Literal["random", "nearest", "listed"]

_MAX_FAILURES = 3


class ScriptedPlanner:
    """Visits every room, then moves one misplaced object to a correct receptacle per plan, until none is left.

    This is the demonstrator of LLM-Personalize (section 4.1), with three additions. It can look around every known
    receptacle before it ends, since some objects may be undiscovered. It gives up on what fails repeatedly. With a
    route, it enters rooms and moves objects in the order of their distance, which saves steps.

    With ``listed``, it does what a reader of the prompt can foresee. It moves the first misplaced object of the list
    that has a known correct receptacle, to the first such receptacle in the object's room or else in the house. If
    there is none, it enters the first room of the list that it has not entered.

    Args:
        wants: Whether people want an object on a receptacle.
        seed: Seed of the random choice of objects and receptacles.
        route: Length of the way to a room or receptacle. If given, the nearest comes first instead of a random one.
        listed: Whether to follow the order of the prompt instead of a random one.
        thorough: Whether to look around all receptacles before the end. The paper's demonstrator does not.
    """

    name = "scripted"

    def __init__(
        self,
        wants: WantsFunction,
        seed: int = 0,
        route: Distance | None = None,
        thorough: bool = True,
        listed: bool = False,
    ) -> None:
        self._wants = wants
        self._route = route
        self._listed = listed
        self._thorough = thorough
        self._rng = np.random.default_rng(seed)

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        failed = count_failures(attempts)
        if (held := graph.holding) is not None:
            targets = self._correct_places(graph, held, failed) or untried_places(held, graph.receptacles, failed)
            if targets:
                return _to_plan(_deliver(held, self._pick(targets, None)))
        move = self._next_move(graph, failed)
        rooms = unentered_rooms(graph, attempts)
        if rooms and (move is None or self._enters_room_first(rooms, graph.container_of(move[0]) or "")):
            return _to_plan(_visits([self._pick(rooms, None)] if self._route or self._listed else rooms))
        if move is not None:
            return _to_plan([*_fetch(move[0]), *_deliver(*move)])
        missed = unvisited_receptacles(graph, attempts) if self._thorough else []
        if missed:
            return _to_plan(_visits([self._pick(missed, None)]))
        return Plan((), complete=True)

    def judgements(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Judgements:
        """Return where each object belongs, in the order of the prompt; see judgement_text."""
        failed = count_failures(attempts)
        return {thing: self._target_of(graph, thing, failed) for thing in objects_to_judge(graph)}

    def _target_of(self, graph: SceneGraph, thing: str, failed: dict[str, int]) -> str | None:
        """Return an object's receptacle if it is correct, else the first correct one in its room or in the house."""
        place = graph.container_of(thing) or ""
        if graph.holding != thing and self._wants(thing, place):
            return place
        room = graph.container_of(place)
        targets = self._correct_places(graph, thing, failed)
        return min(targets, key=lambda target: graph.container_of(target) != room, default=None)

    def _enters_room_first(self, rooms: list[str], place: str) -> bool:
        """Whether to enter a room before going to a receptacle."""
        if self._listed:
            return False
        return self._route is None or min(self._route(None, room) for room in rooms) < self._route(None, place)

    def _next_move(self, graph: SceneGraph, failed: dict[str, int]) -> tuple[str, str] | None:
        misplaced = [
            name
            for name in graph.placed_objects
            if not self._wants(name, graph.container_of(name) or "") and failed.get(name, 0) < _MAX_FAILURES
        ]
        moves = {name: targets for name in misplaced if (targets := self._correct_places(graph, name, failed))}
        if not moves:
            return None
        places = {name: graph.container_of(name) or "" for name in moves}
        if self._listed:
            thing = next(iter(moves))
            return thing, self._target_of(graph, thing, failed) or moves[thing][0]
        start = self._pick(sorted(set(places.values())), None)
        thing = next(name for name in self._shuffle(list(moves)) if self._route is None or places[name] == start)
        return thing, self._pick(moves[thing], places[thing])

    def _correct_places(self, graph: SceneGraph, thing: str, failed: dict[str, int]) -> list[str]:
        return [name for name in untried_places(thing, listed_receptacles(graph), failed) if self._wants(thing, name)]

    def _pick(self, names: list[str], start: str | None) -> str:
        """Return the nearest name to a start (None: the robot), the first of the list, or a random one."""
        if self._listed:
            return names[0]
        if self._route is None:
            return names[self._rng.integers(len(names))]
        route = self._route
        return min(names, key=lambda name: route(start, name))

    def _shuffle(self, names: list[str]) -> list[str]:
        return [names[number] for number in self._rng.permutation(len(names))]


def planner_for_judgements(judgements: Judgements) -> ScriptedPlanner:
    """Return a planner that follows the list and takes judgements for what people want."""
    return ScriptedPlanner(lambda thing, place: judgements.get(thing) == place, thorough=False, listed=True)


def plans_from_judgements(
    judgements: Judgements, rooms: Sequence[str], places: Sequence[str], graph: SceneGraph
) -> list[list[HighLevelAction]]:
    """Return the plans that follow from judgements: carry one object to where it belongs, or enter a room.

    Args:
        judgements: Judgements of the objects to judge.
        rooms: Rooms that may be entered.
        places: Receptacles for a held object that is judged to belong elsewhere.
        graph: Scene graph of the robot.
    """
    visits = [_visits([room]) for room in rooms]
    if graph.holding is not None:
        home = judgements.get(graph.holding)
        if home is not None:
            return [_deliver(graph.holding, home)]
        return visits or [_deliver(graph.holding, place) for place in places]
    moves = {thing: place for thing, place in judgements.items() if place not in (None, graph.container_of(thing))}
    return [[*_fetch(thing), *_deliver(thing, place)] for thing, place in moves.items() if place] + visits


def nearest_neighbour_tour(names: Sequence[str], route: Distance) -> list[str]:
    """Order rooms or receptacles by a walk from the robot to the nearest, then to the next nearest."""
    left, found = list(names), list[str]()
    while left:
        start = found[-1] if found else None
        found.append(min(left, key=lambda name: route(start, name)))
        left.remove(found[-1])
    return found


def _visits(names: list[str]) -> list[HighLevelAction]:
    return [HighLevelAction(ActionKind.GO_TO, name) for name in names]


def _fetch(thing: str) -> list[HighLevelAction]:
    return [HighLevelAction(kind, thing) for kind in (ActionKind.GO_TO, ActionKind.LOOK_AT, ActionKind.PICK_UP)]


def _deliver(thing: str, receptacle: str) -> list[HighLevelAction]:
    return [
        HighLevelAction(ActionKind.GO_TO, receptacle),
        HighLevelAction(ActionKind.LOOK_AT, receptacle),
        HighLevelAction(ActionKind.PLACE, thing, receptacle),
    ]


def _to_plan(actions: list[HighLevelAction]) -> Plan:
    return Plan(tuple(ParsedStep(str(action), action) for action in actions[:MAX_STEPS]))
