"""A scenario as it is played: its state, what has taken place, and the subgoals that were reached."""

from __future__ import annotations

from housewise.worlds.lab.actions import ActionOutcome, LabAction
from housewise.worlds.lab.rules import step
from housewise.worlds.lab.scenarios import LabScenario
from housewise.worlds.lab.state import LabState
from housewise.worlds.lab.surroundings import Surroundings


class ScenarioRun:
    """A scenario from its beginning, in which the person stands in their room.

    Args:
        scenario: The scenario.
        surroundings: Its space.

    Attributes:
        state: State of the lab.
        reached: Names of the subgoals that have been reached, in the order of their times. They stay reached.
        actions: Number of actions so far.
    """

    def __init__(self, scenario: LabScenario, surroundings: Surroundings) -> None:
        self._scenario, self._surroundings = scenario, surroundings
        start = scenario.state
        self.state: LabState = surroundings.go_to_room(start, start.room)
        self.reached: list[str] = []
        self.actions = 0
        self._events: set[str] = set()

    @property
    def is_solved(self) -> bool:
        """Whether the goal is reached now."""
        return self._scenario.goal.holds(self.state, self._events)

    def step(self, action: LabAction) -> tuple[ActionOutcome, tuple[str, ...]]:
        """Carry out an action, and return what became of it and the subgoals that it reached."""
        self.state, outcome = step(self.state, action, self._surroundings)
        self._events |= set(outcome.events)
        self.actions += 1
        # Subgoals are made anew, because their tests are functions that cannot be pickled.
        reached = tuple(
            each.name
            for each in self._scenario.subgoals
            if each.name not in self.reached and each.holds(self.state, self._events)
        )
        self.reached += reached
        return outcome, reached
