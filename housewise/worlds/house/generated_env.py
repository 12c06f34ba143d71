"""Makes the environment of ``gymnasium.make("housewise/Rearrangement-v0", houses=1, seed=0)``."""

from __future__ import annotations

from housewise.worlds.house.env import MAX_STEPS, RearrangementEnv
from housewise.worlds.house.simulator.base import Camera
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from housewise.worlds.house.tasks import generated_task


def make_generated_env(
    houses: int = 1,
    seed: int = 0,
    person: str = "majority",
    max_steps: int = MAX_STEPS,
    camera: Camera | None = None,
    render_mode: str | None = "rgb_array",
) -> RearrangementEnv:
    """Make an environment with generated houses and one task in each.

    Args:
        houses: Number of houses, played one after another.
        seed: Seed of the first house; the next house has the next seed.
        person: Whose preferences decide what is correct; see ``worlds.house.tasks.resolve_preferences``.
        max_steps: Number of low-level steps after which an episode is truncated.
        camera: The robot's camera.
        render_mode: See gymnasium.Env.

    Raises:
        ValueError: If ``houses`` is less than 1 or the seed is negative.
        UserError: If the person does not exist, or ``max_steps`` is less than 1.
    """
    if houses < 1:
        raise ValueError(f"houses must be 1 or more, not {houses}")
    tasks = [generated_task(number, person) for number in range(seed, seed + houses)]
    return RearrangementEnv(RaycastSimulator(camera), tasks, max_steps, render_mode=render_mode)
