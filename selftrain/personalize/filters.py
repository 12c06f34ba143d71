"""Which pairs a model learns from: small functions, one of which the settings name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from housewise.core.errors import UserError, excerpt
from housewise.core.plugins import FILTERS, call_plugin
from housewise.core.user_code import load_plugin_or_code
from housewise.selftrain.personalize.pairs import Pair
from housewise.worlds.house.names import kind_of


@dataclass(frozen=True)
class FilterSettings:
    """What filters may go by.

    Attributes:
        iteration: of self-training, from 0.
        thresholds: of ``rising``, by iteration; the last one stays.
        most_per_object: of ``balanced``, pairs that may move objects of one kind.
        seed: decides what ``balanced`` keeps of too many.
    """

    iteration: int = 0
    thresholds: tuple[float, ...] = (0.0,)
    most_per_object: int = 10
    seed: int = 0


Filter = Callable[[Sequence[Pair], FilterSettings], list[Pair]]


def positive(pairs: Sequence[Pair], settings: FilterSettings) -> list[Pair]:
    """What made the house better (LLM-Personalize, section 3.3)."""
    return [pair for pair in pairs if pair.reward > 0]


def corrected(pairs: Sequence[Pair], settings: FilterSettings) -> list[Pair]:
    """What made the house better, or had to be corrected (``wording=corrected``)."""
    return [pair for pair in pairs if pair.reward > 0 or pair.mistaken]


def rising(pairs: Sequence[Pair], settings: FilterSettings) -> list[Pair]:
    """What is above a threshold that rises from iteration to iteration (ReST, arXiv 2308.08998)."""
    threshold = settings.thresholds[min(settings.iteration, len(settings.thresholds) - 1)]
    return [pair for pair in pairs if pair.reward > threshold]


def balanced(pairs: Sequence[Pair], settings: FilterSettings) -> list[Pair]:
    """What made the house better, drawn at random without any kind of object being moved by more than its share."""
    good = [index for index, pair in enumerate(pairs) if pair.reward > 0]
    had: Counter[str] = Counter()
    kept: list[int] = []
    for index in np.random.default_rng(settings.seed).permutation(good).tolist():
        kinds = _kinds(pairs[index])
        if all(had[kind] < settings.most_per_object for kind in kinds):
            had.update(kinds)
            kept.append(index)
    return [pairs[index] for index in sorted(kept)]


def find_filter(name: str) -> Filter:
    """A filter by name, or any function of the same form as ``module:function``, whose module is imported and so run.

    Raises:
        UserError: when there is none.
    """
    found = load_plugin_or_code(FILTERS, name, "filter")
    if not callable(found):
        raise UserError(f"filter {name!r}: {excerpt(repr(found))} is not a function; see docs/extending.md")
    return cast(Filter, found)


def apply(name: str, pairs: Sequence[Pair], settings: FilterSettings) -> tuple[list[Pair], dict[str, Any]]:
    """Filter pairs.

    Returns:
        What is kept, and the statistics of ``filter.json``.

    Raises:
        UserError: when there is no such filter, or nothing is kept.
    """
    kept = call_plugin(find_filter(name), f"filter {name!r}", pairs, settings)
    if not isinstance(kept, list) or not all(isinstance(pair, Pair) for pair in kept):
        raise UserError(f"filter {name!r}: gave back {excerpt(repr(kept))}, not a list of pairs; see docs/extending.md")
    if not kept:
        best = max((pair.reward for pair in pairs), default=0.0)
        raise UserError(
            f"filter {name} keeps none of {len(pairs)} pairs (the best reward is {best:g}): there is nothing to learn "
            "from; go on with more grow.runs or a milder filter, or begin in another folder and imitate longer first"
        )
    return kept, {"filter": name, "pairs": statistics(pairs), "kept": statistics(kept)}


def statistics(pairs: Sequence[Pair]) -> dict[str, Any]:
    """How many pairs, their rewards, the kinds of object that they move, and the episodes that they come from."""
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


def _kinds(pair: Pair) -> tuple[str, ...]:
    """Kinds of the objects that a pair moves: their names without the numbers."""
    return tuple(sorted({kind_of(name) for name in pair.moved}))
