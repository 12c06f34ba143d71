import pytest

from housewise.controller.skills import Skill, SkillOutcome
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.simulator.base import LowLevelAction
from housewise.worlds.house.simulator.raycast import RaycastSimulator


@pytest.fixture
def env(toy: RearrangementTask) -> RearrangementEnv:
    """The small house after its reset."""
    env = RearrangementEnv(RaycastSimulator(), [toy])
    env.reset()
    return env


def drive(env: RearrangementEnv, skill: Skill) -> tuple[SkillOutcome, list[LowLevelAction]]:
    """Run a skill. Return its outcome and its low-level actions."""
    actions: list[LowLevelAction] = []
    try:
        action = next(skill)
        while True:
            actions.append(action)
            env.step(action)
            action = skill.send(None)
    except StopIteration as end:
        return end.value, actions
