"""What a model's configuration says about its context length and attention, and which computations may be batched."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

# Architectures with plain softmax attention over all earlier tokens that pass extra arguments on to it. Others (soft
# caps, sinks, position biases) keep their own attention.
PLAIN_ATTENTION = frozenset({"llama", "mistral", "olmo2", "phi3", "qwen2", "qwen3", "smollm3"})

# Known kinds of attention in configurations: to all earlier tokens, and to the last ones.
KNOWN_ATTENTION = frozenset({"full_attention", "sliding_attention"})


# Names of the context length in configurations; those of transformers' own architectures map most of them to the first.
_CONTEXT_NAMES = ("max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length", "seq_length", "n_ctx")
_UNLIMITED = 1 << 20


def context_length(config: Any) -> int:
    """Return the number of tokens that a model can read at once, prompt and reply together.

    Args:
        config: Configuration of the model, or of one with several parts.
    """
    text = config.get_text_config()
    found = (getattr(text, name, None) for name in _CONTEXT_NAMES)
    return next((length for length in found if isinstance(length, int) and length > 0), _UNLIMITED)


@dataclass(frozen=True)
class BatchingSupport:
    """Which batched computations give a model's own results.

    Attributes:
        masks: Whether the model accepts a mask for every pair of tokens. Otherwise it attends to a whole row from its
            beginning.
        batches: Whether several rows may be read in one pass.
        holds: Whether keys and values of a prompt may be reused for other rows.
        trees: Whether several texts after one prompt may be read in one pass.
    """

    masks: bool = True
    batches: bool = True
    holds: bool = True
    trees: bool = True

    def describe(self) -> str:
        """Describe what cannot be batched, on one line; empty if everything can."""
        alone = {
            "replies are written one by one": self.batches,
            "every prompt is read from its beginning": self.holds,
            "texts are scored one by one": self.trees,
        }
        found = [words for words, is_together in alone.items() if not is_together]
        return f"{' and '.join(found)}, since together they would differ" if found else ""


def possible_batching(config: Any, arguments: Container[str]) -> BatchingSupport:
    """Return what an architecture may support; ``equivalence_check`` measures whether it does.

    Args:
        config: Configuration of the text model.
        arguments: Arguments of the model's forward pass.
    """
    # These local layers attend to the last columns, and count distances by column.
    has_local_columns = "local" in (getattr(config, "attention_layers", None) or ())
    has_positions = "position_ids" in arguments
    return BatchingSupport(batches=not has_local_columns, trees=has_positions and not has_local_columns)


def attention_windows(config: Any) -> dict[str, int]:
    """Return how many tokens each kind of attention of a model attends to; 0 for all.

    Args:
        config: Configuration of the text model.

    Raises:
        ValueError: If the model has an unknown kind of attention.
    """
    window = getattr(config, "sliding_window", None) if getattr(config, "use_sliding_window", True) else None
    kinds = getattr(config, "layer_types", None) or ["sliding_attention" if window else "full_attention"]
    if unknown := set(kinds) - KNOWN_ATTENTION:
        raise ValueError(f"a {config.model_type} model has {min(unknown).replace('_', ' ')}")
    return {kind: window or 0 if kind == "sliding_attention" else 0 for kind in sorted(set(kinds))}


def longrope_switch(config: Any) -> int | None:
    """Return the length beyond which a model encodes all positions of a pass differently; None if there is none.

    Longrope (arXiv 2402.13753) has one set of factors for texts up to the length of the first training, and another for
    longer texts. Keys read with one set cannot be used with the other.

    Args:
        config: Configuration of the text model.
    """
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    by_kind = [part for part in rope.values() if isinstance(part, Mapping)]
    lengths = [
        part.get("original_max_position_embeddings")
        or getattr(config, "original_max_position_embeddings", None)
        or config.max_position_embeddings
        for part in by_kind or [rope]
        if part.get("rope_type", part.get("type")) == "longrope"
    ]
    return min(lengths, default=None)


def additive_masks(
    windows: Mapping[str, int], positions: Any, columns: Any, seen: Any, dtype: Any, lowest: float
) -> Any:
    """Return masks that are added to attention scores.

    Args:
        windows: See ``attention_windows``.
        positions: Positions of the tokens in their texts, shape (rows, tokens).
        columns: Position of the token in each column of the cache, shape (columns,).
        seen: Which columns a token may attend to apart from windows, shape (rows, tokens, columns).
        dtype: Type of the model.
        lowest: Value where a token may not attend.

    Returns:
        A mask of shape (rows, 1, tokens, columns), or a mask for each kind of attention if there are several.
    """
    masks = {}
    for kind, window in windows.items():
        near = seen & (columns > positions.unsqueeze(-1) - window) if window else seen
        zeros = near.new_zeros(near.shape, dtype=dtype)
        masks[kind] = zeros.masked_fill_(~near, lowest).unsqueeze(1)
    return masks if len(masks) > 1 else next(iter(masks.values()))
