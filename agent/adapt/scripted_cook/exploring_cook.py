"""A scripted cook that finds things as other robots have to: it looks for what it has not seen before it names it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from housewise.agent.adapt.scripted_cook.oracle_cook import state_changing_actions
from housewise.worlds.kitchen.action_parser import ImpossibleAction, parse_action
from housewise.worlds.kitchen.dynamics import KitchenDynamics
from housewise.worlds.kitchen.kitchen_data import KitchenVerbs


class SceneCook(Protocol):
    """Says the next action in a scene that it knows."""

    def act(self, cooking: KitchenDynamics) -> str:
        """The next action."""
        ...


class ExploringCook:
    """Says the next action of a cook who knows the scene, or looks for what that names and nobody has seen.

    What it says can be said by a robot that has seen as much, so that it can teach that robot in any state (arXiv
    2504.04040, section 4).

    Args:
        cook: knows the scene.
        verbs: of the kitchen.
    """

    def __init__(self, cook: SceneCook, verbs: KitchenVerbs) -> None:
        self._cook, self._verbs = cook, verbs
        self._held: tuple[tuple[str, ...], str] | None = None

    def act(self, cooking: KitchenDynamics, seen: Collection[str]) -> str:
        """The next action.

        Args:
            cooking: the scene as it is.
            seen: what the robot has seen of it.
        """
        done = state_changing_actions(cooking.trace.actions)
        # Looking changes nothing: what was to be done then still is.
        action = self._held[1] if self._held is not None and self._held[0] == done else self._cook.act(cooking)
        looks = (
            f"Look for {search_word(id)}"
            for id in self._named_things(action)
            if id in cooking.trace.state and id not in seen
        )
        look = next((look for look in looks if look not in cooking.trace.actions), None)
        self._held = None if look is None else (done, action)
        return action if look is None else look

    def _named_things(self, action: str) -> tuple[str, ...]:
        try:
            understood = parse_action(action, self._verbs)
        except ImpossibleAction:
            return ()
        return () if understood.name == "ask" else (understood.x, understood.y, understood.z)


def search_word(id: str) -> str:
    """The word to look for a thing with: what its name begins with."""
    return id.partition("_")[0]
