"""Writes grammars in GBNF, the notation that llama.cpp, vLLM, SGLang and llguidance all read.

A grammar here is a text of rules of which ``reply`` says what a reply may be; :func:`rooted` makes it complete.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

GrammarDialect = Literal["vllm", "vllm-guided", "llama.cpp", "sglang"]
"""The kinds of servers that take grammars, each in a field of its own; vllm-guided is vLLM before 0.12."""

REPLY = "reply"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def literal(text: str) -> str:
    """A text that has to be written just so."""
    return f'"{text.translate(_ESCAPES)}"'


def one_of(choices: Iterable[str]) -> str:
    """One of several expressions."""
    return f"({' | '.join(choices)})"


def rule(name: str, expression: str) -> str:
    """A rule; its name may hold letters, digits and hyphens."""
    return f"{name} ::= {expression}"


def complete_grammar(grammar: str, prefix: str = "") -> str:
    """A whole grammar.

    Args:
        grammar: rules, with one for ``reply``.
        prefix: text that comes before the reply.
    """
    return f"{rule('root', f'{literal(prefix)} {REPLY}' if prefix else REPLY)}\n{grammar}"
