"""Filters: functions that select the demonstrations a model learns from; the setting ``filter.name`` names one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from housewise.core.errors import UserError
from housewise.core.plugins import FILTERS, call_plugin
from housewise.core.printable_text import excerpt
from housewise.core.user_code import load_plugin_or_code
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.worlds.house.spoken_names import kind_from_name


@dataclass(frozen=True)
class FilterSettings:
    """Settings of filters.

    Attributes:
        iteration: Iteration of self-training, from 0.
        thresholds: Reward threshold of ``rising`` by iteration; the last one stays.
        max_per_object: Largest number of demonstrations of ``balanced`` that may move objects of one kind.
        seed: Seed of the selection of ``balanced``.
    """

    iteration: int = 0
    thresholds: tuple[float, ...] = (0.0,)
    max_per_object: int = 10
    seed: int = 0


Filter = Callable[[Sequence[EpisodeDemonstration], FilterSettings], list[EpisodeDemonstration]]


def positive(pairs: Sequence[EpisodeDemonstration], settings: FilterSettings) -> list[EpisodeDemonstration]:
    """Keep replies whose plan has a positive reward (LLM-Personalize, section 3.3.2).

    The paper's reward of a plan, 1, 0 or -1, is the sign of the sum of the rewards of its actions.
    """
    return [pair for pair in pairs if pair.reward > 0]


def corrected(pairs: Sequence[EpisodeDemonstration], settings: FilterSettings) -> list[EpisodeDemonstration]:
    """Keep replies that improved the house, or that were relabelled (``target=relabelled``)."""
    return [pair for pair in pairs if pair.reward > 0 or pair.mistaken]


def rising(pairs: Sequence[EpisodeDemonstration], settings: FilterSettings) -> list[EpisodeDemonstration]:
    """Keep replies with a reward above a threshold that rises with each iteration (ReST, arXiv 2308.08998)."""
    threshold = settings.thresholds[min(settings.iteration, len(settings.thresholds) - 1)]
    return [pair for pair in pairs if pair.reward > threshold]


def balanced(pairs: Sequence[EpisodeDemonstration], settings: FilterSettings) -> list[EpisodeDemonstration]:
    """Keep a random selection of replies that improved the house, with a limit for each kind of moved object."""
    good = [index for index, pair in enumerate(pairs) if pair.reward > 0]
    counts: Counter[str] = Counter()
    kept: list[int] = []
    for index in np.random.default_rng(settings.seed).permutation(good).tolist():
        kinds = _kinds(pairs[index])
        if all(counts[kind] < settings.max_per_object for kind in kinds):
            counts.update(kinds)
            kept.append(index)
    return [pairs[index] for index in sorted(kept)]


def find_filter(name: str) -> Filter:
    """Return a filter by name, or a function named as ``module:function``, whose module is imported and so executed.

    Raises:
        UserError: There is no such filter.
    """
    found = load_plugin_or_code(FILTERS, name, "filter")
    if not callable(found):
        raise UserError(f"filter {name!r}: {excerpt(repr(found))} is not a function; see docs/extending.md")
    return cast(Filter, found)


def apply_filter(
    name: str, pairs: Sequence[EpisodeDemonstration], settings: FilterSettings
) -> tuple[list[EpisodeDemonstration], dict[str, Any]]:
    """Filter demonstrations.

    Returns:
        The demonstrations that are kept, and the statistics for ``filter.json``.

    Raises:
        UserError: There is no such filter, or it returns something else.
    """
    kept = call_plugin(find_filter(name), f"filter {name!r}", pairs, settings)
    if not isinstance(kept, list) or not all(isinstance(pair, EpisodeDemonstration) for pair in kept):
        raise UserError(f"filter {name!r}: returned {excerpt(repr(kept))}, not a list of pairs; see docs/extending.md")
    return kept, {"filter": name, "pairs": demonstration_statistics(pairs), "kept": demonstration_statistics(kept)}


def demonstration_statistics(pairs: Sequence[EpisodeDemonstration]) -> dict[str, Any]:
    """Return the number of demonstrations, their rewards, the kinds of moved objects, and the number of episodes."""
    rewards = [pair.reward for pair in pairs]
    return {
        "count": len(pairs),
        "mean_reward": float(np.mean(rewards)) if rewards else 0.0,
        "rewards": {f"{reward:g}": count for reward, count in sorted(Counter(rewards).items())},
        "moved": dict(Counter(kind for pair in pairs for kind in _kinds(pair)).most_common()),
        "mistaken": sum(pair.mistaken for pair in pairs),
        "complete": sum(pair.complete for pair in pairs),
        "episodes": len({(pair.scene, pair.episode, pair.run) for pair in pairs}),
    }


def _kinds(pair: EpisodeDemonstration) -> tuple[str, ...]:
    """Return the kinds of the objects that a demonstration moves: their names without numbers."""
    return tuple(sorted({kind_from_name(name) for name in pair.moved}))
