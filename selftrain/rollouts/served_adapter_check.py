"""Compares log-probabilities of trainer and server: the server must answer with the adapter that was trained.

An adapter that a server silently does not apply, another base model, chat template or scaling all show here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from housewise.core.errors import UserError
from housewise.selftrain.trainers.logprobs import ScoredPair

Scores = Sequence[Sequence[tuple[int, float]]]
"""For each pair, its tokens after the first with their log-probabilities at a server."""

_APPLIED = 0.25
"""Share of an adapter's effect below which it counts as not applied."""
_SHARES = (0.75, 1.33)
"""Shares of an adapter's effect that rounding explains."""
_NOISE_FACTOR = 3.0
_SAME_MODEL = "serve the model that is trained, in its precision, or raise rollouts.max_difference"
_RESTART = (
    "restart the server and run the same command again; if the server's precision is lower than that of the training, "
    "serve in that one, such as rollouts.options=[--dtype, float32]"
)


@dataclass(frozen=True)
class LogprobComparison:
    """Mean absolute differences of the log-probability of a token of a reply.

    Attributes:
        pairs: Number of compared replies.
        tokens: Number of compared tokens.
        base_difference: Between trainer and server, both without the adapter. This is rounding.
        difference: Between trainer and server, both with the adapter. None without one.
        effect: Of the adapter, at the trainer. None without one.
        share: Share of that effect that the server shows, by least squares: 1 where the adapter is applied, 0 where it
            is not. None without one.
    """

    pairs: int
    tokens: int
    base_difference: float
    difference: float | None = None
    effect: float | None = None
    share: float | None = None


def compare_logprobs(
    where: str,
    expected: Sequence[ScoredPair],
    base: Scores,
    adapted: Scores | None,
    max_difference: float,
    remedy: str | None = None,
) -> LogprobComparison:
    """Compare what a server answers with what the trainer computed.

    Args:
        where: Name of the model and the server, for errors.
        expected: Pairs as the trainer scored them.
        base: Scores of the server's base model.
        adapted: Scores of the server's adapter, or None without one.
        max_difference: Largest mean difference of a token under the base model.
        remedy: What to do where the base models differ, if that is known.

    Raises:
        UserError: The server answers with something else than the trained model.
    """
    served = _served(where, expected, base)
    trained = _values([each.model if each.base is None else each.base for each in expected])
    base_difference = _mean(served - trained)
    if not base_difference <= max_difference:
        raise UserError(
            f"{where}: log-probabilities of its base model differ by {base_difference:.3g} a token from the trainer's, "
            f"at most {max_difference:g} is allowed; {remedy or _SAME_MODEL}"
        )
    if adapted is None:
        return LogprobComparison(len(expected), len(served), base_difference)
    effect = _values([each.model for each in expected]) - trained
    served_effect = _served(where, expected, adapted) - served
    if not effect.any():
        raise UserError(
            f"{where}: the trained adapter changes no log-probability, so that nothing shows whether it is applied; "
            "raise the learning rate or the number of epochs of its training"
        )
    share = float(served_effect @ effect / (effect @ effect))
    difference = _mean(served_effect - effect + served - trained)
    found = f"{share:.0%} of its effect of {_mean(effect):.3g} a token shows"
    if share < _APPLIED:
        raise UserError(f"{where}: does not apply the trained adapter ({found}); {_RESTART}")
    limit = _NOISE_FACTOR * base_difference + (1.0 - _SHARES[0]) * _mean(effect)
    if not (_SHARES[0] <= share <= _SHARES[1] and difference <= limit):
        raise UserError(
            f"{where}: applies another adapter than the trained one, or with another scale ({found}, and "
            f"log-probabilities differ by {difference:.3g} a token from the trainer's); {_RESTART}"
        )
    return LogprobComparison(len(expected), len(served), base_difference, difference, _mean(effect), share)


def _served(where: str, expected: Sequence[ScoredPair], scores: Scores) -> NDArray[np.float64]:
    """Return the log-probabilities of all replies, after a check that the server reads the tokens that were trained."""
    found: list[Sequence[float]] = []
    for number, (pair, tokens) in enumerate(zip(expected, scores, strict=True), start=1):
        _check_tokens(where, number, pair.tokens[1:], [token for token, _ in tokens])
        found.append([logprob for _, logprob in tokens[-pair.reply :]])
    return _values(found)


def _check_tokens(where: str, number: int, expected: Sequence[int], served: Sequence[int]) -> None:
    if list(expected) == list(served):
        return
    pairs = zip(expected, served, strict=False)
    shared = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(expected), len(served)))
    raise UserError(
        f"{where}: reads prompt {number} in other tokens than the training, from token {shared + 2} on "
        f"({len(served) + 1} instead of {len(expected) + 1} tokens); serve the model that is trained, with its own "
        "chat template and the same chat_template_kwargs; a model that thinks needs "
        "run.chat_template_kwargs={enable_thinking: false}, in another folder if this one has episodes"
    )


def _values(scores: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    return np.array([value for each in scores for value in each], dtype=np.float64)


def _mean(differences: NDArray[np.float64]) -> float:
    return float(np.abs(differences).mean())
