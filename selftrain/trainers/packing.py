"""Several conversations in one row, what they have in common read only once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from housewise.language.local.token_tree import TokenTree
from housewise.selftrain.trainers.examples import IGNORED


def common_prefix_length(rows: Sequence[Sequence[int]]) -> int:
    """How many tokens all rows begin with."""
    length = 0
    for column in zip(*rows, strict=False):
        if len(set(column)) > 1:
            break
        length += 1
    return length


def group_sizes(conversations: Iterable[Sequence[int]], most: int) -> list[int]:
    """How many conversations that follow each other go into each row.

    Args:
        conversations: as tokens.
        most: in a row. Each has half of itself, or of the one before it, in common with that one.
    """
    sizes: list[int] = []
    before: Sequence[int] = ()
    for tokens in conversations:
        alike = 2 * common_prefix_length([before, tokens]) >= max(min(len(before), len(tokens)), 1)
        if sizes and alike and sizes[-1] < most:
            sizes[-1] += 1
        else:
            sizes.append(1)
        before = tokens
    return sizes


def shared_row(examples: Sequence[dict[str, list[int]]]) -> dict[str, Any]:
    """Put examples into one row as a tree, so that what several of them begin with is read once.

    Every token attends to those before it in its own example, and has the position that it has there: the loss and its
    gradient are those of the examples read one by one.

    Args:
        examples: each with ``input_ids`` and ``labels`` of one length; labels are -100 for the prompt and
            whatever else is not learned.

    Returns:
        What a causal model takes: ``input_ids``, ``position_ids`` (1, T), and where the tree has branches
        ``attention_mask`` (1, 1, T, T); ``labels`` (1, 1 + n), the tokens that are learned behind a -100, example by
        example; and ``places`` (n), where in the row each is foretold.
    """
    tree = TokenTree.of([], [example["input_ids"] for example in examples])
    learned = [
        (path[index], label)
        for path, example in zip(tree.paths, examples, strict=True)
        for index, label in enumerate(example["labels"])
        if index and label != IGNORED
    ]
    row = {
        "input_ids": torch.tensor([tree.tokens]),
        "position_ids": torch.tensor([tree.depths]),
        "labels": torch.tensor([[IGNORED, *(label for _, label in learned)]]),
        "places": torch.tensor([place for place, _ in learned]),
    }
    if any(parent != max(node - 1, 0) for node, parent in enumerate(tree.parents)):
        row["attention_mask"] = torch.from_numpy(tree.seen())[None, None]
    return row
