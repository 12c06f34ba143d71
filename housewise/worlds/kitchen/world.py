"""The text kitchen as a world: text in, text out.

Source: ADAPT (arXiv 2504.04040), section 3 and appendices B and C.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from housewise.core.errors import UserError
from housewise.worlds.kitchen.action_parser import KitchenAction, ImpossibleAction, parse_action
from housewise.worlds.kitchen.dynamics import KitchenDynamics
from housewise.worlds.kitchen.kitchen_data import Kitchen, KitchenTask, load_kitchen
from housewise.worlds.kitchen.name_resolution import Resembles, describe
from housewise.worlds.kitchen.scene import draw_scene
from housewise.worlds.kitchen.state import State
from housewise.worlds.kitchen.trace import Trace

MAX_STEPS = 50  # predictions, and executed steps; a robot that asks before every action is given twice as many


@dataclass(frozen=True)
class KitchenStep:
    """What comes of one action.

    Attributes:
        observation: what the robot reads; empty after a question.
        action: the action as it was understood; None when it was not.
        failed: whether it was impossible, so that nothing changed and it does not count as executed.
        ended: whether the robot declared itself done.
        truncated: whether the episode ran out of steps.
    """

    observation: str
    action: KitchenAction | None = None
    failed: bool = False
    ended: bool = False
    truncated: bool = False


class TextKitchen:
    """A house of six rooms in words, in which a robot prepares breakfast.

    Mission space:
        One of the eight tasks of ``housekeep_configs/kitchen/tasks.yaml``, such as "Prepare eggs for breakfast".

    Action space:
        A line of text of one of the forms of ``worlds.kitchen.actions.TEMPLATES``: looking (Search, Look for), states
        (Open, Close, Turn on, Turn off, Heat), moving (Move, Serve, Pour), making (Mix, Cook, Chop and 77 open verbs,
        with a name for the result), Ask "..." and Declare Done.

    Observation space:
        Text. At the start the rooms and the furniture, no objects. After an action what it changed or found; after one
        that is impossible the reason, and nothing has changed.

    Rewards:
        None. ``scores`` says which dishes of the task were made and how many actions were executed and failed; whether
        the breakfast is as its person wants it is the person's to judge, on ``trace``.

    Starting state:
        A scene drawn by the seed, in which each object is there with probability 0.7.

    Termination:
        The robot declares itself done, or (truncation) ``max_steps`` actions were executed or said.

    Args:
        task: its number.
        seed: of the scene and of the order in which things are found.
        scene: a scene of one's own instead of the drawn one.
        max_steps: executed actions; as many may be said.
        resembles: how alike a word and a description are (0 to 1), for Look for; by their words without it.

    Raises:
        UserError: there is no such task.
    """

    def __init__(
        self,
        task: int,
        seed: int = 0,
        scene: State | None = None,
        max_steps: int = MAX_STEPS,
        kitchen: Kitchen | None = None,
        resembles: Resembles | None = None,
    ) -> None:
        self.kitchen = kitchen or load_kitchen()
        if task not in self.kitchen.tasks.tasks:
            raise UserError(f"there is no task {task} in the kitchen; use one of {sorted(self.kitchen.tasks.tasks)}")
        self.number = task
        self._seed = seed
        self._scene = scene
        self._max_steps = max_steps
        self._resembles = resembles
        self.reset()

    @property
    def task(self) -> KitchenTask:
        return self.kitchen.tasks.tasks[self.number]

    @property
    def trace(self) -> Trace:
        """All that happened since the last reset."""
        return self._cooking.trace

    @property
    def state(self) -> State:
        return self.trace.state

    @property
    def has_ended(self) -> bool:
        return self._cooking.done

    @property
    def dynamics(self) -> KitchenDynamics:
        """The scene as it is being cooked in; whoever plans ahead does so on its ``fork``."""
        return self._cooking

    def reset(self) -> str:
        """Begin anew in the same scene; returns the layout."""
        scene = self._scene or draw_scene(self._seed, self.kitchen)
        self._cooking = KitchenDynamics(scene, self.kitchen, random.Random(self._seed), self._resembles)
        self._said = 0
        self._failed = 0
        self._last: deque[str] = deque(maxlen=4)
        return self.layout()

    def step(self, action: str) -> KitchenStep:
        """Carry out one line of text."""
        if self.has_ended or self._out_of_steps():
            return KitchenStep("The episode is over.", failed=True, ended=self.has_ended, truncated=not self.has_ended)
        self._said += 1
        line = " ".join(action.split())
        self._last.append(line.lower())
        understood: KitchenAction | None = None
        failed = False
        try:
            if self._last.count(line.lower()) > 2:
                raise ImpossibleAction("The same action for the third time; do something else.")
            understood = parse_action(action, self.kitchen.verbs)
            observation = self._cooking.execute(understood, line)
        except ImpossibleAction as reason:
            observation = str(reason)
            failed = True
            self._failed += 1
        return KitchenStep(observation, understood, failed, self.has_ended, not self.has_ended and self._out_of_steps())

    def _out_of_steps(self) -> bool:
        return self.trace.step >= self._max_steps or self._said >= self._max_steps

    def scores(self) -> Mapping[str, float]:
        """Executed and failed actions, and questions."""
        asked = sum(action.lower().startswith("ask ") for action in self.trace.actions)
        return {"executed": self.trace.step, "failed": self._failed, "questions": asked}

    def layout(self) -> str:
        """Rooms and furniture with their descriptions; a line for each room."""
        start = self.trace.start
        furniture = self.kitchen.furniture
        lines = []
        for room in self.kitchen.house.rooms:
            inside = [describe(start[id]) for id, place in furniture.items() if place.holder == room]
            lines.append(f"{describe(start[room])}: {'; '.join(inside)}")
        return "\n".join(lines)

    def describe_prepared_food(self) -> str:
        """What the robot made and is still there: where, and of what."""
        trace = self.trace
        lines = [
            f"{id} in/on {self.state.holder(id)}, of {', '.join(sorted(trace.sources_of(id)))}"
            for id in trace.sources
            if id in self.state
        ]
        return "\n".join(lines) or "Nothing has been made so far."
