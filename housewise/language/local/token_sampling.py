"""Samples tokens from logits: temperature, nucleus, allowed tokens, and a given random number per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from housewise.language.base import ChatModelError

# Number of likeliest tokens that are searched for a nucleus before the whole vocabulary is sorted.
NUCLEUS = 1024


def sample_tokens(
    logits: Any,
    temperatures: Sequence[float],
    top_ps: Sequence[float],
    draws: Sequence[float],
    allowed: Any = None,
) -> tuple[list[int], list[float]]:
    """Sample the next token of every row.

    Args:
        logits: Logits, shape (rows, vocabulary).
        temperatures: Temperature of each row; 0 is greedy.
        top_ps: Nucleus mass of each row.
        draws: A number in [0, 1) for each row, which alone determines what is sampled.
        allowed: False for tokens that a row may not take, same shape as the logits; every row must have an allowed
            token.

    Returns:
        The tokens, and their log-probabilities under the model before temperature, nucleus and restrictions.

    Raises:
        ChatModelError: If logits are not finite.
    """
    logits = logits.float()
    normalisers = logits.logsumexp(-1, keepdim=True)
    if not normalisers.isfinite().all():
        raise ChatModelError(
            "the model's logits are not finite numbers; its weights or those of its adapter are damaged, or they need "
            "dtype=float32"
        )
    if allowed is not None:
        logits = logits.masked_fill(~torch.as_tensor(allowed, device=logits.device), float("-inf"))
    tokens = logits.argmax(-1, keepdim=True)
    sampled = [row for row, temperature in enumerate(temperatures) if temperature > 0]
    if sampled:
        heat, mass, point = (
            torch.tensor([[values[row]] for row in sampled], dtype=torch.float64, device=logits.device)
            for values in (temperatures, top_ps, draws)
        )
        tokens[sampled] = _draw((logits[sampled] / heat.float()).softmax(-1), mass, point)
    logprobs = logits.gather(1, tokens) - normalisers
    return tokens.squeeze(1).tolist(), logprobs.squeeze(1).tolist()


def top_tokens(logits: Any, counts: Sequence[int]) -> list[list[tuple[int, float]]]:
    """Return the likeliest next tokens of every row.

    Args:
        logits: Logits, shape (rows, vocabulary).
        counts: Number of tokens for each row.

    Returns:
        Tokens with their log-probabilities, likeliest first.
    """
    most = min(max(counts), logits.shape[-1])
    if not most:
        return [[] for _ in counts]
    logits = logits.float()
    values, tokens = logits.topk(most)
    pairs = zip(tokens.tolist(), (values - logits.logsumexp(-1, keepdim=True)).tolist(), strict=True)
    return [list(zip(*pair, strict=True))[:count] for pair, count in zip(pairs, counts, strict=True)]


def _draw(probabilities: Any, top_p: Any, draws: Any) -> Any:
    """Invert each row's cumulative distribution, cut to the nucleus, at its draw."""
    whole = (top_p >= 1).squeeze(1)
    if bool(whole.all()):
        return _invert(probabilities, draws)
    if bool(whole.any()):
        # Each row uses the order of tokens that it would have alone.
        tokens = torch.empty(len(whole), 1, dtype=torch.long, device=probabilities.device)
        for rows in (whole, ~whole):
            tokens[rows] = _draw(probabilities[rows], top_p[rows], draws[rows])
        return tokens
    # Sorting the vocabulary costs more than the model's step, and the nucleus is nearly always among a few tokens.
    ordered, tokens = probabilities.topk(min(NUCLEUS, probabilities.shape[-1]))
    if bool((ordered.sum(-1, keepdim=True) < top_p).any()):
        ordered, tokens = probabilities.sort(descending=True)
    before = ordered.cumsum(-1) - ordered
    return tokens.gather(1, _invert(ordered.masked_fill(before >= top_p, 0.0), draws))


def _invert(weights: Any, draws: Any) -> Any:
    cumulative = weights.double().cumsum(-1)
    total = cumulative[:, -1:].contiguous()
    found = torch.searchsorted(cumulative, draws * total, right=True)
    # A draw close to 1 may be rounded up to the total; tokens after the one that reaches it have no weight.
    return found.minimum(torch.searchsorted(cumulative, total))
