"""The house as a Gymnasium environment with high-level actions in text."""

from __future__ import annotations

from typing import Any

import gymnasium

from housewise.agent.personalize.grammar import COMPLETE
from housewise.agent.personalize.plan_normalizer import parse_any_plan
from housewise.agent.personalize.plan_parser import NOT_AN_ACTION, ParsedStep
from housewise.agent.personalize.prompt_notes import NotesTemplate
from housewise.controller.robot import RobotInHouse
from housewise.controller.skills import ActionStatus, Controller
from housewise.worlds.house.env import MAX_STEPS, RearrangementEnv
from housewise.worlds.house.generated_env import make_generated_env
from housewise.worlds.text_space import fit_text, text_space

_MAX_ACTION = 200  # characters
_MAX_OBSERVATION = 20_000  # characters


class TextRearrangementEnv(gymnasium.Env[str, str]):
    """Tidy a house with actions such as ``pick up cup 0``, which a controller turns into low-level ones.

    Description:
        The robot of ``RearrangementEnv``, with the controller and the words of the language model planner of
        LLM-Personalize (section 3.2). A planner's prompt contains the same description of the house.

    Mission space:
        Put every object where the house's person wants it. Most objects are there already.

    Action space:
        Text, one action: ``go to X``, ``look at X``, ``pick up X``, ``place X on Y`` or ``mission complete``, with
        names from the observation.

    Observation space:
        Text: how the last action ended, what the robot holds, and every room with the receptacles and objects that
        the robot has seen there.

    Rewards:
        +1 for placing an object on a correct receptacle, -1 for taking one away from a correct receptacle.

    Starting state:
        The robot stands in one room and knows the names of all rooms. ``reset(options={"task": n})`` chooses a task;
        with a seed it is drawn, otherwise the tasks follow one another.

    Termination:
        ``mission complete``. The episode is truncated after ``max_steps`` of the house's environment: as many low-level
        steps or actions, since actions that fail or are not understood may take no steps.

    Args:
        house: The house with its low-level actions.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 - Gymnasium's own form

    def __init__(self, house: RearrangementEnv) -> None:
        self.house = house
        self.render_mode = house.render_mode
        self.action_space = text_space(_MAX_ACTION)
        self.observation_space = text_space(_MAX_OBSERVATION)
        self._words = NotesTemplate.load("planner")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode; see gymnasium.Env.reset."""
        self.house.reset(seed=seed, options=options)  # first, because it may refuse the options
        super().reset(seed=seed)
        self._robot = RobotInHouse(self.house, Controller(self.house))
        self._actions = 0
        return self._describe_house(), self._info()

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Carry out one action; see gymnasium.Env.step.

        Returns:
            ``info`` holds ``status`` (succeeded, failed, skipped) and ``reason``, beside what ``reset`` returns.

        Raises:
            UserError: If the environment is closed.
        """
        self.house.check_open()
        self._actions += 1
        plan = parse_any_plan(action, self._robot.graph.vocabulary, 1)
        if plan.complete and not plan.steps:
            said, status, reason, reward = COMPLETE, ActionStatus.SUCCEEDED, "", 0.0
        else:
            step = plan.steps[0] if plan.steps else ParsedStep(action, None, NOT_AN_ACTION)
            result = self._robot.execute(step.action, step.problem)
            said, reward = str(step.action or step.raw), result.reward
            status, reason = result.outcome.status, result.outcome.reason
        observation = f"{said}: {status.value}{f' ({reason})' if reason else ''}\n{self._describe_house()}"
        info = {**self._info(), "status": status.value, "reason": reason}
        truncated = self._robot.is_out_of_steps or self._actions >= self.house.max_steps
        return fit_text(observation, _MAX_OBSERVATION), reward, plan.complete, truncated, info

    def render(self) -> Any:
        """The camera's picture, (height, width, 3) uint8."""
        return self.house.render()

    def close(self) -> None:
        """Release the simulator."""
        self.house.close()

    def _describe_house(self) -> str:
        graph = self._robot.graph
        lines = [self._words.describe_hand(graph), *(self._words.describe_room(graph, room) for room in graph.rooms)]
        return fit_text("\n".join(lines), _MAX_OBSERVATION)

    def _info(self) -> dict[str, Any]:
        return {"success_rate": self.house.world.success_rate, "steps": self.house.steps}


def generated_text_env(
    houses: int = 1,
    seed: int = 0,
    person: str = "majority",
    max_steps: int = MAX_STEPS,
    render_mode: str | None = "rgb_array",
) -> TextRearrangementEnv:
    """Make the environment with generated houses, one task in each; see make_generated_env for the arguments."""
    return TextRearrangementEnv(make_generated_env(houses, seed, person, max_steps, render_mode=render_mode))
