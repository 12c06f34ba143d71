"""Draws tokens by their logits: temperature, nucleus, what is allowed, and one given number in place of chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from housewise.language.base import ChatModelError

# Likeliest tokens that a nucleus is looked for in before the whole vocabulary is sorted.
NUCLEUS = 1024


def sample_tokens(
    logits: Any,
    temperatures: Sequence[float],
    top_ps: Sequence[float],
    draws: Sequence[float],
    allowed: Any = None,
) -> tuple[list[int], list[float]]:
    """Choose the next token of every row.

    Args:
        logits: one row each.
        temperatures: 0 takes the likeliest token.
        top_ps: nucleus mass of each row.
        draws: a number in [0, 1) for each row, which alone decides what a row samples.
        allowed: False where a row may not take a token, an array like the logits; every row has to have a choice.

    Returns:
        The tokens, and their log-probabilities under the model as it is (before temperature, nucleus and what is not
        allowed).

    Raises:
        ChatModelError: when the logits are no numbers.
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
    """The likeliest next tokens of every row.

    Args:
        logits: one row each.
        counts: how many are wanted of each row.

    Returns:
        Tokens with their log-probabilities, the likeliest first.
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
        # Each in the order of tokens that it would have alone.
        tokens = torch.empty(len(whole), 1, dtype=torch.long, device=probabilities.device)
        for rows in (whole, ~whole):
            tokens[rows] = _draw(probabilities[rows], top_p[rows], draws[rows])
        return tokens
    # Sorting a whole vocabulary costs more than the model's own step; the nucleus is nearly always in the first few.
    ordered, tokens = probabilities.topk(min(NUCLEUS, probabilities.shape[-1]))
    if bool((ordered.sum(-1, keepdim=True) < top_p).any()):
        ordered, tokens = probabilities.sort(descending=True)
    before = ordered.cumsum(-1) - ordered
    return tokens.gather(1, _invert(ordered.masked_fill(before >= top_p, 0.0), draws))


def _invert(weights: Any, draws: Any) -> Any:
    cumulative = weights.double().cumsum(-1)
    total = cumulative[:, -1:].contiguous()
    found = torch.searchsorted(cumulative, draws * total, right=True)
    # A draw next to 1 may round up to the total; tokens behind the one that reaches it have no weight.
    return found.minimum(torch.searchsorted(cumulative, total))
