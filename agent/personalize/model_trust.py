"""Trust in a model's common sense: how far its placement scores agree with the notes that there are.

A model that has not met a person goes by what is usual. How sharp its scores may count for this person is an inverse
temperature: at 1 the model is believed word for word, at 0 not at all. The notes say which one makes them most likely.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_TEMPERATURES = np.array([0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0])
"""Inverse temperatures that are compared."""
_SMALLEST = 1e-3
"""Probability below which a note counts as no less likely: one note alone cannot end the trust."""
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
class ScoredNote:
    """The scores of a kind of object that notes are about.

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
    """Trust in a model, from 0 to 1.

    Attributes:
        familiar: For kinds of objects that the model was trained to judge.
        unfamiliar: For other kinds.
    """

    familiar: float
    unfamiliar: float


def estimate_trust(notes: Iterable[ScoredNote], prior: TrustPrior = TRUST_PRIOR) -> ModelTrust:
    """Return the trust in a model, the mean of its posterior distribution given notes.

    Args:
        notes: Kinds of objects with notes.
        prior: Trust before any note.
    """
    scored = list(notes)

    def mean(center: float, is_familiar: bool) -> float:
        distance = np.log((_TEMPERATURES + _OFFSET) / (center + _OFFSET)) / prior.spread
        logs = -0.5 * distance**2 + sum(_log_likelihood(note) for note in scored if note.is_familiar == is_familiar)
        weights = np.exp(logs - logs.max())
        return float(weights @ _TEMPERATURES / weights.sum())

    return ModelTrust(mean(prior.familiar, True), mean(prior.unfamiliar, False))


def shares(scores: Sequence[float], trust: float) -> NDArray[np.float64]:
    """Return the shares of placements by their scores, which sum to one: equal ones without trust.

    Args:
        scores: Log-probability of each placement.
        trust: Inverse temperature.
    """
    logs = trust * np.asarray(scores, float)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _log_likelihood(note: ScoredNote) -> NDArray[np.float64]:
    """Return how much likelier the notes about a kind are at each inverse temperature than without trust."""
    wanted = np.array([each is True for each in note.wanted])
    unwanted = np.array([each is False for each in note.wanted])
    found = np.zeros(len(_TEMPERATURES))
    for index, temperature in enumerate(_TEMPERATURES):
        each = shares(note.scores, temperature)
        if wanted.any():
            found[index] += np.log(max(each[wanted].sum(), _SMALLEST) / wanted.mean())
        if unwanted.any() and not unwanted.all():
            found[index] += np.log(max(1 - each[unwanted].sum(), _SMALLEST) / (1 - unwanted.mean()))
    return found
