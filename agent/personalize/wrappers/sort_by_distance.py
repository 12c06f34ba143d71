"""SortByDistance: lists the nearest things first in the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from housewise.agent.personalize.planner import Attempt, Plan, Planner
from housewise.agent.personalize.scripted_planner import Distance
from housewise.worlds.house.scene_graph import SceneGraph


class SortByDistance:
    """Plans with a scene graph in which the nearest things stand first. Else they stand in the order of discovery.

    Args:
        planner: The wrapped planner.
        route: Length of the way from a room or receptacle (None: the robot) to another, metres.
    """

    def __init__(self, planner: Planner, route: Distance) -> None:
        self.name = planner.name
        self._planner, self._route = planner, route

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        return self._planner.plan(graph.sort_by_distance(partial(self._route, None)), attempts)
