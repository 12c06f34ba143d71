"""Several conversations in one row, the beginning that they share read only once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

IGNORED = -100


def common_length(rows: Sequence[Sequence[int]]) -> int:
    """How many tokens all rows begin with."""
    length = 0
    for column in zip(*rows, strict=False):
        if len(set(column)) > 1:
            break
        length += 1
    return length


def shared_row(examples: Sequence[dict[str, list[int]]]) -> dict[str, Any]:
    """Put examples behind each other, after what all their prompts begin with.

    Every token attends to the shared beginning and to its own example up to itself, and has the position that it has in
    its own example: the loss and its gradient are those of the examples read one by one.

    Args:
        examples: each with ``input_ids`` and ``labels`` of one length; labels are -100 for the prompt and
            whatever else is not learned.

    Returns:
        What a causal model takes: ``input_ids``, ``labels``, ``position_ids`` (1, T), and for several examples
        ``attention_mask`` (1, 1, T, T).
    """
    prompts = [next(n for n, label in enumerate(example["labels"]) if label != IGNORED) for example in examples]
    # A prompt's last token foretells the first of its reply, and so belongs to one example alone.
    shared = min(common_length([example["input_ids"] for example in examples]), min(prompts) - 1)
    ids, labels = examples[0]["input_ids"][:shared], [IGNORED] * shared
    positions, owners = list(range(shared)), [-1] * shared
    for number, example in enumerate(examples):
        ids = ids + example["input_ids"][shared:]
        labels = labels + example["labels"][shared:]
        positions += range(shared, len(example["input_ids"]))
        owners += [number] * (len(example["input_ids"]) - shared)
    row = {
        name: torch.tensor([values])
        for name, values in (("input_ids", ids), ("labels", labels), ("position_ids", positions))
    }
    if len(examples) > 1:
        owner = torch.tensor(owners)
        row["attention_mask"] = ((owner[:, None] == owner) | (owner == -1)).tril()[None, None]
    return row
