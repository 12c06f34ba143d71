"""Pictures with axes, where matplotlib is there to draw them."""

from __future__ import annotations

from typing import Any

from housewise.core.errors import UserError

INSTALL = "pip install 'housewise[plots]'"


def new_figure(width: float, height: float) -> Any:
    """An empty figure of matplotlib's, which makes room for all that is written on it.

    Args:
        width, height: inches.

    Raises:
        UserError: when matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UserError(f"pictures: {error.name} is not installed; run {INSTALL}") from None
    return Figure(figsize=(width, height), layout="constrained")
