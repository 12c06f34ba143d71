"""A scripted cook who knows what the person wants: the oracle, the teacher, and the ceiling.

It goes on from any state that another cook left behind: what was done already counts, what can still be mended is, and
the rest of the breakfast is planned around what cannot. It knows the scene without looking.
"""

from __future__ import annotations

from collections.abc import Iterable

from housewise.agent.adapt.scripted_cook.menu_execution import MenuExecution
from housewise.agent.adapt.scripted_cook.menu_planning import plan_menu
from housewise.agent.adapt.scripted_cook.wish_selection import WishSelection, select_wishes
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.worlds.kitchen.dynamics import KitchenDynamics
from housewise.worlds.kitchen.kitchen_data import Kitchen

DONE = "Declare Done"
_CHANGE_NOTHING = ("ask ", "look for ", "find ", "search ")


class OracleCook:
    """Says the next action for one person and task.

    Args:
        person: whose wishes it knows.
        task: its number.
    """

    name = "scripted cook"

    def __init__(self, person: KitchenProfile, task: int, kitchen: Kitchen | None = None) -> None:
        self._person = person
        self._judge = PreferenceJudge(task, kitchen)
        self._expected: list[str] = []

    def choice(self, cooking: KitchenDynamics) -> WishSelection:
        """What it aims at from here, and which wishes it gives up and why."""
        return select_wishes(self._person, self._judge, cooking.trace)

    def plan(self, cooking: KitchenDynamics) -> list[str]:
        """All actions from here to the end of the task."""
        choice = self.choice(cooking)
        work = MenuExecution(cooking.fork(), self._judge, choice.said)
        menu = plan_menu(choice, work, self._judge)
        work.prepare(menu)
        return [*work.actions, DONE]

    def act(self, cooking: KitchenDynamics) -> str:
        """The next action; it plans anew when something else was done than it said."""
        done = list(state_changing_actions(cooking.trace.actions))
        so_far = self._expected[: len(done)]
        if so_far != done or len(self._expected) <= len(done):
            self._expected = [*done, *self.plan(cooking)]
        return self._expected[len(done)]


def state_changing_actions(actions: Iterable[str]) -> tuple[str, ...]:
    """Of some actions those that are not mere questions and looks."""
    return tuple(action for action in actions if not action.lower().startswith(_CHANGE_NOTHING))
