"""The environment for Gymnasium's registry: ``gymnasium.make("housewise/Rearrangement-v0", houses=1, seed=0)``."""

from __future__ import annotations

from housewise.worlds.house.env import MAX_STEPS, RearrangementEnv
from housewise.worlds.house.simulator.base import Camera
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from housewise.worlds.house.tasks import generated_task


def generated_env(
    houses: int = 1,
    seed: int = 0,
    person: str = "majority",
    max_steps: int = MAX_STEPS,
    camera: Camera | None = None,
    render_mode: str | None = "rgb_array",
) -> RearrangementEnv:
    """Generated houses, one task in each.

    Args:
        houses: how many, played in turn.
        seed: of the first house; the others follow.
        person: whose idea of order counts: one of worlds.house.preferences.people(), a YAML file, or ``"majority"``.
        max_steps: low-level steps until an episode is cut.
        camera: the robot's.
        render_mode: see gymnasium.Env.

    Raises:
        ValueError: when there are no houses, or the seed is negative.
    """
    if houses < 1:
        raise ValueError(f"houses must be 1 or more, not {houses}")
    tasks = [generated_task(number, person) for number in range(seed, seed + houses)]
    return RearrangementEnv(RaycastSimulator(camera), tasks, max_steps, render_mode=render_mode)
