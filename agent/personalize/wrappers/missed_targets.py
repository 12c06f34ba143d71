"""Plans that visit what the robot has passed by, for the wrappers that make them."""

from __future__ import annotations

from collections.abc import Sequence

from housewise.agent.personalize.planner import (
    Attempt,
    ModelCall,
    Plan,
    Planner,
    unentered_rooms,
    unvisited_receptacles,
)
from housewise.agent.personalize.scripted_planner import Distance, nearest_neighbour_tour
from housewise.agent.personalize.wrappers.housewise_planner import HousewisePlanner
from housewise.worlds.house.scene_graph import SceneGraph


def missed_targets(graph: SceneGraph, attempts: Sequence[Attempt]) -> list[str]:
    """Return rooms and receptacles that the robot has not tried to go to."""
    return [*unentered_rooms(graph, attempts), *unvisited_receptacles(graph, attempts)]


class VisitingWrapper:
    """Base of wrappers that replace some plans by visits.

    Args:
        planner: The wrapped planner.
        llm: The planner that asks the model.
        route: Length of the way between two rooms or receptacles, metres, to visit the nearest first. None keeps their
            order.
    """

    def __init__(self, planner: Planner, llm: HousewisePlanner, route: Distance | None = None) -> None:
        self.name = planner.name
        self._planner, self._llm, self._route = planner, llm, route

    def plan_visits(self, graph: SceneGraph, names: Sequence[str], calls: tuple[ModelCall, ...]) -> Plan:
        """Return a plan that goes to rooms and receptacles.

        Args:
            graph: Everything that the robot knows.
            names: Rooms and receptacles.
            calls: Model calls that led to the plan.
        """
        ordered = names if self._route is None else nearest_neighbour_tour(names, self._route)
        visits = [f"step {number}: go to {name}" for number, name in enumerate(ordered, start=1)]
        return self._llm.plan_without_model(graph, "\n".join(visits[: self._llm.context.max_steps]), calls)
