"""Trust in a model's common sense: how far its placement scores agree with the notes that there are.

A model that has not met a person goes by what is usual. Trust is the inverse temperature of its scores: at 1 they count
as they are, at 0 all placements are equally likely. It is estimated as what makes the notes likely.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

_TEMPERATURES = np.array([0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0])
"""Inverse temperatures that are compared."""
_SMALLEST = 1e-3
"""Least probability that the notes about a kind can have, so that one kind alone cannot end the trust."""
_OFFSET = 0.02
"""Added to inverse temperatures before their logarithm is taken, so that 0 has one."""


@dataclass(frozen=True)
class TrustPrior:
    """Trust before any note, as a log-normal distribution.

    Attributes:
        familiar: Its centre for kinds of objects that the model was trained to judge.
        unfamiliar: Its centre for other kinds.
        spread: Its standard deviation, of the natural logarithm.
    """

    familiar: float = 0.3
    unfamiliar: float = 0.1
    spread: float = 0.5


TRUST_PRIOR = TrustPrior()


@dataclass(frozen=True)
class ScoredKind:
    """A kind of object that notes are about.

    Attributes:
        scores: Log-probability of each placement.
        wanted: What notes say about each placement. None for nothing.
        is_familiar: Whether the model was trained to judge the kind.
    """

    scores: Sequence[float]
    wanted: Sequence[bool | None]
    is_familiar: bool


@dataclass(frozen=True)
class ModelTrust:
    """Trust in a model: an inverse temperature from 0 to 1.

    Attributes:
        familiar: For kinds of objects that the model was trained to judge.
        unfamiliar: For other kinds.
    """

    familiar: float
    unfamiliar: float


def estimate_trust(kinds: Iterable[ScoredKind]) -> ModelTrust:
    """Return the trust in a model, the mean of its posterior distribution given notes.

    Args:
        kinds: Kinds of objects with notes.
    """
    scored = list(kinds)

    def mean(center: float, is_familiar: bool) -> float:
        distance = np.log((_TEMPERATURES + _OFFSET) / (center + _OFFSET)) / TRUST_PRIOR.spread
        logs = -0.5 * distance**2 + sum(_log_likelihood(kind) for kind in scored if kind.is_familiar == is_familiar)
        return float(softmax(logs) @ _TEMPERATURES)

    return ModelTrust(mean(TRUST_PRIOR.familiar, True), mean(TRUST_PRIOR.unfamiliar, False))


def placement_probabilities(scores: Sequence[float], trust: float) -> NDArray[np.float64]:
    """Return the probabilities of placements, which sum to one: equal ones without trust.

    Args:
        scores: Log-probability of each placement.
        trust: Inverse temperature.
    """
    return np.asarray(softmax(trust * np.asarray(scores, float)))


def _log_likelihood(kind: ScoredKind) -> NDArray[np.float64]:
    """Return how much likelier the notes about a kind are at each inverse temperature than without trust."""
    wanted = np.array([each is True for each in kind.wanted])
    unwanted = np.array([each is False for each in kind.wanted])
    found = np.zeros(len(_TEMPERATURES))
    for index, temperature in enumerate(_TEMPERATURES):
        each = placement_probabilities(kind.scores, temperature)
        if wanted.any():
            found[index] += np.log(max(each[wanted].sum(), _SMALLEST) / wanted.mean())
        if unwanted.any() and not unwanted.all():
            found[index] += np.log(max(1 - each[unwanted].sum(), _SMALLEST) / (1 - unwanted.mean()))
    return found
