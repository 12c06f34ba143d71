"""Matches texts against grammars with llguidance.

llguidance is an optional dependency and imported when it is needed.
"""

from __future__ import annotations

import importlib.util
from typing import Any, Literal

from housewise.core.printable_text import excerpt
from housewise.language.base import ChatModelError
from housewise.language.gbnf import complete_grammar

INSTALL = "pip install 'housewise[grounded]'"


def matches_grammar(text: str, grammar: str, prefix: str = "") -> bool:
    """Whether a text is a reply that a grammar allows, or the beginning of one.

    Args:
        text: Any text.
        grammar: Rules; see ``language.gbnf``.
        prefix: Text that the grammar has before the reply.

    Raises:
        ChatModelError: If llguidance is missing, or the rules are not a grammar.
    """
    written = list(text.encode(errors="replace"))
    return bool(_byte_matcher(grammar, prefix).validate_tokens(written) == len(written))


def accepts_empty_reply(grammar: str, prefix: str = "") -> bool:
    """Whether a grammar allows an empty reply; see ``matches_grammar``."""
    made = _byte_matcher(grammar, prefix)
    return bool(not prefix or made.consume_tokens(list(prefix.encode()))) and bool(made.is_accepting())


def _byte_matcher(grammar: str, prefix: str) -> Any:
    """Return a matcher whose tokens are bytes."""
    require_llguidance()
    from llguidance import LLTokenizer

    return compile_matcher(LLTokenizer("byte"), complete_grammar(grammar, prefix))


def compile_matcher(tokenizer: Any, grammar: str, notation: Literal["gbnf", "json_schema"] = "gbnf") -> Any:
    """Compile a complete grammar to a matcher of llguidance.

    Args:
        tokenizer: Tokenizer of llguidance.
        grammar: See ``gbnf.complete_grammar``; or a JSON schema.
        notation: Notation of the grammar.

    Raises:
        ChatModelError: If the text is not a grammar or not a schema that llguidance supports, or it is too large.
    """
    from llguidance import LLMatcher, grammar_from

    try:
        made = LLMatcher(tokenizer, grammar_from(notation, grammar), log_level=0)
    except ValueError as error:
        raise ChatModelError(f"not a grammar in GBNF ({excerpt(error)})") from error
    if made.is_error():
        if notation == "json_schema":
            raise ChatModelError(f"the JSON schema of the reply cannot be followed ({excerpt(made.get_error())})")
        raise matcher_error(made)
    return made


def matcher_error(matcher: Any) -> ChatModelError:
    """Return the error of a matcher that cannot continue."""
    return ChatModelError(f"the grammar cannot be followed ({excerpt(matcher.get_error())}); leave grounded out")


def has_llguidance() -> bool:
    """Whether llguidance is installed."""
    return importlib.util.find_spec("llguidance") is not None


def require_llguidance() -> None:
    """Check that llguidance is installed.

    Raises:
        ChatModelError: If it is not.
    """
    try:
        import llguidance  # noqa: F401
    except ImportError:
        raise ChatModelError(f"grounded replies need llguidance, which is not installed; run {INSTALL}") from None
