"""Figures over breakfasts: means with standard errors, of one cook's and of one's against another's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from housewise.core.record import Record

SCORES = ("satisfaction", "questions")


def values(records: Iterable[Record], score: str) -> list[float]:
    """A score of every breakfast that has it: there is no satisfaction where no wish applies."""
    return [record.result.scores[score] for record in records if score in record.result.scores]


def mean(found: Sequence[float]) -> dict[str, float | None]:
    """``mean`` and its standard ``error``; None where there is nothing."""
    if not found:
        return {"mean": None, "error": None}
    error = float(np.std(found, ddof=1) / len(found) ** 0.5) if len(found) > 1 else 0.0
    return {"mean": float(np.mean(found)), "error": error}


def figures(records: Sequence[Record]) -> dict[str, Any]:
    """``satisfaction`` and ``questions`` over ``n`` breakfasts."""
    return {**{score: mean(values(records, score)) for score in SCORES}, "n": len(records)}


def more(records: Sequence[Record], others: Sequence[Record]) -> dict[str, Any]:
    """What breakfasts have more than others of the same names, over ``n`` pairs."""
    beside = {record.header.name: record.result.scores for record in others}
    pairs = [(record.result.scores, beside[record.header.name]) for record in records if record.header.name in beside]
    return {**differences(pairs), "n": len(pairs)}


def differences(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """What the first scores of each pair have more than the second, where both have them."""
    kept = list(pairs)
    return {
        score: mean([one[score] - two[score] for one, two in kept if score in one and score in two]) for score in SCORES
    }
