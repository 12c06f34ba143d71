"""The scripted cook that explores: it looks for unseen things before it names them."""

from __future__ import annotations

from collections.abc import Collection

from housewise.agent.adapt.scripted_cook.asking_cook import AskingCook
from housewise.agent.adapt.scripted_cook.oracle_cook import OracleCook, state_changing_actions
from housewise.worlds.kitchen.action_parser import ImpossibleAction, parse_action
from housewise.worlds.kitchen.dynamics import KitchenDynamics
from housewise.worlds.kitchen.kitchen_data import KitchenVerbs


class ExploringCook:
    """Wraps a cook that sees the whole scene, and looks for the things it names that have not been seen.

    A robot that has seen as much could take the same actions. It can therefore teach that robot in any state (arXiv
    2504.04040, section 4).

    Args:
        cook: Cook that sees the whole scene.
        verbs: Verbs of the kitchen.
    """

    def __init__(self, cook: OracleCook | AskingCook, verbs: KitchenVerbs) -> None:
        self._cook, self._verbs = cook, verbs
        self._held: tuple[tuple[str, ...], str] | None = None

    def act(self, cooking: KitchenDynamics, seen: Collection[str]) -> str:
        """Return the next action.

        Args:
            cooking: Current scene.
            seen: Ids of the things that the robot has seen.
        """
        done = state_changing_actions(cooking.trace.actions)
        # Looking does not change the scene, so that the postponed action is still the next one.
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
    """Return the word to look for a thing with: the first part of its id."""
    return id.partition("_")[0]
