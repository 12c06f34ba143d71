"""Compares log-probabilities of trainer and server: the server must answer with the adapter that was trained.

An adapter that a server silently does not apply, another base model, chat template or scaling all show here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from housewise.core.errors import UserError
from housewise.selftrain.trainers.logprobs import ScoredPair

# The server must be so many times nearer to the trained model than to its base.
_NEARER = 2.0


@dataclass(frozen=True)
class LogprobComparison:
    """Mean absolute differences of the log-probability of a token of a reply.

    Attributes:
        pairs: Number of compared replies.
        tokens: Number of compared tokens.
        difference: Between trainer and server.
        from_base: Between server and base model; None without an adapter.
    """

    pairs: int
    tokens: int
    difference: float
    from_base: float | None


def compare_logprobs(
    where: str, expected: Sequence[ScoredPair], served: Sequence[Sequence[tuple[int, float]]], max_difference: float
) -> LogprobComparison:
    """Compare what a server answers with what the trainer computed.

    Args:
        where: Name of the model and the server, for errors.
        expected: Pairs as the trainer scored them.
        served: For each pair, the tokens after the first with their log-probabilities at the server.
        max_difference: Largest mean difference.

    Raises:
        UserError: The server answers with something else than the trained model.
    """
    model: list[float] = []
    base: list[float] = []
    found: list[float] = []
    for number, (pair, tokens) in enumerate(zip(expected, served, strict=True), start=1):
        _check_tokens(where, number, pair.tokens[1:], [token for token, _ in tokens])
        model += pair.model
        base += pair.base or ()
        found += [logprob for _, logprob in tokens[-pair.reply :]]
    server = np.array(found)
    difference = float(np.abs(server - np.array(model)).mean())
    from_base = float(np.abs(server - np.array(base)).mean()) if base else None
    figures = f"log-probabilities differ by {difference:.3g} a token from the trainer's"
    if from_base is not None and from_base <= difference:
        raise UserError(
            f"{where}: does not apply the trained adapter: {figures} and by {from_base:.3g} from the base model's; "
            "restart the server and run the same command again"
        )
    if not difference <= max_difference:
        raise UserError(
            f"{where}: {figures}, at most {max_difference:g} is allowed; serve the model that is trained, in its "
            "precision, or raise rollouts.max_difference"
        )
    if from_base is not None and from_base < _NEARER * difference:
        raise UserError(
            f"{where}: {figures} and by {from_base:.3g} from the base model's, so that nothing shows whether the "
            "trained adapter is applied; raise training.learning_rate or training.epochs"
        )
    return LogprobComparison(len(expected), len(found), difference, from_base)


def _check_tokens(where: str, number: int, expected: Sequence[int], served: Sequence[int]) -> None:
    """Check that the server reads a prompt in the tokens that were trained."""
    if list(expected) == list(served):
        return
    first = next((n for n, (one, other) in enumerate(zip(expected, served, strict=False)) if one != other), None)
    place = min(len(expected), len(served)) if first is None else first
    raise UserError(
        f"{where}: reads prompt {number} in other tokens than the training, from token {place + 2} on "
        f"({len(served) + 1} instead of {len(expected) + 1} tokens); serve the model that is trained, with its own "
        "chat template and the same chat_template_kwargs"
    )
