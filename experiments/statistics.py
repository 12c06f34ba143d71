"""Statistics of results tables: means with their standard errors, and paired differences with confidence intervals.

All functions take and return pandas data frames with values in stored units; see ``results_table``. The standard error
over *episodes*, as papers report it, and the one over *tasks*, where the episodes of a task count as one cluster (Liang
and Zeger, Biometrika 73, 1986), are always named.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from housewise.experiments.experiment_file import SEED
from housewise.experiments.results_table import (
    COUNT,
    ERROR,
    MEASURE,
    RUN,
    TASK,
    VALUE,
    WEIGHT,
)
from housewise.rollout.comparison import error_and_interval
from housewise.rollout.data_frames import import_pandas
from housewise.rollout.scores import influence, standard_error

if TYPE_CHECKING:
    import pandas as pd

MEAN, EPISODES, TASKS = "mean", "episode_count", "task_count"
ERROR_OVER_EPISODES, ERROR_OVER_TASKS = "error_over_episodes", "error_over_tasks"
DIFFERENCE, LOW, HIGH = "difference", "low", "high"
LOW_OVER_EPISODES, HIGH_OVER_EPISODES = "low_over_episodes", "high_over_episodes"


def summarize(frame: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return mean and standard errors of each group.

    Args:
        frame: Rows of a results table.
        by: Columns that tell groups apart. The measure always does.

    Returns:
        A row per group: ``by``, ``measure``, ``mean``, ``error_over_episodes``, ``error_over_tasks``,
        ``episode_count``, ``task_count``. A single aggregate keeps its error as the one over tasks. Pooled ones have
        no error, since their episodes were not kept.
    """
    keys = [*dict.fromkeys([*by, MEASURE])]
    # A data frame for each of thousands of small groups would take most of the time.
    arrays = {name: frame[name].to_numpy() for name in (VALUE, WEIGHT, TASK, ERROR, COUNT) if name in frame}
    groups = sorted(frame.groupby(keys, sort=False).indices.items(), key=lambda group: int(group[1][0]))
    rows = [
        (*_as_tuple(name), *_summarize_group(**{key: array[index] for key, array in arrays.items()}))
        for name, index in groups
    ]
    columns = [*keys, MEAN, ERROR_OVER_EPISODES, ERROR_OVER_TASKS, EPISODES, TASKS]
    found: pd.DataFrame = import_pandas().DataFrame(rows, columns=columns)
    return found


def paired_differences(frame: pd.DataFrame, axis: str, base: str, by: Sequence[str] = ()) -> pd.DataFrame:
    """Return by how much each level of an axis differs from another one, over the episodes that both played.

    Differences are those of weighted means. Episodes in which a measure is undefined for either (weight 0, such as the
    precision of one who never speaks) are left out. If the base was played with one seed only and seeds are pooled, as
    with a control that needs no training at several training seeds, it is compared with all seeds. Levels of other
    axes, which may change task or person, are compared with the same level of the base.

    Args:
        frame: Rows of a results table.
        axis: The axis.
        base: Level that the others are compared with.
        by: Further axes whose levels are compared separately. Episodes of the others are pooled, seed by seed.

    Returns:
        A row per level, ``by`` and measure: ``difference``, ``error_over_tasks``, ``low`` and ``high`` (95 % interval,
        Student's t over tasks), ``error_over_episodes``, ``low_over_episodes`` and ``high_over_episodes`` (the same
        over episodes), ``episode_count``, ``task_count``.
    """
    axes = [column for column in frame.columns if column not in (axis, VALUE, WEIGHT, ERROR, COUNT)]
    if len({*frame[RUN]} - {""}) <= 1:
        # What a function measures belongs to no run, and is compared with the only one.
        axes.remove(RUN)
    frame = frame[(frame[TASK] != "") & (frame[WEIGHT] != 0)]
    others, based = frame[frame[axis] != base], frame[frame[axis] == base]
    if SEED in axes and SEED not in by and based[SEED].nunique() <= 1:
        axes.remove(SEED)
    pairs = others.merge(based, on=axes, suffixes=("", "_base"))
    keys = [*dict.fromkeys([axis, *by, MEASURE])]
    rows = []
    for name, group in pairs.groupby(keys, sort=False):
        off = influence(group[VALUE], group[WEIGHT]) - influence(group[f"{VALUE}_base"], group[f"{WEIGHT}_base"])
        tasks = list(group[TASK])
        *over_tasks, _ = error_and_interval(off, tasks)
        *over_episodes, _ = error_and_interval(off, range(len(off)))
        rows.append((*_as_tuple(name), float(off.mean()), *over_tasks, *over_episodes, len(off), len(set(tasks))))
    intervals = [ERROR_OVER_TASKS, LOW, HIGH, ERROR_OVER_EPISODES, LOW_OVER_EPISODES, HIGH_OVER_EPISODES]
    columns = [*keys, DIFFERENCE, *intervals, EPISODES, TASKS]
    found: pd.DataFrame = import_pandas().DataFrame(rows, columns=columns)
    return found


def error_over_levels(frame: pd.DataFrame, axis: str, by: Sequence[str]) -> pd.DataFrame:
    """Return the standard error of each group's mean over the levels of an axis, such as over training seeds.

    Returns:
        A row per group: ``by``, ``measure``, ``error``, ``count`` (number of levels).
    """
    keys = [*dict.fromkeys([*by, MEASURE])]
    means = summarize(frame, [*by, axis])
    rows = [
        (*_as_tuple(name), standard_error(list(group[MEAN])), len(group))
        for name, group in means.groupby(keys, sort=False)
    ]
    found: pd.DataFrame = import_pandas().DataFrame(rows, columns=[*keys, ERROR, COUNT])
    return found


def _summarize_group(
    value: np.ndarray,
    weight: np.ndarray,
    task: np.ndarray,
    error: np.ndarray | None = None,
    count: np.ndarray | None = None,
) -> tuple[float, float | None, float | None, int, int]:
    """Return mean, error over episodes, error over tasks, and the numbers of both; arguments are columns of a table."""
    values, weights, tasks = value.astype(float), weight.astype(float), task.tolist()
    total = float(weights.sum())
    mean = float((values * weights).sum() / total) if total else float("nan")
    if error is not None and count is not None and (counted := count[~np.isnan(count.astype(float))]).size:
        kept = float(error[0]) if len(values) == 1 and not np.isnan(error[0]) else None
        return mean, None, kept, int(counted.sum()), 0
    shares = influence(values, weights).tolist()
    return mean, standard_error(shares), standard_error(shares, tasks), len(values), len(set(tasks))


def _as_tuple(name: object) -> tuple[object, ...]:
    return name if isinstance(name, tuple) else (name,)
