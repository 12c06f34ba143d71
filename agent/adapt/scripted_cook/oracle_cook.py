"""The scripted cook that knows what the person wants: oracle, teacher and upper bound.

It continues from any state that another cook left: completed steps count, what can be corrected is corrected, and the
rest of the breakfast is planned around what cannot. It sees the whole scene.
"""

from __future__ import annotations

from collections.abc import Iterable

from housewise.agent.adapt.scripted_cook.menu_execution import MenuExecution
from housewise.agent.adapt.scripted_cook.menu_planning import plan_menu
from housewise.agent.adapt.scripted_cook.wish_selection import WishSelection, select_wishes
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.worlds.kitchen.dynamics import KitchenDynamics
from housewise.worlds.kitchen.kitchen_data import KitchenData

DONE = "Declare Done"
_CHANGE_NOTHING = ("ask ", "look for ", "find ", "search ")


class OracleCook:
    """Returns the next action for one person and task.

    Args:
        person: Person whose preferences are known.
        task: Number of the task.
        kitchen: Kitchen data. Defaults to the bundled kitchen.
    """

    def __init__(self, person: KitchenProfile, task: int, kitchen: KitchenData | None = None) -> None:
        self._person = person
        self._judge = PreferenceJudge(task, kitchen)
        self._expected: list[str] = []

    def choice(self, cooking: KitchenDynamics) -> WishSelection:
        """Return which wishes it aims at from here, and which it gives up and why."""
        return select_wishes(self._person, self._judge, cooking.trace)

    def plan(self, cooking: KitchenDynamics) -> list[str]:
        """Return all actions from here to the end of the task."""
        choice = self.choice(cooking)
        work = MenuExecution(cooking.fork(), self._judge, choice.said)
        menu = plan_menu(choice, work, self._judge)
        work.prepare(menu)
        return [*work.actions, DONE]

    def act(self, cooking: KitchenDynamics) -> str:
        """Return the next action. Plans again if other actions were taken than it returned."""
        done = list(state_changing_actions(cooking.trace.actions))
        so_far = self._expected[: len(done)]
        if so_far != done or len(self._expected) <= len(done):
            self._expected = [*done, *self.plan(cooking)]
        return self._expected[len(done)]


def state_changing_actions(actions: Iterable[str]) -> tuple[str, ...]:
    """Return the actions that are neither questions nor looks."""
    return tuple(action for action in actions if not action.lower().startswith(_CHANGE_NOTHING))
