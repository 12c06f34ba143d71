"""What is measured of episodes: each system declares its scores, and all are summed up alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from housewise.core.record import Failure, Header, Result

FinishedEpisode = tuple[Header, Result]
"""First and last line of a record."""

VERSION = 2
"""Of ``metrics.json`` and of the phases in ``summary.json``: since version 2 a score has the unit that it has in
records. Version 1, which is not named in the files, has shares such as ``success_rate`` in percent."""


@dataclass(frozen=True)
class Score:
    """A figure of an episode.

    Attributes:
        name: in records and files.
        label: in texts and wide tables; the name where it is empty.
        column: heading in narrow tables; None leaves it out there.
        unit: in texts and tables, such as ``"%"``.
        better: which way is better; None where neither is.
        scale: Factor from the figure in records, metrics, trackers and exports to that in texts and tables: 100 for a
            share that is shown in percent.
        weight: name of the score by which episodes are weighed, for shares of what not every episode has as much of.
        total: sum it up instead of taking the mean.
        error: whether its standard error is of interest.
        decimals: that are worth showing.
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
        """With its unit."""
        label = self.label or self.name.replace("_", " ")
        return f"{label}, {self.unit}" if self.unit else label

    def of(self, result: Result) -> float | None:
        """Its value for one episode; None where it has none."""
        if self.weight is not None and not result_metrics(result).get(self.weight):
            return None
        return result_metrics(result).get(self.name)

    def in_display_units(self, value: float) -> float:
        """A value as texts and tables show it, in the score's unit."""
        return self.scale * value

    def mean(self, results: Sequence[Result]) -> float:
        """Its value over some episodes; 0 where none has it."""
        rows = [
            (value, result_metrics(result).get(self.weight, 0.0) if self.weight else 1.0)
            for result in results
            if (value := self.of(result)) is not None
        ]
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
"""What every system's episodes take."""


def result_metrics(result: Result) -> dict[str, float]:
    """Scores and usage of an episode, by name."""
    usage = result.usage
    counted = usage.model_dump(exclude={"finish_reasons"})
    return {**result.scores, **counted, "tokens": usage.prompt_tokens + usage.completion_tokens}


def compute_metrics(
    episodes: Sequence[FinishedEpisode], scores: Sequence[Score], failed: Mapping[str, Failure] | None = None
) -> dict[str, Any]:
    """The figures of ``metrics.json``: over all episodes, by scene or the like, and by that and task set.

    Args:
        episodes: first and last line of each record.
        scores: of their system.
        failed: why other episodes failed, by name; they are counted and are in no mean.
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
    """Mean figures of some episodes, by name of the score; ``<name>_stderr`` is a mean's standard error.

    What no episode has, as a system may score one kind of tasks alone, is left out.

    Args:
        results: of the episodes.
        scores: of their system; usage comes with them.
        tasks: of which task each is, for the standard error; see standard_error.
    """
    if not results:
        return {"episodes": 0}
    found: dict[str, Any] = {"episodes": len(results)}
    for score in (*scores, *USAGE):
        if score.name == "tokens" or (score.weight is None and all(score.of(result) is None for result in results)):
            continue
        found[score.name] = score.mean(results)
        if score.error:
            values = [
                (number, value) for number, result in enumerate(results) if (value := score.of(result)) is not None
            ]
            of = None if tasks is None else [tasks[number] for number, _ in values]
            found[f"{score.name}_stderr"] = standard_error([value for _, value in values], of)
    finish_reasons = sum((Counter(result.usage.finish_reasons) for result in results), Counter())
    found |= {"finish_reasons": dict(finish_reasons)} if finish_reasons else {}
    return found | {"ended": dict(Counter(result.ended for result in results).most_common())}


def truncation_warning(figures: Mapping[str, Any], max_tokens: int | None = None) -> str:
    """How many replies of models were cut at their limit, and what to do about it; empty for none.

    Args:
        figures: over all episodes, as summary gives them.
        max_tokens: the limit, as set; None where several were.
    """
    reasons = figures.get("finish_reasons", {})
    cut = reasons.get("length", 0)
    if not cut:
        return ""
    limit = "max_tokens" if max_tokens is None else f"max_tokens={max_tokens}"
    return (
        f"{cut} of {sum(reasons.values())} replies were cut at {limit}, and the lines in which they "
        "were cut are left out; raise it"
    )


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
    off: dict[Hashable, float] = {}
    for name, distance in zip(names, np.asarray(values, dtype=float) - np.mean(values), strict=True):
        off[name] = off.get(name, 0.0) + float(distance)
    return float(np.sqrt(len(off) / (len(off) - 1) * sum(each**2 for each in off.values())) / count)


def _summarize_groups(
    episodes: Sequence[FinishedEpisode], scores: Sequence[Score], key: Callable[[Header], str]
) -> Mapping[str, dict[str, Any]]:
    groups: dict[str, list[FinishedEpisode]] = {}
    for header, result in episodes:
        groups.setdefault(key(header), []).append((header, result))
    return {name: _summarize_episodes(group, scores) for name, group in sorted(groups.items())}


def _summarize_episodes(episodes: Sequence[FinishedEpisode], scores: Sequence[Score]) -> dict[str, Any]:
    return summarize([result for _, result in episodes], scores, [header.task for header, _ in episodes])
