"""Layouts of generated houses for tests with hypothesis."""

import numpy as np
from hypothesis import assume

from housewise.worlds.house.generator.furnish import furnish
from housewise.worlds.house.generator.furniture_groups import FurnitureItem
from housewise.worlds.house.generator.house_layout import GenerationError, HouseLayout, draw_layout
from housewise.worlds.house.generator.room_program import choose_house_rooms


def layout_of(rng: np.random.Generator, count: int) -> HouseLayout:
    """Draw a layout; a test skips an example for which none can be drawn."""
    try:
        return draw_layout(choose_house_rooms(count, rng), rng)
    except GenerationError:
        assume(False)
        raise


def furnished_layout(seed: int) -> tuple[HouseLayout, list[list[FurnitureItem]]]:
    """Draw a layout with its furniture; a test skips an example for which none can be drawn."""
    rng = np.random.default_rng(seed)
    try:
        plan = draw_layout(choose_house_rooms(3 + seed % 6, rng), rng)
        return plan, furnish(plan, rng)
    except GenerationError:
        assume(False)
        raise
