"""Trees of texts: every token is behind its own text's beginning, and what texts share is there once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from housewise.language.local.token_tree import TokenTree, tree_visibility

TEXTS = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=6), max_size=8)
TRUNKS = st.lists(st.integers(1, 3), max_size=3)


@given(TRUNKS, TEXTS)
def test_a_node_sees_what_is_above_it_in_its_own_text(trunk: list[int], texts: list[list[int]]) -> None:
    tree = TokenTree.from_texts(trunk, texts)
    seen, depths = tree_visibility(tree.parents), tree.depths
    for text, path in zip(texts, tree.paths, strict=True):
        assert len(path) == len(text)
        for length, node in enumerate(path):
            if node < 0:
                assert not trunk and not length, "what nothing is before"
                continue
            above = np.flatnonzero(seen[node])
            assert [tree.tokens[each] for each in above] == [*trunk, *text[:length]]
            assert [depths[each] for each in above] == list(range(len(trunk) + length))


@given(TRUNKS, TEXTS)
def test_every_beginning_is_there_once(trunk: list[int], texts: list[list[int]]) -> None:
    beginnings = {tuple(text[:length]) for text in texts for length in range(1, len(text))}
    tree = TokenTree.from_texts(trunk, texts)
    assert len(tree.tokens) == len(trunk) + len(beginnings)
    assert tree.tokens[: tree.trunk] == trunk
