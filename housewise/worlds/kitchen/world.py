"""The text kitchen as a world: text in, text out.

Source: ADAPT (arXiv 2504.04040), section 3 and appendices B and C.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from housewise.core.errors import UserError
from housewise.worlds.argument_checks import check_limit
from housewise.worlds.kitchen.action_parser import ImpossibleAction, KitchenAction, parse_action
from housewise.worlds.kitchen.dynamics import KitchenDynamics
from housewise.worlds.kitchen.kitchen_data import KitchenData, KitchenTask, load_kitchen
from housewise.worlds.kitchen.name_resolution import describe_entity
from housewise.worlds.kitchen.scene import draw_scene
from housewise.worlds.kitchen.state import State
from housewise.worlds.kitchen.trace import Trace

MAX_STEPS = 50
"""Limit of both attempted and executed actions. A robot that asks before every action gets twice as many."""


@dataclass(frozen=True)
class KitchenStep:
    """The result of one action.

    Attributes:
        observation: The text that the robot reads; empty after a question.
        action: The parsed action, or None if it could not be parsed.
        failed: Whether the action was impossible. It then changed nothing and does not count as executed.
        ended: Whether the robot declared the task done.
        truncated: Whether the limit of steps was reached.
    """

    observation: str
    action: KitchenAction | None = None
    failed: bool = False
    ended: bool = False
    truncated: bool = False


def check_kitchen_task(number: Any, kitchen: KitchenData) -> None:
    """Check the number of a task.

    Raises:
        UserError: There is no such task.
    """
    numbers = sorted(kitchen.tasks.tasks)
    if number not in numbers:
        raise UserError(f"there is no task {number!r} in the kitchen; use one of {numbers}")


class TextKitchen:
    """A text world with six rooms, in which a robot prepares breakfast.

    Description:
        The symbolic household of ADAPT (section 3, table 3), with 40 pieces of furniture and 229 movable things.

    Mission space:
        One of the eight tasks of ``housekeep_configs/kitchen/tasks.yaml``, such as "Prepare eggs for breakfast".

    Action space:
        A line of text of one of the forms of ``worlds.kitchen.action_parser.TEMPLATES``: looking (Search, Look for),
        states (Open, Close, Turn on, Turn off, Heat), moving (Move, Serve, Pour), preparing (Mix, Cook, Chop and 77
        open verbs, with a name for the result), Ask "..." and Declare Done.

    Observation space:
        Text. At the start the rooms and the furniture without objects. After an action its effect or what it found,
        or the reason why it was impossible.

    Rewards:
        None. ``scores`` counts executed and failed actions and questions. A ``PreferenceJudge`` evaluates ``trace``.

    Starting state:
        A random scene, which contains each object with probability 0.7.

    Termination:
        The robot declares the task done. Truncation after ``max_steps`` executed or attempted actions.

    Args:
        task: Number of the task.
        seed: Seed of the scene and of the order of search results.
        scene: A given scene instead of a random one.
        max_steps: Greatest number of executed and of attempted actions.
        kitchen: House, objects, tasks and verbs; the bundled kitchen by default.

    Attributes:
        dynamics: The dynamics of the current episode. Planners try actions on its ``fork``.

    Raises:
        UserError: There is no such task, or ``max_steps`` is less than 1.
    """

    def __init__(
        self,
        task: int,
        seed: int = 0,
        scene: State | None = None,
        max_steps: int = MAX_STEPS,
        kitchen: KitchenData | None = None,
    ) -> None:
        self.kitchen = kitchen or load_kitchen()
        check_kitchen_task(task, self.kitchen)
        self.number = task
        self._seed = seed
        self._scene = scene
        self._max_steps = check_limit("max_steps", max_steps)
        self.reset()

    @property
    def task(self) -> KitchenTask:
        """The current task."""
        return self.kitchen.tasks.tasks[self.number]

    @property
    def trace(self) -> Trace:
        """The trace since the last reset."""
        return self.dynamics.trace

    @property
    def state(self) -> State:
        """The current state."""
        return self.trace.state

    @property
    def has_ended(self) -> bool:
        """Whether the robot declared the task done."""
        return self.dynamics.done

    def reset(self) -> str:
        """Start again in the same scene and return the layout."""
        scene = self._scene or draw_scene(self._seed, self.kitchen)
        self.dynamics = KitchenDynamics(scene, self.kitchen, random.Random(self._seed))
        self._attempts = 0
        self._failed = 0
        self._recent: deque[str] = deque(maxlen=4)
        return self.layout()

    def step(self, action: str) -> KitchenStep:
        """Execute an action given as text."""
        if self.has_ended or self._out_of_steps():
            return KitchenStep("The episode is over.", failed=True, ended=self.has_ended, truncated=not self.has_ended)
        self._attempts += 1
        line = " ".join(action.split())
        self._recent.append(line.lower())
        parsed: KitchenAction | None = None
        failed = False
        try:
            if self._recent.count(line.lower()) > 2:
                raise ImpossibleAction("The same action for the third time; do something else.")
            parsed = parse_action(action, self.kitchen.verbs)
            observation = self.dynamics.execute(parsed, line)
        except ImpossibleAction as reason:
            observation = str(reason)
            failed = True
            self._failed += 1
        return KitchenStep(observation, parsed, failed, self.has_ended, not self.has_ended and self._out_of_steps())

    def _out_of_steps(self) -> bool:
        return self.trace.step >= self._max_steps or self._attempts >= self._max_steps

    def scores(self) -> Mapping[str, float]:
        """Return the numbers of executed actions, failed actions and questions."""
        asked = sum(action.lower().startswith("ask ") for action in self.trace.actions)
        return {"executed": self.trace.step, "failed": self._failed, "questions": asked}

    def layout(self) -> str:
        """Return a line per room with the descriptions of its furniture."""
        start = self.trace.start
        furniture = self.kitchen.furniture
        lines = []
        for room in self.kitchen.house.rooms:
            inside = [describe_entity(start[id]) for id, place in furniture.items() if place.holder == room]
            lines.append(f"{describe_entity(start[room])}: {'; '.join(inside)}")
        return "\n".join(lines)

    def describe_prepared_food(self) -> str:
        """Return a line per prepared food that still exists, with its place and its sources."""
        trace = self.trace
        lines = [
            f"{id} in/on {self.state.holder(id)}, of {', '.join(sorted(trace.sources_of(id)))}"
            for id in trace.sources
            if id in self.state
        ]
        return "\n".join(lines) or "Nothing has been made so far."
