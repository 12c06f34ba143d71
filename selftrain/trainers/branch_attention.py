"""Attention of a row that is a tree of tokens, branch by branch: no mask for all pairs of its tokens is needed.

The trunk of the tree is computed by the kernels for causal attention. A branch reads the keys before it, with a mask of
its own tokens alone. Import this module only where torch and transformers are installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

ATTENTION = "housewise_branches"
"""Name of the attention in a model's configuration. It takes no masks, so that transformers makes none."""


@dataclass(frozen=True)
class Branch:
    """Successive tokens of a row, each of which follows the one before it.

    Attributes:
        start, end: The tokens in the row.
        columns: Index of the tokens that the branch attends to, its own last; None for its own alone.
        mask: Is added to the scores (1, 1, tokens, columns); None where all earlier tokens are read.
    """

    start: int
    end: int
    columns: Any = None
    mask: Any = None


def split_branches(parents: Sequence[int], device: Any, dtype: torch.dtype) -> list[Branch]:
    """Split a tree of tokens into branches.

    Args:
        parents: See TokenTree.parents.
        device: Device of the masks.
        dtype: Data type of the model.
    """
    starts = [node for node, parent in enumerate(parents) if node == 0 or parent != node - 1]
    branches = []
    for start, end in zip(starts, [*starts[1:], len(parents)], strict=True):
        node, ancestors = start, []
        while parents[node] != node:
            node = parents[node]
            ancestors.append(node)
        if not ancestors:
            branches.append(Branch(start, end))
            continue
        columns = torch.tensor([*reversed(ancestors), *range(start, end)], device=device)
        own = torch.full((end - start, len(columns)), torch.finfo(dtype).min, device=device, dtype=dtype)
        branches.append(Branch(start, end, columns, own.triu_(len(ancestors) + 1)[None, None]))
    return branches


def enable_branches(network: Any) -> None:
    """Let a model with plain attention take the argument ``branches``."""
    AttentionInterface.register(ATTENTION, branch_attention)
    network.set_attn_implementation(ATTENTION)


def branch_attention(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, branches: Sequence[Branch] = (), **kwargs: Any
) -> tuple[Any, None]:
    """Attention as transformers calls it; ordinary causal attention without branches."""
    if not branches:
        return sdpa_attention_forward(  # type: ignore[no-any-return]
            module, query, key, value, attention_mask, **kwargs
        )
    parts = []
    for branch in branches:
        own = slice(branch.start, branch.end)
        if branch.columns is None:
            keys, values, mask = key[:, :, own], value[:, :, own], None
        else:
            # Layers may be on several devices.
            columns, mask = branch.columns.to(key.device), branch.mask.to(key.device)
            keys, values = key.index_select(2, columns), value.index_select(2, columns)
        parts.append(sdpa_attention_forward(module, query[:, :, own], keys, values, mask, **kwargs)[0])
    return torch.cat(parts, dim=1), None
