"""Tells how many tokens a model reads."""

from __future__ import annotations

from typing import Any

# What configurations call it; those of transformers' own architectures pass most of these on to the first.
_NAMES = ("max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length", "seq_length", "n_ctx")
_UNLIMITED = 1 << 20


def context_length(config: Any) -> int:
    """Return the number of tokens that a model reads at once, prompt and reply together.

    Args:
        config: Of the model; that of a model with several parts has one for texts.
    """
    text = config.get_text_config()
    found = (getattr(text, name, None) for name in _NAMES)
    return next((length for length in found if isinstance(length, int) and length > 0), _UNLIMITED)
