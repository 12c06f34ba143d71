"""Grammars as llguidance reads them: whether a text follows one, and what matches replies to it.

llguidance is an extra, and imported when it is needed.
"""

from __future__ import annotations

from typing import Any

from housewise.language.base import ChatModelError
from housewise.language.gbnf import complete_grammar

INSTALL = "pip install 'housewise[grounded]'"


def matches_grammar(text: str, grammar: str, prefix: str = "") -> bool:
    """Whether a text is the beginning or the whole of what a grammar allows.

    Args:
        text: any text.
        grammar: rules; see housewise.language.gbnf.
        prefix: what the grammar has before the reply.

    Raises:
        ChatModelError: when llguidance is missing, or the rules are no grammar.
    """
    require_llguidance()
    from llguidance import LLTokenizer

    written = text.encode(errors="replace")
    taken: int = compile_matcher(LLTokenizer("byte"), complete_grammar(grammar, prefix)).validate_tokens(list(written))
    return taken == len(written)


def accepts_empty_reply(grammar: str, prefix: str = "") -> bool:
    """Whether a reply without a word follows a grammar; see follows."""
    require_llguidance()
    from llguidance import LLTokenizer

    made = compile_matcher(LLTokenizer("byte"), complete_grammar(grammar, prefix))
    return bool(not prefix or made.consume_tokens(list(prefix.encode()))) and bool(made.is_accepting())


def compile_matcher(tokenizer: Any, grammar: str) -> Any:
    """llguidance's matcher of replies to a whole grammar.

    Args:
        tokenizer: llguidance's.
        grammar: see housewise.language.gbnf.complete_grammar.

    Raises:
        ChatModelError: when it is none, or too large.
    """
    from llguidance import LLMatcher, grammar_from

    try:
        made = LLMatcher(tokenizer, grammar_from("gbnf", grammar), log_level=0)
    except ValueError as error:
        raise ChatModelError(f"not a grammar in GBNF ({one_line(error)})") from error
    if made.is_error():
        raise matcher_error(made)
    return made


def matcher_error(matcher: Any) -> ChatModelError:
    """What is said of a matcher that cannot go on."""
    return ChatModelError(
        f"the grammar cannot be followed ({one_line(compile_matcher.get_error())}); leave grounded out"
    )


def require_llguidance() -> None:
    """See that llguidance is there.

    Raises:
        ChatModelError: when it is not.
    """
    try:
        import llguidance  # noqa: F401
    except ImportError:
        raise ChatModelError(f"grounded replies need llguidance, which is not installed; run {INSTALL}") from None


def one_line(told: object) -> str:
    """What llguidance says, short enough for a message."""
    return " ".join(str(told).split())[:200]
