"""Holds a model's replies to a grammar, token by token, with llguidance.

What a reply may not say next gets the probability 0 and the rest is scaled up. That is not quite how the model would
answer among the allowed replies, since it cannot see ahead (Park et al. 2024, grammar-aligned decoding).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from housewise.language.base import ChatModelError
from housewise.language.gbnf import complete_grammar
from housewise.language.grammar_matching import compile_matcher, matcher_error, one_line, require_llguidance
from housewise.language.local.encoding import tokenizer_json_without_controls


class GrammarConstraint:
    """How far one reply has come in its grammar.

    Args:
        matcher: llguidance's.
    """

    def __init__(self, matcher: Any) -> None:
        self._matcher = compile_matcher

    def __deepcopy__(self, _: dict[int, Any]) -> GrammarConstraint:
        return GrammarConstraint(self._matcher.deep_copy())

    def take(self, token: int) -> None:
        """Go on by a token that is allowed.

        Raises:
            ChatModelError: when the token is not allowed, or the grammar is too large.
        """
        if not self._matcher.consume_token(token):
            raise matcher_error(self._matcher)

    def forced(self) -> list[int]:
        """Go on by what can only follow.

        Returns:
            The tokens, none where there is a choice.
        """
        tokens: list[int] = self._matcher.compute_ff_tokens()
        for token in tokens:
            self.take(token)
        return tokens

    def allowed(self, width: int) -> np.ndarray:
        """Whether each of so many tokens may come next; what ends a turn is allowed where the grammar may end."""
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        if self._matcher.is_error():
            raise matcher_error(self._matcher)
        return np.unpackbits(bits, count=width, bitorder="little").astype(bool)


class GrammarCompiler:
    """Reads grammars for one tokenizer.

    Args:
        tokenizer: a fast tokenizer of transformers.
        width: how many tokens the model tells apart.
        ends: tokens that end a turn.

    Raises:
        ChatModelError: when llguidance is missing or cannot work with the tokenizer.
    """

    def __init__(self, tokenizer: Any, width: int, ends: Iterable[int]) -> None:
        require_llguidance()
        from llguidance import LLTokenizer

        try:
            # What can only follow is encoded there, and may have the name of something with a control string in it.
            serialized = tokenizer_json_without_controls(tokenizer)
            self._tokenizer = LLTokenizer(serialized, n_vocab=width, eos_token=sorted(ends))
        except Exception as error:  # what Rust reports has no class of its own
            raise ChatModelError(
                f"the model's tokenizer cannot be held to a grammar ({one_line(error)}); leave grounded out"
            ) from error

    def constraint(self, grammar: str) -> GrammarConstraint:
        """Start a reply.

        Args:
            grammar: rules; see housewise.language.gbnf.

        Raises:
            ChatModelError: when they are no grammar.
        """
        return GrammarConstraint(compile_matcher(self._tokenizer, complete_grammar(grammar)))


def allowed_tokens(constraints: Sequence[GrammarConstraint | None], width: int) -> np.ndarray | None:
    """What may come next in every row: (rows, width); None where nothing is constrained."""
    if not any(constraints):
        return None
    free = np.ones(width, dtype=bool)
    return np.stack([part.allowed(width) if part else free for part in constraints])
