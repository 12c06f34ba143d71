"""Figures over episode records."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from housewise.rollout.record import EpisodeLine, ResultLine

Finished = tuple[EpisodeLine, ResultLine]


def metrics(episodes: Sequence[Finished], failed: Sequence[str] = ()) -> dict[str, Any]:
    """The figures of ``metrics.json``: over all episodes, by scene, and by scene and task set.

    Args:
        episodes: first and last line of each record.
        failed: why other episodes failed, which are counted and are in no mean.
    """
    return {
        "overall": _summary(episodes),
        "by_scene": _grouped(episodes, lambda header: header.scene),
        "by_task_set": _grouped(
            episodes, lambda header: f"{header.scene}/{header.task_set}" if header.task_set else header.scene
        ),
        "failed": {"episodes": len(failed), "reasons": dict(Counter(failed).most_common())},
    }


def standard_error(values: Sequence[float], tasks: Sequence[Hashable] | None = None) -> float:
    """Standard error of a mean over episodes.

    Runs of one task are much alike, so that 25 episodes of five tasks tell little more than five would: what the runs
    of a task have in common is counted once (the cluster-robust error of Liang and Zeger, Biometrika 73, 1986).

    Args:
        values: of the episodes.
        tasks: of which task each episode is; None, or the same for all, takes every episode as a task of its own.
    """
    count = len(values)
    if count < 2:
        return 0.0
    names: Sequence[Hashable] = range(count) if tasks is None or len(set(tasks)) == 1 else tasks
    off: defaultdict[Hashable, float] = defaultdict(float)
    for name, distance in zip(names, np.asarray(values, dtype=float) - np.mean(values), strict=True):
        off[name] += float(distance)
    return float(np.sqrt(len(off) / (len(off) - 1) * sum(each**2 for each in off.values())) / count)


def summary(results: Sequence[ResultLine], tasks: Sequence[Hashable] | None = None) -> dict[str, Any]:
    """Mean figures of some episodes.

    Success rates are percent; executability is the share of tried and skipped steps that succeeded; tokens, plans,
    steps and seconds are means over episodes.

    Args:
        results: of the episodes.
        tasks: of which task each is, for the standard error; see standard_error.
    """
    if not results:
        return {"episodes": 0}
    rates = np.array([100 * result.success_rate for result in results])
    actions = sum(result.actions for result in results)
    return {
        "episodes": len(results),
        "success_rate": float(rates.mean()),
        "success_rate_stderr": standard_error(rates.tolist(), tasks),
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
    groups: dict[str, list[Finished]] = {}
    for header, result in episodes:
        groups.setdefault(key(header), []).append((header, result))
    return {name: _summary(group) for name, group in sorted(groups.items())}


def _summary(episodes: Sequence[Finished]) -> dict[str, Any]:
    return summary([result for _, result in episodes], [header.task for header, _ in episodes])


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))
