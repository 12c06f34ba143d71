"""Draw the learning curve of a self-training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from housewise.core.plots import new_figure, save_figure


def draw_learning_curve(phases: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw success with standard errors by phase, one line per set of tasks.

    Args:
        phases: Phases of a summary.
        path: Path of the picture.

    Raises:
        UserError: matplotlib is not installed.
    """
    figure = new_figure(6, 3.5)
    axes = figure.subplots()
    names = [phase["phase"] for phase in phases]
    for tasks in phases[0]["evaluation"]:
        rows = [phase["evaluation"][tasks] for phase in phases]
        success, errors = (
            # Episodes of one task have no standard error.
            [float("nan") if row[key] is None else 100 * row[key] for row in rows]
            for key in ("success_rate", "success_rate_stderr")
        )
        axes.errorbar(names, success, yerr=errors, marker="o", capsize=3, label=tasks)
    axes.set_ylabel("success, %")
    axes.grid(axis="y", alpha=0.3)
    if phases[0]["evaluation"]:
        axes.legend()
    save_figure(figure, path)
