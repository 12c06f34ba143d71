"""Restricts a model's replies to a grammar, token by token, with llguidance.

Tokens that the grammar forbids get probability 0 and the others are scaled up. This is not the model's own distribution
over the allowed replies, since it does not look ahead (Park et al. 2024, grammar-aligned decoding).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from housewise.core.printable_text import excerpt
from housewise.language.base import ChatModelError
from housewise.language.gbnf import complete_grammar
from housewise.language.grammar_matching import compile_matcher, matcher_error, require_llguidance
from housewise.language.local.encoding import tokenizer_json_without_controls


class GrammarConstraint:
    """The state of one reply in its grammar.

    Args:
        matcher: Matcher of llguidance.
    """

    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher

    def __deepcopy__(self, _: dict[int, Any]) -> GrammarConstraint:
        return GrammarConstraint(self._matcher.deep_copy())

    def take(self, token: int) -> None:
        """Advance by an allowed token.

        Raises:
            ChatModelError: If the token is not allowed, or the grammar is too large.
        """
        if not self._matcher.consume_token(token):
            raise matcher_error(self._matcher)

    def take_forced_tokens(self) -> list[int]:
        """Advance by the tokens that are the only continuation.

        Returns:
            The tokens; none if there is a choice.
        """
        tokens: list[int] = self._matcher.compute_ff_tokens()
        for token in tokens:
            self.take(token)
        return tokens

    def allowed_mask(self, width: int) -> np.ndarray:
        """Return whether each token may come next, shape (width,).

        Tokens that end a turn are allowed where the grammar may end.
        """
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        if self._matcher.is_error():
            raise matcher_error(self._matcher)
        return np.unpackbits(bits, count=width, bitorder="little").astype(bool)


class GrammarCompiler:
    """Compiles grammars for one tokenizer.

    Args:
        tokenizer: A fast tokenizer of transformers.
        width: Size of the model's output vocabulary.
        ends: Ids of tokens that end a turn.

    Raises:
        ChatModelError: If llguidance is missing or cannot use the tokenizer.
    """

    def __init__(self, tokenizer: Any, width: int, ends: Iterable[int]) -> None:
        require_llguidance()
        from llguidance import LLTokenizer

        try:
            # Forced tokens are encoded with this tokenizer, and names in a grammar may contain control strings.
            serialized = tokenizer_json_without_controls(tokenizer)
            self._tokenizer = LLTokenizer(serialized, n_vocab=width, eos_token=sorted(ends))
        except Exception as error:  # errors of the Rust library have no class of their own
            raise ChatModelError(
                f"the model's tokenizer cannot be held to a grammar ({excerpt(error)}); leave grounded out"
            ) from error

    def constraint(self, grammar: str) -> GrammarConstraint:
        """Start a reply.

        Args:
            grammar: Rules; see ``language.gbnf``.

        Raises:
            ChatModelError: If the rules are not a grammar.
        """
        return GrammarConstraint(compile_matcher(self._tokenizer, complete_grammar(grammar)))

    def json_constraint(self, schema: str) -> GrammarConstraint:
        """Start a reply in JSON on one line.

        Args:
            schema: JSON schema, as text.

        Raises:
            ChatModelError: If the text is not a schema, or llguidance does not support it.
        """
        try:
            # A small model that may write blanks between values does not stop writing them.
            compact = json.dumps({**json.loads(schema), "x-guidance": {"whitespace_flexible": False}})
        except (ValueError, TypeError) as error:
            raise ChatModelError(f"not a JSON schema with keys and values ({excerpt(error)})") from error
        return GrammarConstraint(compile_matcher(self._tokenizer, compact, "json_schema"))


def allowed_tokens(constraints: Sequence[GrammarConstraint | None], width: int) -> np.ndarray | None:
    """Return which tokens may come next in every row, shape (rows, width); None without constraints."""
    if not any(constraints):
        return None
    free = np.ones(width, dtype=bool)
    return np.stack([part.allowed_mask(width) if part else free for part in constraints])
