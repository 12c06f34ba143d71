"""A planner that needs no model: it knows what people want and does what the paper's demonstrator does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from housewise.agent.personalize.placement_judgement import Judgements, objects_to_judge
from housewise.agent.personalize.plan_parser import ParsedStep
from housewise.agent.personalize.planner import (
    MOST_STEPS,
    Attempt,
    Plan,
    count_failures,
    unentered_rooms,
    untried_places,
    unvisited_receptacles,
)
from housewise.worlds.house.actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph

WantsFunction = Callable[[str, str], bool]
RouteLength = Callable[[str | None, str], float]
MoveOrder = Literal["random", "nearest", "listed"]

_MOST_TRIES = 3


class ScriptedPlanner:
    """Visits every room, then moves one misplaced object to a correct receptacle per plan, until none is left.

    This is the demonstrator of LLM-Personalize (section 4.1). Unlike it, this planner can also go on to look around
    every receptacle that it knows when some object may still be undiscovered, and gives up on what fails repeatedly.
    Told of distances, it does whatever is nearest, entering the next room or moving an object, and so saves steps.
    Going by the list, it does what a reader of the prompt can foresee: the first misplaced object of the list that has
    a known place comes next, and it goes to the first place for it in its own room, or else of all; when there is none,
    the robot enters the first room of the list where it has not been.

    Args:
        wants: whether people want an object (name) on a receptacle (name).
        seed: decides which object comes next, and where it goes.
        route: metres from a receptacle or room (None: the robot) to another; given that, the nearest comes first
            instead of a random one.
        listed: go by the list that prompts hold instead of by chance.
        thorough: look around all receptacles before the end; False stops like the paper's demonstrator.
    """

    name = "scripted"

    def __init__(
        self,
        wants: WantsFunction,
        seed: int = 0,
        route: RouteLength | None = None,
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
        if graph.holding is not None:
            targets = self._targets(graph, graph.holding, failed) or self._elsewhere(graph, graph.holding, failed)
            if targets:
                return _plan(_delivery(graph.holding, self._pick(targets, None)))
        move = self._next_move(graph, failed)
        rooms = unentered_rooms(graph, attempts)
        if rooms and (move is None or self._comes_first(rooms, graph.place_of(move[0]) or "")):
            return _plan(_visits([self._pick(rooms, None)] if self._route or self._listed else rooms))
        if move is not None:
            return _plan([*_collection(move[0]), *_delivery(*move)])
        missed = unvisited_receptacles(graph, attempts) if self._thorough else []
        if missed:
            return _plan(_visits([self._pick(missed, None)]))
        return Plan((), complete=True)

    def judgements(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Judgements:
        """Where each object belongs, going by the list; see housewise.agent.personalize.placement_judgement."""
        failed = count_failures(attempts)
        return {thing: self._home(graph, thing, failed) for thing in objects_to_judge(graph)}

    def _home(self, graph: SceneGraph, thing: str, failed: dict[str, int]) -> str | None:
        """Where an object is, if it is right there, else the first place for it in its room, or else of all."""
        place = graph.place_of(thing) or ""
        if graph.holding != thing and self._wants(thing, place):
            return place
        room = graph.place_of(place)
        targets = self._targets(graph, thing, failed)
        return min(targets, key=lambda target: graph.place_of(target) != room, default=None)

    def _comes_first(self, rooms: list[str], place: str) -> bool:
        """Whether to enter a room before going to a place."""
        if self._listed:
            return False
        return self._route is None or min(self._route(None, room) for room in rooms) < self._route(None, place)

    def _next_move(self, graph: SceneGraph, failed: dict[str, int]) -> tuple[str, str] | None:
        misplaced = [
            name
            for name in graph.listed
            if not self._wants(name, graph.place_of(name) or "") and failed.get(name, 0) < _MOST_TRIES
        ]
        moves = {name: targets for name in misplaced if (targets := self._targets(graph, name, failed))}
        if not moves:
            return None
        places = {name: graph.place_of(name) or "" for name in moves}
        if self._listed:
            thing = next(iter(moves))
            return thing, self._home(graph, thing, failed) or moves[thing][0]
        start = self._pick(sorted(set(places.values())), None)
        thing = next(name for name in self._shuffled(list(moves)) if self._route is None or places[name] == start)
        return thing, self._pick(moves[thing], places[thing])

    def _targets(self, graph: SceneGraph, thing: str, failed: dict[str, int]) -> list[str]:
        return [name for name in untried_places(thing, _listed_receptacles(graph), failed) if self._wants(thing, name)]

    def _elsewhere(self, graph: SceneGraph, thing: str, failed: dict[str, int]) -> list[str]:
        """Anywhere to put down what fits nowhere where it belongs."""
        return untried_places(thing, graph.receptacles, failed)

    def _pick(self, names: list[str], start: str | None) -> str:
        """The nearest to a place (None: the robot); where routes are not known the first of the list, or any."""
        if self._listed:
            return names[0]
        if self._route is None:
            return names[self._rng.integers(len(names))]
        route = self._route
        return min(names, key=lambda name: route(start, name))

    def _shuffled(self, names: list[str]) -> list[str]:
        return [names[number] for number in self._rng.permutation(len(names))]


def planner_for_judgements(judgements: Judgements) -> ScriptedPlanner:
    """The planner that goes by the list and takes things to be wanted where they are judged to belong."""
    return ScriptedPlanner(lambda thing, place: judgements.get(thing) == place, thorough=False, listed=True)


def plans_from_judgements(
    judgements: Judgements, rooms: Sequence[str], places: Sequence[str], graph: SceneGraph
) -> list[list[HighLevelAction]]:
    """The plans that follow from judgements: to bring one thing to where it is judged to belong, or to enter a room.

    Args:
        judgements: of every subject.
        rooms: that may be entered.
        places: receptacles on which what is in the hand may be put where it is judged to belong on none.
        graph: what the robot knows.
    """
    visits = [_visits([room]) for room in rooms]
    if graph.holding is not None:
        home = judgements.get(graph.holding)
        if home is not None:
            return [_delivery(graph.holding, home)]
        return visits or [_delivery(graph.holding, place) for place in places]
    moves = {thing: place for thing, place in judgements.items() if place not in (None, graph.place_of(thing))}
    return [[*_collection(thing), *_delivery(thing, place)] for thing, place in moves.items() if place] + visits


def nearest_neighbour_tour(names: Sequence[str], route: RouteLength) -> list[str]:
    """Rooms or receptacles in the order of a walk from the robot to the nearest, and from there to the next nearest."""
    left, found = list(names), list[str]()
    while left:
        start = found[-1] if found else None
        found.append(min(left, key=lambda name: route(start, name)))
        left.remove(found[-1])
    return found


def _listed_receptacles(graph: SceneGraph) -> list[str]:
    return [place for places in graph.tree.values() for place in places]


def _visits(names: list[str]) -> list[HighLevelAction]:
    return [HighLevelAction(ActionKind.GO_TO, name) for name in names]


def _collection(thing: str) -> list[HighLevelAction]:
    return [HighLevelAction(kind, thing) for kind in (ActionKind.GO_TO, ActionKind.LOOK_AT, ActionKind.PICK_UP)]


def _delivery(thing: str, receptacle: str) -> list[HighLevelAction]:
    return [
        HighLevelAction(ActionKind.GO_TO, receptacle),
        HighLevelAction(ActionKind.LOOK_AT, receptacle),
        HighLevelAction(ActionKind.PLACE, thing, receptacle),
    ]


def _plan(actions: list[HighLevelAction]) -> Plan:
    return Plan(tuple(ParsedStep(str(action), action) for action in actions[:MOST_STEPS]))
