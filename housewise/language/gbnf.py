"""Writes grammars in GBNF, the notation of llama.cpp, vLLM, SGLang and llguidance.

A grammar in this package is a text of rules in which ``reply`` defines a valid reply; ``complete_grammar`` adds the
root.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

GrammarDialect = Literal["vllm", "vllm-guided", "llama.cpp", "sglang"]
"""Kinds of servers that accept grammars, each in its own field of a request. ``vllm-guided`` is vLLM before 0.12."""

REPLY = "reply"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def literal(text: str) -> str:
    """Return an expression for a literal text."""
    return f'"{text.translate(_ESCAPES)}"'


def one_of(choices: Iterable[str]) -> str:
    """Return an expression for one of several expressions."""
    return f"({' | '.join(choices)})"


def rule(name: str, expression: str) -> str:
    """Return a rule; its name may contain letters, digits and hyphens."""
    return f"{name} ::= {expression}"


def complete_grammar(grammar: str, prefix: str = "") -> str:
    """Return a grammar with a root rule.

    Args:
        grammar: Rules that define ``reply``.
        prefix: Text that precedes the reply.
    """
    return f"{rule('root', f'{literal(prefix)} {REPLY}' if prefix else REPLY)}\n{grammar}"
