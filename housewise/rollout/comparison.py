"""Paired comparison of two experiments over their common episodes, with confidence intervals."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from housewise.core.errors import UserError
from housewise.core.formatting import plural
from housewise.core.html_tables import html_table, html_text
from housewise.core.plugins import SYSTEMS, plugin_names
from housewise.core.record import Header
from housewise.rollout.comparison_settings import (
    AGENT,
    Experiment,
    find_varying_settings,
    identify_experiment,
    setting_label,
)
from housewise.rollout.scores import USAGE, FinishedEpisode, Score, influence, standard_error
from housewise.rollout.system import find_system, system_scores

Key = tuple[str, str, int]
"""System, task and run of an episode."""

COLUMNS = ("mean of", "A", "B", "B - A", "±", "95 % interval", "> = <")
"""Headings of the table of a comparison; the last is the number of episodes in which B is higher, equal, lower."""

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Difference:
    """Difference of one score between experiments B and A over their common episodes.

    Attributes:
        figure: Name of the score.
        a: Mean of A.
        b: Mean of B.
        mean: Mean of the differences B - A.
        error: Standard error of `mean`, clustered by task, or None for a single task.
        low: Lower end of the 95 % interval (Student's t, number of clusters minus one degrees of freedom), or None.
        high: Upper end of the interval, or None.
        degrees: Degrees of freedom.
        higher: Number of episodes in which B is higher.
        same: Number of episodes in which both are equal.
        lower: Number of episodes in which B is lower.
        decimals: Number of decimals in tables.
    """

    figure: str
    a: float
    b: float
    mean: float
    error: float | None
    low: float | None
    high: float | None
    degrees: int
    higher: int
    same: int
    lower: int
    decimals: int

    def format_cells(self, has_several: bool) -> tuple[str, ...]:
        """Return the cells of a table's row, as in ``COLUMNS``.

        Args:
            has_several: Whether several episodes are compared. With a single one, only the values mean something.
        """
        form = f".{self.decimals}f"
        error = "–" if self.error is None else f"{self.error:{form}}"
        interval = "–" if self.low is None or self.high is None else f"{self.low:+{form}} to {self.high:+{form}}"
        signs = f"{self.higher} {self.same} {self.lower}" if has_several else "–"
        return self.figure, f"{self.a:{form}}", f"{self.b:{form}}", f"{self.mean:+{form}}", error, interval, signs


_MAX_SETTINGS = 3


@dataclass(frozen=True)
class Comparison:
    """Comparison of experiment B with experiment A.

    Attributes:
        a: Name of A.
        b: Name of B.
        episodes: Number of episodes of each.
        common: Number of episodes that both played from the same initial state and with the same wishes.
        tasks: Number of distinct tasks among the common episodes.
        only_a: Episodes that only A played.
        only_b: Episodes that only B played.
        other_tasks: Episodes of equal name whose tasks differ in objects, places or wishes.
        settings: Settings in which the two differ, with both values.
        warnings: Reasons to doubt the comparison.
        differences: Differences by score, success first.
    """

    a: str
    b: str
    episodes: tuple[int, int]
    common: int
    tasks: int
    only_a: list[str]
    only_b: list[str]
    other_tasks: list[str]
    settings: dict[str, tuple[str, str]]
    warnings: list[str]
    differences: list[Difference]

    @property
    def content(self) -> dict[str, Any]:
        """The comparison as JSON-compatible values."""
        return asdict(self)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The rows of its table, as in ``COLUMNS``."""
        return [each.format_cells(self.common > 1) for each in self.differences]

    def _repr_html_(self) -> str:
        """Return the comparison as a table for notebooks."""
        settings = [f"{key}: {a} | {b}" for key, (a, b) in self.settings.items()]
        caption = f"A: {self.a}; B: {self.b}; {plural(self.common, 'episode')} in common"
        return "".join([html_table(caption, COLUMNS, self.rows), *map(html_text, [*settings, *self.warnings])])

    @property
    def episode_summary(self) -> str:
        """Which episodes are compared, in one line."""
        first, second = self.episodes
        told = f"{self.a}: {plural(first, 'episode')}; {self.b}: {plural(second, 'episode')}; {self.common} in common"
        told += f" ({plural(self.tasks, 'task')})" if self.tasks != self.common else ""
        return told + (f"; {len(self.other_tasks)} are other tasks of one name" if self.other_tasks else "")

    @property
    def settings_summary(self) -> str:
        """In which settings the two differ, in one sentence; the first few by name."""
        if not self.settings:
            return "The settings are the same."
        named = [f"{key} ({one}, {other})" for key, (one, other) in list(self.settings.items())[:_MAX_SETTINGS]]
        more = len(self.settings) - len(named)
        if more:
            return f"The settings differ in {', '.join(named)} and {more} more."
        return f"The settings differ in {' and '.join(named)} alone."


def compare(
    a: Sequence[FinishedEpisode], b: Sequence[FinishedEpisode], names: tuple[str, str] = ("A", "B")
) -> Comparison:
    """Compare two experiments.

    Args:
        a: Header and result of each episode of experiment A.
        b: Header and result of each episode of experiment B.
        names: Names of the two.

    Raises:
        UserError: The experiments have no episode in common.
    """
    ours, theirs = _group_by_episode(a), _group_by_episode(b)
    both = sorted(ours.keys() & theirs.keys())
    common = [key for key in both if _task_key(ours[key][0][0]) == _task_key(theirs[key][0][0])]
    settings = _settings(a, b)
    if not common:
        raise UserError(f"{names[0]} and {names[1]}: {_explain_no_common_episode(both, settings)}")
    tasks = [key[:2] for key in common]
    scores = [*system_scores(common[0][0]), *(score for score in USAGE if score.name in ("tokens", "seconds"))]
    return Comparison(
        *names,
        episodes=(len(ours), len(theirs)),
        common=len(common),
        tasks=len(set(tasks)),
        only_a=_format_episodes(ours.keys() - theirs.keys()),
        only_b=_format_episodes(theirs.keys() - ours.keys()),
        other_tasks=_format_episodes(set(both) - set(common)),
        settings=settings,
        warnings=_warnings(settings, ours, theirs),
        differences=[
            found
            for score in scores
            if not score.total
            if (
                found := _difference(
                    score, [(key[:2], ours[key], theirs[key]) for key in common], zeros=score is scores[0]
                )
            )
        ],
    )


def _difference(
    score: Score, pairs: Iterable[tuple[Any, list[FinishedEpisode], list[FinishedEpisode]]], zeros: bool
) -> Difference | None:
    """Return the difference of one score over the episodes in which both have it.

    Means are weighted as those of ``metrics.json`` are. Returns None if there are none, or if all values are zero and
    `zeros` is false.
    """
    rows = [(task, _weighted_mean(score, ours), _weighted_mean(score, theirs)) for task, ours, theirs in pairs]
    told = [(task, one, other) for task, one, other in rows if one is not None and other is not None]
    if not told or not (zeros or any(one[0] or other[0] for _, one, other in told)):
        return None
    tasks = [task for task, _, _ in told]
    first, second = (_shares(score, [row[place] for row in told]) for place in (1, 2))
    off = second - first
    signs = np.sign([other[0] - one[0] for _, one, other in told])
    return Difference(
        score.heading,
        float(first.mean()),
        float(second.mean()),
        float(off.mean()),
        *error_and_interval(off, tasks),
        int((signs > 0).sum()),
        int((signs == 0).sum()),
        int((signs < 0).sum()),
        score.decimals,
    )


def error_and_interval(
    off: np.ndarray, clusters: Sequence[Hashable]
) -> tuple[float | None, float | None, float | None, int]:
    """Return the clustered standard error of a mean, the ends of its 95 % interval, and the degrees of freedom.

    With a single cluster, error and ends are None.
    """
    mean, error, degrees = float(off.mean()), standard_error(off.tolist(), clusters), len(set(clusters)) - 1
    if error is None:
        return None, None, None, degrees
    reach = error * float(stdtrit(degrees, 0.5 + _CONFIDENCE / 2))
    return error, mean - reach, mean + reach, degrees


def _weighted_mean(score: Score, episodes: Sequence[FinishedEpisode]) -> tuple[float, float] | None:
    """Return the displayed value of a score for an episode and its weight, averaged over duplicates of it."""
    results = [result for _, result in episodes if score.value_in(result) is not None]
    if not results:
        return None
    # Weighting a single value may round it, so that equal episodes would differ.
    value = score.mean(results) if len(results) > 1 else float(score.value_in(results[0]) or 0.0)
    return score.in_display_units(value), float(np.mean([score.weight_in(each) for each in results]))


def _shares(score: Score, episodes: Sequence[tuple[float, float]]) -> np.ndarray:
    """Return the shares of values with weights in their mean."""
    values, weights = zip(*episodes, strict=True)
    return np.array(values, dtype=np.float64) if score.weight is None else influence(values, weights)


def _group_by_episode(episodes: Iterable[FinishedEpisode]) -> dict[Key, list[FinishedEpisode]]:
    found: dict[Key, list[FinishedEpisode]] = {}
    for header, result in episodes:
        found.setdefault((header.system, header.task, header.repetition), []).append((header, result))
    return found


def _task_key(header: Header) -> Any:
    """Return what must be equal for two episodes to be the same task."""
    if header.system not in plugin_names(SYSTEMS):
        return header.initial_state
    try:
        return find_system(header.system).task_key(header.initial_state)
    except (LookupError, TypeError, ValueError, AttributeError):  # records of other programs may lack parts
        return header.initial_state


def _settings(a: Iterable[FinishedEpisode], b: Iterable[FinishedEpisode]) -> dict[str, tuple[str, str]]:
    ours, theirs = ({identify_experiment(header) for header, _ in episodes} for episodes in (a, b))
    return {key: (_values(key, ours), _values(key, theirs)) for key in find_varying_settings(ours | theirs)}


def _values(key: str, experiments: Iterable[Experiment]) -> str:
    return ", ".join(sorted({dict(one)[key] for one in experiments if key in dict(one)})) or "–"


def _warnings(
    settings: dict[str, tuple[str, str]],
    ours: dict[Key, list[FinishedEpisode]],
    theirs: dict[Key, list[FinishedEpisode]],
) -> list[str]:
    more = [key for key in settings if key not in AGENT]
    told = [f"{setting_label(key)}: {settings[key][0]} against {settings[key][1]}" for key in more]
    found = [f"the experiments differ in more than the agent ({'; '.join(told)})"] if told else []
    for name, episodes in (("A", ours), ("B", theirs)):
        twice = sum(len(each) > 1 for each in episodes.values())
        if twice:
            found.append(f"{plural(twice, 'episode')} of {name} exist more than once; their mean is compared")
    return found


def _explain_no_common_episode(both: Sequence[Key], settings: dict[str, tuple[str, str]]) -> str:
    if not both:
        return "no episode in common; play the same houses, or the same scene and episodes, with both"
    tasks = [
        f"{setting_label(key)} {ours} against {theirs}" for key, (ours, theirs) in settings.items() if key not in AGENT
    ]
    return (
        f"{plural(len(both), 'episode')} of the same name, but not of the same task: objects, places or wishes differ "
        f"({'; '.join(tasks) or 'made by other versions or with other data'}); play both with the same person and "
        "houses"
    )


def _format_episodes(keys: Iterable[Key]) -> list[str]:
    return [f"{task}, run {run}" for _, task, run in sorted(keys)]
