from collections.abc import Callable

import pytest

from housewise.controller.skills import Skill, SkillOutcome
from housewise.worlds.house.env import RearrangementEnv, Task
from housewise.worlds.house.simulator.base import Action
from housewise.worlds.house.simulator.raycast import RaycastSimulator

Drive = Callable[[Skill], tuple[SkillOutcome, list[Action]]]


@pytest.fixture
def env(toy: Task) -> RearrangementEnv:
    """The small house after its reset."""
    env = RearrangementEnv(RaycastSimulator(), [toy])
    env.reset()
    return env


def drive(env: RearrangementEnv, skill: Skill) -> tuple[SkillOutcome, list[Action]]:
    """Run a skill. Return its outcome and its low-level actions."""
    actions: list[Action] = []
    try:
        action = next(skill)
        while True:
            actions.append(action)
            env.step(action)
            action = skill.send(None)
    except StopIteration as end:
        return end.value, actions
