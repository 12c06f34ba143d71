"""The lab as a Gymnasium environment."""

from __future__ import annotations

from typing import Any, get_args

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from housewise.core.errors import UserError, suggest_names
from housewise.worlds.argument_checks import check_limit
from housewise.worlds.lab.actions import AMOUNTS, ARGUMENTS, ActionOutcome, LabAction, Verb
from housewise.worlds.lab.camera_picture import PICTURE_SIZE, LabPicture
from housewise.worlds.lab.geometry import open_lab_space
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.marks import draw_marks, find_marks
from housewise.worlds.lab.scenario_run import ScenarioRun
from housewise.worlds.lab.scenarios import MAX_ACTIONS, LabScenario, Split, draw_scenario, find_variant
from housewise.worlds.lab.state import ROOMS
from housewise.worlds.lab.surroundings import Glimpse
from housewise.worlds.lab.variants import VARIANTS
from housewise.worlds.text_space import fit_text, text_space

MAX_MARKS = 40
"""Greatest number of marks in a picture; farther things have none."""
MAX_MISSION_CHARACTERS = 200

COMMANDS: tuple[tuple[Verb, str | None], ...] = (
    *((verb, str(amount)) for verb, amounts in AMOUNTS.items() for amount in amounts),
    *(("GotoRoom", room) for room in ROOMS),
    *((verb, None) for verb, argument in ARGUMENTS.items() if argument == "thing"),
)
"""Verb and argument of each command; None stands for the thing with the chosen mark."""

LabObservation = dict[str, Any]


class LabEnv(gym.Env[LabObservation, NDArray[np.int64]]):
    """A person acts in the lab of BASIS, seen through their own eyes.

    Description:
        The lab of BASIS (COLM 2025, section 4.1): seven rooms with devices, most of which are uncommon. The agent is
        the person, without an assistant.

    Mission space:
        The goal in a sentence, such as "Break the bowl". There are 70 variants of 22 tasks.

    Action space:
        MultiDiscrete: a command of ``COMMANDS`` (a step, a turn, a room to go to, or what to do with a thing), and the
        number of a mark less 1. The mark is ignored by commands without a thing.

    Observation space:
        Dict: ``image``, RGB, (300, 300, 3) uint8; ``marks``, the number of the mark at each pixel, 0 for none,
        (300, 300) uint8; ``mission``, text. Marks count the things in view from 1, the nearest first.

    Rewards:
        1 when the goal is reached, otherwise 0.

    Starting state:
        ``reset(seed=...)`` draws the scenario: the layout, the places of things and the room where the person stands.
        ``options={"variant": "break__bowl__simple"}`` selects another variant; without one it is drawn.

    Termination:
        The goal is reached, or the person is hurt. Truncation after ``max_actions`` actions.

    Args:
        variant: Name of the variant; by default it is drawn at each reset.
        split: Whether scenarios are those for training or those for tests.
        max_actions: Greatest number of actions.
        render_mode: "rgb_array" (the picture with its marks), or None.

    Raises:
        UserError: The variant or the split is unknown, or ``max_actions`` is less than 1.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 2}  # noqa: RUF012  # Gymnasium's own way

    def __init__(
        self,
        variant: str | None = None,
        split: Split = "training",
        max_actions: int = MAX_ACTIONS,
        render_mode: str | None = "rgb_array",
    ) -> None:
        shape = (PICTURE_SIZE, PICTURE_SIZE)
        self.observation_space = spaces.Dict(
            {
                "image": spaces.Box(0, 255, (*shape, 3), np.uint8),
                "marks": spaces.Box(0, MAX_MARKS, shape, np.uint8),
                "mission": text_space(MAX_MISSION_CHARACTERS),
            }
        )
        self.action_space = spaces.MultiDiscrete([len(COMMANDS), MAX_MARKS])
        self.render_mode = render_mode
        self._variant = None if variant is None else find_variant(variant)
        if split not in get_args(Split):
            raise UserError(f"split: no {split!r}; {suggest_names(str(split), get_args(Split))}")
        self._split = split
        self._max_actions = check_limit("max_actions", max_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[LabObservation, dict[str, Any]]:
        """See gymnasium.Env.reset.

        Raises:
            UserError: If the variant is unknown.
        """
        name = (options or {}).get("variant")
        variant = self._variant if name is None else find_variant(name)
        super().reset(seed=seed)
        if variant is None:
            variant = VARIANTS[int(self.np_random.integers(len(VARIANTS)))]
        number = int(self.np_random.integers(2**31)) if seed is None else seed
        self.scenario: LabScenario = draw_scenario(variant, number, self._split)
        self.space = open_lab_space(self.scenario)
        self.run = ScenarioRun(self.scenario, self.space)
        return self._observe(), {"variant": variant.name, "seed": number, **self._info(None)}

    def step(self, action: NDArray[np.int64]) -> tuple[LabObservation, float, bool, bool, dict[str, Any]]:
        """See gymnasium.Env.step.

        Raises:
            UserError: The action is not in the action space.
        """
        outcome, _ = self.run.step(self._lab_action(action))
        is_solved = self.run.is_solved
        ended = is_solved or bool(self.run.state.ended)
        truncated = not ended and self.run.actions >= self._max_actions
        return self._observe(), float(is_solved), ended, truncated, self._info(outcome)

    def render(self) -> NDArray[np.uint8]:
        """Return the picture with outlines and numbers of the marks, (300, 300, 3) uint8."""
        picture = self.space.view.picture(self.run.state)
        return draw_marks(picture, find_marks(picture, self._glimpses()))

    def _glimpses(self) -> tuple[Glimpse, ...]:
        return self.space.glimpses(self.run.state)[:MAX_MARKS]

    def _lab_action(self, action: NDArray[np.int64]) -> LabAction:
        """Return the action of a command and a mark; a mark that is not in the picture is no known thing."""
        command, mark = map(int, action)
        if not (0 <= command < len(COMMANDS) and 0 <= mark < MAX_MARKS):
            limits = f"a command from 0 to {len(COMMANDS) - 1} and a mark from 0 to {MAX_MARKS - 1}"
            raise UserError(f"there is no action [{command}, {mark}]; use {limits}")
        verb, argument = COMMANDS[command]
        if argument is None:
            glimpses = self._glimpses()
            argument = glimpses[mark].id if mark < len(glimpses) else ""
        return LabAction(verb, argument)

    def _observe(self) -> LabObservation:
        picture = self.space.view.picture(self.run.state)
        return {
            "image": picture.rgb,
            "marks": _mark_image(picture, self._glimpses()),
            "mission": fit_text(self.scenario.mission, MAX_MISSION_CHARACTERS),
        }

    def _info(self, outcome: ActionOutcome | None) -> dict[str, Any]:
        held = self.run.state.held
        return {
            "status": outcome.status if outcome else "",
            "message": outcome.message if outcome else "",
            "room": self.run.state.room,
            "holding": KINDS[self.run.state[held].kind].name if held else "",
            "subgoals": {each.name: each.name in self.run.reached for each in self.scenario.subgoals},
        }


def _mark_image(picture: LabPicture, glimpses: tuple[Glimpse, ...]) -> NDArray[np.uint8]:
    """Return the number of the mark at each pixel."""
    numbers = {id: number for number, id in enumerate(picture.ids)}
    marks = np.zeros(len(picture.ids), dtype=np.uint8)
    for mark, glimpse in enumerate(glimpses, 1):
        marks[numbers[glimpse.id]] = mark
    return np.asarray(marks[picture.instances])
