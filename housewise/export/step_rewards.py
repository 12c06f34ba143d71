"""The low-level actions of a record, each with its plan and its reward."""

from __future__ import annotations

from collections.abc import Iterator

from housewise.controller.robot import ACTION_LETTERS
from housewise.systems.personalize.record import HouseRecord
from housewise.worlds.house.simulator.base import LowLevelAction

_ACTIONS = {letter: action for action, letter in ACTION_LETTERS.items()}


def list_step_rewards(record: HouseRecord) -> Iterator[tuple[int, LowLevelAction, float]]:
    """Return every low-level action with the number of its plan before it and its reward after it.

    Records have the rewards of high-level actions. The reward belongs to the last grab of the action.
    """
    for line in (line for plan in record.plans for line in record.actions_of(plan)):
        grab = line.low_level_actions.rfind("g")
        earns = len(line.low_level_actions) - 1 if grab < 0 else grab
        for number, letter in enumerate(line.low_level_actions):
            yield line.plan, _ACTIONS.get(letter, LowLevelAction.STOP), line.reward if number == earns else 0.0
