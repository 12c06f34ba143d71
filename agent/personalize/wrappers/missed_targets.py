"""Plans that visit what the robot has passed by, which several wrappers make."""

from __future__ import annotations

from collections.abc import Sequence

from housewise.agent.personalize.planner import Attempt, ModelCall, Plan, unentered_rooms, unvisited_receptacles
from housewise.agent.personalize.scripted_planner import Distance, nearest_neighbour_tour
from housewise.agent.personalize.wrappers.housewise_planner import HousewisePlanner
from housewise.worlds.house.scene_graph import SceneGraph


def missed_targets(graph: SceneGraph, attempts: Sequence[Attempt]) -> list[str]:
    """Return rooms and receptacles that the robot has not tried to go to."""
    return [*unentered_rooms(graph, attempts), *unvisited_receptacles(graph, attempts)]


def plan_visits(
    graph: SceneGraph, names: Sequence[str], calls: tuple[ModelCall, ...], llm: HousewisePlanner, route: Distance | None
) -> Plan:
    """Return a plan that goes to rooms and receptacles.

    Args:
        graph: Everything that the robot knows.
        names: Rooms and receptacles.
        calls: Model calls that led to the plan.
        llm: The planner that asks the model.
        route: Length of the way between two of them, metres, to visit the nearest first. None keeps their order.
    """
    ordered = names if route is None else nearest_neighbour_tour(names, route)
    visits = [f"step {number}: go to {name}" for number, name in enumerate(ordered, start=1)]
    return llm.plan_without_model(graph, "\n".join(visits[: llm.context.most_steps]), calls)
