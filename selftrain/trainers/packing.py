"""Packs several conversations into one row, in which a common beginning is read only once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from typing import Any

import torch

from housewise.language.local.token_tree import TokenTree, common_prefix_length
from housewise.selftrain.trainers.tokenization import IGNORED, learned_length, row_length


def group_sizes(conversations: Iterable[Sequence[int]], most: int) -> list[int]:
    """Return how many consecutive conversations go into each row.

    Conversations share a row where each has at least half of its tokens, or of those of the one before it, in common
    with the one before it.

    Args:
        conversations: Conversations as tokens.
        most: Largest number of conversations in a row.
    """
    sizes: list[int] = []
    before: Sequence[int] = []
    for tokens in conversations:
        alike = 2 * common_prefix_length(before, tokens) >= max(min(len(before), len(tokens)), 1)
        if sizes and alike and sizes[-1] < most:
            sizes[-1] += 1
        else:
            sizes.append(1)
        before = tokens
    return sizes


def row_lengths(rows: Sequence[dict[str, list[int]]], name: str, most: int) -> list[tuple[int, int]]:
    """Return how many tokens each row of several examples reads, and how many of them it learns.

    Args:
        rows: Examples as tokens, in order.
        name: Name of the list of tokens that is compared; see group_sizes.
        most: Largest number of examples in a row.
    """
    lengths, left = [], iter(rows)
    for size in group_sizes((row[name] for row in rows), most):
        group = list(islice(left, size))
        shared = sum(common_prefix_length(one[name], other[name]) for one, other in pairwise(group))
        lengths.append((sum(map(row_length, group)) - shared, sum(map(learned_length, group))))
    return lengths


def shared_row(examples: Sequence[dict[str, list[int]]]) -> dict[str, Any]:
    """Pack examples into one row as a tree, so that a common beginning is read once.

    Every token attends to the tokens before it in its own example, and has the position that it has there. The loss and
    its gradient equal those of the examples read one by one.

    Args:
        examples: Each with ``input_ids`` and ``labels`` of equal length; labels are -100 for the prompt and for
            everything else that is not learned.

    Returns:
        Arguments of a causal model: ``input_ids``, ``position_ids`` (1, T). Also ``labels`` (1, 1 + n), a -100 followed
        by the tokens that are learned, example by example; ``places`` (n), the index in the row at which each of them
        is predicted; and where the tree has branches, its ``parents`` (T).
    """
    tree = TokenTree.from_texts([], [example["input_ids"] for example in examples])
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
        row["parents"] = torch.tensor(tree.parents)
    return row
