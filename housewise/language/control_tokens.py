"""Breaks up control strings, such as ``<|im_end|>``, which a server's tokenizer would read as control tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAME = r"/?[\w▁][\w▁.:/-]{0,60}"
_TAGS = (
    r"/?s|(?:bos|eos|bot|eot|eod|eoh|eoa|sop|eop|pad|unk|mask|sep|cls)|(?:BOS|EOS|PAD|UNK|MASK|SEP|CLS)_TOKEN"
    r"|(?:start|end)_of_\w+|fim_\w+|SPECIAL_\d+|(?:extra_id_|reserved_|unused)\d+|seed:(?:bos|eos|pad)"
)
_BRACKETED = (
    r"/?INST|/?SYSTEM_PROMPT|/?AVAILABLE_TOOLS|/?TOOL_(?:CALLS|RESULTS|CONTENT)|/?MODEL_SETTINGS|CALL_ID|ARGS"
    r"|(?:BEGIN|END)_OF_\w+|BOS|EOS|EOT|PAD|UNK|SEP|CLS|[gs]?MASK|IMG\w*"
)
_FIRST = re.compile(
    # <|im_start|>, <｜Assistant｜>, Gemma 4's <|turn> and <turn|>, EXAONE's [|user|], then the lists.
    rf"<(?=[|｜]{_NAME}[|｜]?>|{_NAME}[|｜]>)|\[(?=\|{_NAME}\|\])|<(?=(?:{_TAGS})>)|\[(?=(?:{_BRACKETED})\])",
)


CONTROL_STRING = re.compile(
    rf"<[|｜]{_NAME}[|｜]?>|<{_NAME}[|｜]>|\[\|{_NAME}\|\]|<(?:{_TAGS})>|\[(?:{_BRACKETED})\]",
)
"""A whole control string."""


def break_control_strings(text: str) -> str:
    """Put a space behind the first character of every control string: ``< |im_end|>``.

    A server makes one text of its chat template and what is sent, and its tokenizer cannot be asked to read part of
    that as plain text. With a visible space a model still reads what was written; an invisible character might be
    dropped by a normalizer on the way.

    Marks of the forms ``<|...|>``, ``<｜...｜>`` and ``[|...|]`` are broken up whatever their name, others by lists of
    what published models use. Tags of thoughts such as ``<think>`` stay as they are: prompts may ask for them, and they
    end nobody's turn.
    """
    return _FIRST.sub(lambda found: f"{found[0]} ", text)


def break_turns(turns: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Break up the control strings in the contents of turns, whatever their roles.

    Every prompt may hold untrusted text. Control strings that a user wrote into a prompt file are broken up as well:
    the server's chat template writes those that count.

    Args:
        turns: With ``role`` and ``content``.

    Returns:
        Turns with the same contents where they have no control string.
    """
    return [{**turn, "content": break_control_strings(turn["content"])} for turn in turns]
