"""Layouts of generated houses for tests with hypothesis."""

import numpy as np
from hypothesis import assume

from housewise.worlds.house.generator.furnish import furnish
from housewise.worlds.house.generator.furniture_groups import FurnitureItem
from housewise.worlds.house.generator.house_layout import GenerationError, HouseLayout, draw_layout


def layout_of(rng: np.random.Generator, count: int) -> HouseLayout:
    """Draw a layout; a test skips an example for which none can be drawn."""
    try:
        return draw_layout(count, rng)
    except GenerationError:
        assume(False)
        raise


def furnished_layout(seed: int) -> tuple[HouseLayout, list[list[FurnitureItem]]]:
    """Draw a layout with its furniture; a test skips an example for which none can be drawn."""
    rng = np.random.default_rng(seed)
    try:
        plan = draw_layout(3 + seed % 6, rng)
        return plan, furnish(plan, rng)
    except GenerationError:
        assume(False)
        raise
