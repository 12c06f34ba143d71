"""The text kitchen as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym

from housewise.worlds.kitchen.action_parser import MAX_QUESTION_CHARACTERS
from housewise.worlds.kitchen.kitchen_data import KitchenData
from housewise.worlds.kitchen.trace import Trace
from housewise.worlds.kitchen.world import MAX_STEPS, TextKitchen, check_kitchen_task
from housewise.worlds.text_space import fit_text, text_space

MAX_OBSERVATION_CHARACTERS = 20_000
"""Greatest length of an observation; searching a full fridge shows about 5,000 characters."""


class TextKitchenEnv(gym.Env[str, str]):
    """``TextKitchen`` behind Gymnasium's interface.

    Description:
        The text kitchen of ADAPT (section 3, table 3). A robot explores a household by text and prepares breakfast.

    Mission space:
        ``info["task"]`` at reset, such as "Prepare eggs for breakfast".

    Action space:
        Text: one line; see ``TextKitchen``.

    Observation space:
        Text: the layout at reset, then the effect or finding of each action, or the reason why it was impossible.

    Rewards:
        0 until the end of the episode, then the value of ``judge``, or 0 without a judge.

    Starting state:
        ``reset(seed=...)`` draws the scene. ``options={"task": number}`` selects another task for this episode.

    Termination:
        The action "Declare Done". Truncation after ``max_steps`` actions.

    Args:
        task: Number of the task.
        judge: Returns how good the breakfast was, such as the satisfaction rate of a person; None counts as 0.
        max_steps: Greatest number of actions.
        kitchen: House, objects, tasks and verbs; the bundled kitchen by default.
        render_mode: See gymnasium.Env.
    """

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012  # Gymnasium's own way

    def __init__(
        self,
        task: int = 1,
        judge: Callable[[Trace], float | None] | None = None,
        max_steps: int = MAX_STEPS,
        kitchen: KitchenData | None = None,
        render_mode: str | None = "ansi",
    ) -> None:
        self.observation_space = text_space(MAX_OBSERVATION_CHARACTERS)
        self.action_space = text_space(MAX_QUESTION_CHARACTERS)
        self.render_mode = render_mode
        self._task = task
        self._judge = judge
        self._max_steps = max_steps
        self._kitchen = kitchen
        self.world = TextKitchen(task, max_steps=max_steps, kitchen=kitchen)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """See gymnasium.Env.reset.

        Raises:
            UserError: There is no such task.
        """
        task = (options or {}).get("task")
        if task is None:
            task = self._task
        check_kitchen_task(task, self.world.kitchen)  # before the random number generator is set or used
        super().reset(seed=seed)
        scene = int(self.np_random.integers(2**31)) if seed is None else seed
        self.world = TextKitchen(task, scene, max_steps=self._max_steps, kitchen=self._kitchen)
        return fit_text(self.world.layout(), MAX_OBSERVATION_CHARACTERS), {"task": self.world.task.text, "scene": scene}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """See gymnasium.Env.step."""
        over = self.world.has_ended
        step = self.world.step(action)
        reward = 0.0
        if (step.ended or step.truncated) and not over and self._judge is not None:
            reward = self._judge(self.world.trace) or 0.0
        # The world's score "failed" is the number of failed actions so far.
        info = {**self.world.scores(), "failed": step.failed, "action": step.action.name if step.action else None}
        return fit_text(step.observation, MAX_OBSERVATION_CHARACTERS), reward, step.ended, step.truncated, info

    def render(self) -> str:
        """Return the food that was prepared so far."""
        return self.world.describe_prepared_food()
