"""Several texts behind one prompt as a tree of tokens, which a model reads in one pass.

What texts begin with in common is one branch. A token sees its own branch alone (tree attention, arXiv 2305.09781).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class TokenTree:
    """Tokens, each behind its parent.

    Attributes:
        tokens: of the nodes, parents first, beginning with the trunk.
        parents: of the nodes, as indices; a root is its own.
        paths: for every token of every text the node that it follows; -1 for none.
        trunk: how many nodes are the end of the prompt.
    """

    tokens: list[int]
    parents: list[int]
    paths: list[list[int]]
    trunk: int

    @classmethod
    def of(cls, trunk: Sequence[int], texts: Sequence[Sequence[int]]) -> TokenTree:
        """The tree of some texts behind the end of a prompt, or without one, but for ends that nothing follows."""
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
        """How far below a root nodes are."""
        depths: list[int] = []
        for node, parent in enumerate(self.parents):
            depths.append(0 if parent == node else depths[parent] + 1)
        return depths

    def seen(self) -> npt.NDArray[np.bool_]:
        """Whether a node (row) sees another (column): itself and those above it."""
        seen = np.eye(len(self.tokens), dtype=bool)
        for node, parent in enumerate(self.parents):
            seen[node] |= seen[parent]
        return seen
