"""Several texts after one prompt as a tree of tokens, which a model reads in one pass.

A common beginning of texts is one branch. A token attends only to its own branch (tree attention, arXiv 2305.09781).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class TokenTree:
    """Tokens, each with a parent.

    Attributes:
        tokens: Tokens of the nodes, parents first, beginning with the trunk.
        parents: Index of each node's parent; a root is its own parent.
        paths: For every token of every text the node that it follows; -1 for none.
        trunk: Number of nodes that are the end of the prompt.
    """

    tokens: list[int]
    parents: list[int]
    paths: list[list[int]]
    trunk: int

    @classmethod
    def from_texts(cls, trunk: Sequence[int], texts: Sequence[Sequence[int]]) -> TokenTree:
        """Build the tree of texts after the end of a prompt; last tokens are left out, since nothing follows them."""
        tokens, parents, paths = list(trunk), [max(node - 1, 0) for node in range(len(trunk))], []
        nodes: dict[tuple[int, int], int] = {}
        for text in texts:
            path = [len(trunk) - 1]
            for token in text[:-1]:
                branch = path[-1], token
                if branch not in nodes:
                    nodes[branch] = len(tokens)
                    parents.append(path[-1] if path[-1] >= 0 else len(tokens))
                    tokens.append(token)
                path.append(nodes[branch])
            paths.append(path[: len(text)])
        return cls(tokens, parents, paths, len(trunk))

    @property
    def depths(self) -> list[int]:
        """Distance of each node from its root."""
        depths: list[int] = []
        for node, parent in enumerate(self.parents):
            depths.append(0 if parent == node else depths[parent] + 1)
        return depths


def tree_visibility(parents: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Return whether a node (row) of a tree attends to another (column): to itself and its ancestors.

    Args:
        parents: See TokenTree.parents.
    """
    seen = np.eye(len(parents), dtype=bool)
    for node, parent in enumerate(parents):
        seen[node] |= seen[parent]
    return seen


def common_prefix_length(one: Sequence[int], *others: Sequence[int]) -> int:
    """Return the length of the common prefix of some sequences of one type."""
    low, high = 0, min(map(len, (one, *others)))
    while low < high:
        middle = (low + high + 1) // 2
        if all(one[low:middle] == other[low:middle] for other in others):
            low = middle
        else:
            high = middle - 1
    return low
