"""Figures over episode records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from selftrain.record import EpisodeLine, ResultLine

Finished = tuple[EpisodeLine, ResultLine]


def metrics(episodes: Sequence[Finished]) -> dict[str, Any]:
    """The figures of ``metrics.json``: over all episodes, by scene, and by scene and task set.

    Args:
        episodes: first and last line of each record.
    """
    return {
        "overall": summary([result for _, result in episodes]),
        "by_scene": _grouped(episodes, lambda header: header.scene),
        "by_task_set": _grouped(
            episodes, lambda header: f"{header.scene}/{header.task_set}" if header.task_set else header.scene
        ),
    }


def summary(results: Sequence[ResultLine]) -> dict[str, Any]:
    """Mean figures of some episodes.

    Success rates are percent; executability is the share of tried and skipped steps that succeeded; tokens, plans,
    steps and seconds are means over episodes.
    """
    if not results:
        return {"episodes": 0}
    rates = np.array([100 * result.success_rate for result in results])
    actions = sum(result.actions for result in results)
    return {
        "episodes": len(results),
        "success_rate": float(rates.mean()),
        "success_rate_stderr": float(rates.std(ddof=1) / np.sqrt(len(rates))) if len(rates) > 1 else 0.0,
        "executability": sum(result.succeeded for result in results) / actions if actions else 0.0,
        "unique_placements": _mean(result.unique_placements for result in results),
        "plans": _mean(result.plans for result in results),
        "steps": _mean(result.steps for result in results),
        "prompt_tokens": _mean(result.prompt_tokens for result in results),
        "completion_tokens": _mean(result.completion_tokens for result in results),
        "model_seconds": _mean(result.model_seconds for result in results),
        "seconds": _mean(result.seconds for result in results),
        "complete": sum(result.ended == "complete" for result in results),
    }


def _grouped(episodes: Sequence[Finished], key: Callable[[EpisodeLine], str]) -> dict[str, Any]:
    groups: dict[str, list[ResultLine]] = {}
    for header, result in episodes:
        groups.setdefault(key(header), []).append(result)
    return {name: summary(results) for name, results in sorted(groups.items())}


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))
