"""HideFailedTargets: leaves objects and receptacles out of the prompt that have failed too often."""

from __future__ import annotations

from collections.abc import Sequence

from housewise.agent.personalize.planner import Attempt, Plan, Planner, hide_hopeless_targets
from housewise.worlds.house.scene_graph import SceneGraph


class HideFailedTargets:
    """Plans with the objects and receptacles that have not failed too often; see planner.hide_hopeless_targets.

    Args:
        planner: The wrapped planner.
        max_tries: Limit of attempts.
    """

    def __init__(self, planner: Planner, max_tries: int) -> None:
        self.name = planner.name
        self._planner, self._max_tries = planner, max_tries

    def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
        """See Planner.plan."""
        return self._planner.plan(hide_hopeless_targets(graph, attempts, self._max_tries), attempts)
