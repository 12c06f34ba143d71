"""What a model's configuration says of its attention: who sees whom, and what may be computed together."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

# Architectures with plain softmax attention over all earlier tokens, which pass on to it what they are called with.
# Others (soft caps, sinks, biases by distance) keep their own attention.
PLAIN_ATTENTION = frozenset({"llama", "mistral", "olmo2", "phi3", "qwen2", "qwen3", "smollm3"})

# Kinds of attention, as configurations call them: to all earlier tokens, and to the last ones.
KNOWN_ATTENTION = frozenset({"full_attention", "sliding_attention"})


@dataclass(frozen=True)
class BatchingSupport:
    """The ways of computing that give a model's own results.

    Attributes:
        masks: It takes a mask for every pair of tokens; otherwise it sees what stands in a row from its beginning on.
        batches: Several rows may be read in one pass.
        holds: What was read of a beginning may be kept for other rows.
        trees: Several texts behind one prompt may be read in one pass.
    """

    masks: bool = True
    batches: bool = True
    holds: bool = True
    trees: bool = True

    def describe(self) -> str:
        """What is done one by one, in a line; nothing where all is done together."""
        alone = {
            "replies are written one by one": self.batches,
            "every prompt is read from its beginning": self.holds,
            "texts are scored one by one": self.trees,
        }
        found = [words for words, is_together in alone.items() if not is_together]
        return f"{' and '.join(found)}, since together they would differ" if found else ""


def possible_batching(config: Any, arguments: Container[str]) -> BatchingSupport:
    """The ways of computing that an architecture may be able to do; whether it is has to be measured.

    Args:
        config: The text model's configuration.
        arguments: Of the model's forward pass.
    """
    # Local layers that see the last columns, whatever stands in them, and distances that are counted by column.
    has_local_columns = "local" in (getattr(config, "attention_layers", None) or ())
    has_positions = "position_ids" in arguments
    return BatchingSupport(batches=not has_local_columns, trees=has_positions and not has_local_columns)


def attention_windows(config: Any) -> dict[str, int]:
    """How many tokens each kind of attention of a model sees; 0 for all.

    Args:
        config: The text model's configuration.

    Raises:
        ValueError: When it has a kind of attention that is not known here.
    """
    window = getattr(config, "sliding_window", None) if getattr(config, "use_sliding_window", True) else None
    kinds = getattr(config, "layer_types", None) or ["sliding_attention" if window else "full_attention"]
    if unknown := set(kinds) - KNOWN_ATTENTION:
        raise ValueError(f"a {config.model_type} model has {min(unknown).replace('_', ' ')}")
    return {kind: window or 0 if kind == "sliding_attention" else 0 for kind in sorted(set(kinds))}


def longrope_switch(config: Any) -> int | None:
    """The length beyond which a model encodes all positions of a pass otherwise; None where there is none.

    That is longrope (arXiv 2402.13753), which has factors for texts up to the length of its first training, and others
    for longer ones. What was read with the ones is of no use for the others.

    Args:
        config: The text model's configuration.
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
    """What is added to attention scores: for each kind of attention that a model has, where it has several.

    Args:
        windows: See attention_windows.
        positions: Where in their texts tokens are, shape (rows, tokens).
        columns: Where in its text the token of each column is, shape (columns,).
        seen: Which columns a token may look at but for windows, shape (rows, tokens, columns).
        dtype: Of the model.
        lowest: What is added where a token may not look.

    Returns:
        A mask of shape (rows, 1, tokens, columns), or such masks by kind of attention.
    """
    masks = {}
    for kind, window in windows.items():
        near = seen & (columns > positions.unsqueeze(-1) - window) if window else seen
        zeros = near.new_zeros(near.shape, dtype=dtype)
        masks[kind] = zeros.masked_fill_(~near, lowest).unsqueeze(1)
    return masks if len(masks) > 1 else next(iter(masks.values()))
