"""Scores that systems declare, and the metrics over episodes that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from housewise.core.record import Failure, Header, Result

FinishedEpisode = tuple[Header, Result]
"""Header and result of a record."""

VERSION = 2
"""Version of `metrics.json` and of the phases in `summary.json`. Since version 2 a score has the same unit as in
records. Version 1, which the files do not state, has shares such as `success_rate` in percent.
"""


@dataclass(frozen=True)
class Score:
    """A score of an episode.

    Attributes:
        name: Name in records and files.
        label: Name in texts and wide tables, by default `name`.
        column: Heading in narrow tables, or None to leave the score out there.
        unit: Unit in texts and tables, such as "%".
        better: Which direction is better, or None if neither is.
        scale: Factor from stored values to displayed ones: 100 for a share that is displayed in percent.
        weight: Name of the score that weights the episodes of a mean, or None for equal weights.
        total: Whether the score is summed up instead of averaged.
        error: Whether the standard error of the mean is reported.
        decimals: Number of decimals in tables.
    """

    name: str
    label: str = ""
    column: str | None = None
    unit: str = ""
    better: Literal["higher", "lower"] | None = None
    scale: float = 1.0
    weight: str | None = None
    total: bool = False
    error: bool = False
    decimals: int = 1

    @property
    def heading(self) -> str:
        """Label with its unit."""
        label = self.label or self.name.replace("_", " ")
        return f"{label}, {self.unit}" if self.unit else label

    def value_in(self, result: Result) -> float | None:
        """Return the value for one episode, or None if the episode has none."""
        if self.weight is not None and not result_metrics(result).get(self.weight):
            return None
        return result_metrics(result).get(self.name)

    def weight_in(self, result: Result) -> float:
        """Return the weight of an episode in means."""
        return 1.0 if self.weight is None else result_metrics(result).get(self.weight, 0.0)

    def in_display_units(self, value: float) -> float:
        """Convert a stored value to the unit of texts and tables."""
        return self.scale * value

    def mean(self, results: Sequence[Result]) -> float:
        """Return the weighted mean, or the sum, over episodes; 0 if no episode has a value."""
        rows = [(value, self.weight_in(result)) for result in results if (value := self.value_in(result)) is not None]
        if self.total:
            return float(sum(value for value, _ in rows))
        weight = sum(share for _, share in rows)
        return float(sum(value * share for value, share in rows) / weight) if weight else 0.0


USAGE = (
    Score("prompt_tokens", "tokens read", decimals=0),
    Score("completion_tokens", "tokens written", decimals=0),
    Score("tokens", column="tokens", decimals=0),
    Score("model_seconds", "seconds asking", decimals=0),
    Score("seconds", column="s", decimals=0),
)
"""Resources that every system's episodes use."""


def result_metrics(result: Result) -> dict[str, float]:
    """Return the scores and the usage of an episode by name."""
    usage = result.usage
    counted = usage.model_dump(exclude={"finish_reasons"})
    return {**result.scores, **counted, "tokens": usage.prompt_tokens + usage.completion_tokens}


def compute_metrics(
    episodes: Sequence[FinishedEpisode], scores: Sequence[Score], failed: Mapping[str, Failure] | None = None
) -> dict[str, Any]:
    """Return the content of `metrics.json`: metrics over all episodes, by scene, and by scene and task set.

    Args:
        episodes: Header and result of each finished episode.
        scores: Scores of their system.
        failed: Failures by episode name. They are counted, but are part of no mean.
    """
    failed = failed or {}
    return {
        "version": VERSION,
        "overall": _summarize_episodes(episodes, scores),
        "by_scene": _summarize_groups(episodes, scores, lambda header: header.group.partition("/")[0]),
        "by_task_set": _summarize_groups(episodes, scores, lambda header: header.group),
        "failed": {
            "episodes": len(failed),
            "reasons": dict(Counter(failure.reason for failure in failed.values()).most_common()),
            "errors": {name: failure.error for name, failure in failed.items()},
        },
    }


def summarize(
    results: Sequence[Result], scores: Sequence[Score], tasks: Sequence[Hashable] | None = None
) -> dict[str, Any]:
    """Return the mean scores of episodes by name; `<name>_stderr` is the standard error of a mean.

    The error is None where the episodes are of one task. `<name>_episodes` is the number of episodes that have the
    score, where others do not. Scores that no episode has are left out.

    Args:
        results: Results of the episodes.
        scores: Scores of their system. Usage is added.
        tasks: Task of each episode, for clustered standard errors; see `standard_error`.
    """
    if not results:
        return {"episodes": 0}
    found: dict[str, Any] = {"episodes": len(results)}
    for score in (*scores, *USAGE):
        values = [
            (number, value) for number, result in enumerate(results) if (value := score.value_in(result)) is not None
        ]
        if score.name == "tokens" or not values:
            continue
        found[score.name] = score.mean(results)
        # An episode without weight is part of a weighted mean; it has nothing to add.
        if score.weight is None and len(values) < len(results):
            found[f"{score.name}_episodes"] = len(values)
        if score.error:
            of = None if tasks is None else [tasks[number] for number, _ in values]
            found[f"{score.name}_stderr"] = standard_error([value for _, value in values], of)
    finish_reasons = sum((Counter(result.usage.finish_reasons) for result in results), Counter())
    found |= {"finish_reasons": dict(finish_reasons)} if finish_reasons else {}
    return found | {"ended": dict(Counter(result.end_reason for result in results).most_common())}


def truncation_warning(figures: Mapping[str, Any], limit: str = "max_tokens") -> str:
    """Describe how many replies were cut at the token limit. The text is empty if none was.

    Args:
        figures: Metrics over all episodes, as `summarize` returns them.
        limit: The setting that is the limit, with its value if there was only one.
    """
    reasons = figures.get("finish_reasons", {})
    cut = reasons.get("length", 0)
    if not cut:
        return ""
    return (
        f"{cut} of {sum(reasons.values())} replies were cut at {limit}, so that their ends are missing; raise the limit"
    )


def standard_error(values: Sequence[float], tasks: Sequence[Hashable] | None = None) -> float | None:
    """Return the cluster-robust standard error of a mean over episodes (Liang and Zeger, Biometrika 73, 1986).

    Runs of one task are strongly correlated, so each task counts as one cluster. With a single cluster there is none.

    Args:
        values: Values of the episodes.
        tasks: Task of each episode. None takes every episode as a cluster of its own.
    """
    count = len(values)
    names: Sequence[Hashable] = range(count) if tasks is None else tasks
    if len(set(names)) < 2:
        return None
    off: dict[Hashable, float] = {}
    for name, distance in zip(names, np.asarray(values, dtype=float) - np.mean(values), strict=True):
        off[name] = off.get(name, 0.0) + float(distance)
    return float(np.sqrt(len(off) / (len(off) - 1) * sum(each**2 for each in off.values())) / count)


def influence(values: Any, weights: Any) -> np.ndarray:
    """Return the episodes' shares in a weighted mean: their mean is that mean, and their error is its error."""
    shares, counted = np.asarray(values, dtype=float), np.asarray(weights, dtype=float)
    total = float(counted.sum())
    if not total:
        return shares
    mean = float((shares * counted).sum() / total)
    found: np.ndarray = mean + (shares - mean) * counted * len(shares) / total
    return found


def _summarize_groups(
    episodes: Sequence[FinishedEpisode], scores: Sequence[Score], key: Callable[[Header], str]
) -> Mapping[str, dict[str, Any]]:
    groups: dict[str, list[FinishedEpisode]] = {}
    for header, result in episodes:
        groups.setdefault(key(header), []).append((header, result))
    return {name: _summarize_episodes(group, scores) for name, group in sorted(groups.items())}


def _summarize_episodes(episodes: Sequence[FinishedEpisode], scores: Sequence[Score]) -> dict[str, Any]:
    return summarize([result for _, result in episodes], scores, [header.task for header, _ in episodes])
